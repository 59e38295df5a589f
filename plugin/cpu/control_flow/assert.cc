// Assert, which fails with its data when the condition does not hold, and Abort and _TenonFail,
// which always do.
#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tensor_summary.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct AssertState {
  int64_t summarize = 3;
  std::vector<std::pair<DataType, Shape>> data;
};

absl::Status RunAssert(const void* state, const StepArgs& args) {
  if (*static_cast<const bool*>(args.in[0])) return absl::OkStatus();
  const auto& s = *static_cast<const AssertState*>(state);
  std::string message = "assertion failed:";
  for (size_t i = 0; i < s.data.size(); ++i) {
    const auto& [type, shape] = s.data[i];
    absl::StrAppend(&message, " [", SummarizeTensor(type, shape, args.in[i + 1], s.summarize), "]");
  }
  return absl::InvalidArgumentError(message);
}

absl::Status PrepareAssert(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("the condition must be a scalar");
  auto s = std::make_shared<AssertState>();
  TENON_ASSIGN_OR_RETURN(s->summarize, p.AttrInt("summarize"));
  for (int i = 1; i < p.num_inputs(); ++i) s->data.emplace_back(p.input_type(i), p.input_shape(i));
  p.set_run(&RunAssert, std::move(s));
  return absl::OkStatus();
}

struct AbortState {
  std::string message;
};

// Ends the run, not the process.
absl::Status RunAbort(const void* state, const StepArgs&) {
  return absl::AbortedError(static_cast<const AbortState*>(state)->message);
}

absl::Status PrepareAbort(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view message, p.AttrString("error_msg"));
  p.set_run(&RunAbort, std::make_shared<AbortState>(AbortState{
                           message.empty() ? "the graph asks to abort" : std::string(message)}));
  return absl::OkStatus();
}

struct FailState {
  absl::Status status;
};

absl::Status RunFail(const void* state, const StepArgs&) {
  return static_cast<const FailState*>(state)->status;
}

absl::Status PrepareFail(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t code, p.AttrInt("code"));
  TENON_ASSIGN_OR_RETURN(const std::string_view message, p.AttrString("message"));
  TENON_ASSIGN_OR_RETURN(const std::string_view node, p.AttrString("node"));
  if (code < 1 || code > static_cast<int64_t>(absl::StatusCode::kUnauthenticated))
    return p.Invalid("the code is none of an error");
  for (int i = 0; i < p.num_outputs(); ++i) p.set_output_shape(i, Shape());
  p.set_run(&RunFail, std::make_shared<FailState>(FailState{NoteNode(
                          absl::Status(static_cast<absl::StatusCode>(code), message), node)}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> AssertKernels() {
  static const CpuKernelSpec specs[] = {
      {"Assert", {}, PrepareAssert, 0, /*stateful=*/true},
      {"Abort", {}, PrepareAbort, 0, /*stateful=*/true},
      {"_TenonFail", {}, PrepareFail, 0, /*stateful=*/true},
  };
  return specs;
}

}  // namespace tenon::cpu
