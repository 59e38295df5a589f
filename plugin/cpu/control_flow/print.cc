// What a run says: Print and PrintV2.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tensor_summary.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/log_listeners.h"

namespace tenon::cpu {
namespace {

std::string Summary(const Tensor& t, int64_t most) {
  return absl::StrCat("[", SummarizeTensor(t.dtype(), t.shape(), t.data(), most), "]");
}

// How often a node has printed; all runs count.
class PrintCount : public NodeState {
 public:
  bool MayPrint(int64_t first_n) { return first_n < 0 || count_.fetch_add(1) < first_n; }

 private:
  std::atomic<int64_t> count_{0};
};

struct SayState : NodeFacts {
  explicit SayState(const Prepare& p) : NodeFacts(p) {}
  std::string message;  // of Print; what ends a line of PrintV2
  int64_t first_n = -1, summarize = 3;
  std::shared_ptr<PrintCount> count;
  std::FILE* stream = stderr;
};

// Input 0 goes on as it is.
absl::Status RunPrint(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SayState*>(state);
  if (!s.count->MayPrint(s.first_n)) return absl::OkStatus();
  std::string text = s.message;
  for (size_t i = 1; i < s.inputs.size(); ++i)
    text += Summary(args.run_state->Input(static_cast<int>(i)), s.summarize);
  text += '\n';
  // One call for the whole text, so that lines of runs at the same time do not mix.
  std::fwrite(text.data(), 1, text.size(), stderr);
  return absl::OkStatus();
}

absl::Status RunForward(const void* state, const StepArgs& args) {
  TENON_RETURN_IF_ERROR(RunPrint(state, args));
  TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(0));
  args.run_state->SetOutput(0, std::move(value));
  return absl::OkStatus();
}

absl::Status PreparePrint(Prepare& p) {
  auto s = std::make_shared<SayState>(p);
  TENON_ASSIGN_OR_RETURN(s->message, p.AttrString("message"));
  TENON_ASSIGN_OR_RETURN(s->first_n, p.AttrInt("first_n"));
  TENON_ASSIGN_OR_RETURN(s->summarize, p.AttrInt("summarize"));
  s->count = std::static_pointer_cast<PrintCount>(p.session().GetNodeState(
      absl::StrCat(p.node_name(), "\nprinted"), [] { return std::make_shared<PrintCount>(); }));
  p.set_dynamic_output(0);
  p.set_run(&RunForward, std::move(s));
  return absl::OkStatus();
}

absl::Status RunPrintV2(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SayState*>(state);
  const Tensor text = args.run_state->Input(0);
  if (text.shape().rank() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text must be a scalar, its shape is ", text.shape().ToString()));
  }
  const std::string line = absl::StrCat(text.StringAt(0), s.message);
  if (TellLogListeners(line)) return absl::OkStatus();
  std::fwrite(line.data(), 1, line.size(), s.stream);
  std::fflush(s.stream);
  return absl::OkStatus();
}

absl::Status PreparePrintV2(Prepare& p) {
  auto s = std::make_shared<SayState>(p);
  TENON_ASSIGN_OR_RETURN(s->message, p.AttrString("end"));
  TENON_ASSIGN_OR_RETURN(const std::string_view stream, p.AttrString("output_stream"));
  if (stream == "stdout") {
    s->stream = stdout;
  } else if (stream.starts_with("file://")) {
    return p.Unimplemented(absl::StrCat("PrintV2 does not write to files: ", stream));
  } else if (stream != "stderr" && !stream.starts_with("log(")) {
    // "log(info)" and its like are allowed: levels are not told apart, all go to stderr.
    return p.Invalid(absl::StrCat("'output_stream' cannot be '", stream, "'"));
  }
  p.set_run(&RunPrintV2, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> PrintKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("Print", PreparePrint),
      WholeTensorKernel("PrintV2", PreparePrintV2),
  };
  return specs;
}

}  // namespace tenon::cpu
