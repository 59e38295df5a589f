// Convolutions of any type, and the gradients of their inputs.
#include <memory>
#include <utility>

#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/nn/conv/conv_any_loops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

absl::Status PrepareAny(Prepare& p, AnyConv conv) {
  auto s = std::make_shared<AnyConv>(std::move(conv));
  s->type = p.input_type(s->source());
  for (int i = 0; i < p.num_inputs(); ++i) s->input_types.push_back(p.input_type(i));
  if (s->type == DataType::kHalf || s->type == DataType::kBfloat16) {
    s->widen = FindCastLoop(s->type, DataType::kFloat);
    s->narrow = FindCastLoop(DataType::kFloat, s->type);
  }
  const AnyConvRun found = FindAnyConv(p.workers(), *s);
  p.set_scratch_bytes(found.scratch_bytes);
  p.set_run(found.run, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareAnyConv(Prepare& p, const ConvProblem& problem) {
  return PrepareAny(p, {.q = problem});
}
absl::Status PrepareAnyInputGrad(Prepare& p, const ConvProblem& problem) {
  return PrepareAny(p, {.q = problem, .gradient = true});
}

}  // namespace tenon::cpu
