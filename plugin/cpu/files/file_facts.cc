#include "plugin/cpu/files/file_facts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

FileFacts::FileFacts(const Prepare& p) : NodeFacts(p), files(p.session().files()) {}

absl::StatusOr<std::string> TextInput(const StepArgs& args, int i, std::string_view what) {
  const Tensor text = args.run_state->Input(i);
  if (text.num_elements() == 1) return std::string(text.StringAt(0));
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " must be one string, its shape is ", text.shape().ToString()));
}

absl::Status SetTextOutput(const StepArgs& args, std::string_view text) {
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(DataType::kString, Shape()));
  out.SetString(0, text);
  args.run_state->SetOutput(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
