// The gradients of filters of convolutions for any type.
#include <memory>
#include <utility>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/nn/conv/conv_any_loops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::Status PrepareAnyFilterGrad(Prepare& p, const ConvProblem& problem) {
  auto s = std::make_shared<AnyFilterGrad>(AnyFilterGrad{problem, p.input_type(2)});
  if (HasType(kHalfTypes, s->type)) s->widen = FindCastLoop(s->type, DataType::kFloat);
  const AnyConvRun found = FindAnyFilterGrad(p.workers(), *s);
  p.set_scratch_bytes(found.scratch_bytes);
  p.set_run(found.run, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
