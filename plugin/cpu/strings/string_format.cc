// StringFormat: a template with tensors in place of its placeholders.
#include <string>
#include <vector>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/base/tensor_summary.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Format {
  std::vector<std::string> texts;  // around the tensors: one more than those
  std::vector<std::pair<DataType, Shape>> tensors;
  int64_t summarize;
};

absl::Status RunFormat(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Format*>(state);
  std::string text = s.texts[0];
  for (size_t i = 0; i < s.tensors.size(); ++i) {
    text += FormatTensor(s.tensors[i].first, s.tensors[i].second, args.in[i], s.summarize);
    text += s.texts[i + 1];
  }
  PutString(args.out[0], 0, text);
  return absl::OkStatus();
}

absl::Status PrepareFormat(Prepare& p) {
  auto s = std::make_shared<Format>();
  TENON_ASSIGN_OR_RETURN(std::string_view rest, p.AttrString("template"));
  TENON_ASSIGN_OR_RETURN(const std::string_view hole, p.AttrString("placeholder"));
  TENON_ASSIGN_OR_RETURN(s->summarize, p.AttrInt("summarize"));
  for (size_t at; !hole.empty() && (at = rest.find(hole)) != std::string_view::npos;) {
    s->texts.emplace_back(rest.substr(0, at));
    rest.remove_prefix(at + hole.size());
  }
  s->texts.emplace_back(rest);
  if (static_cast<int>(s->texts.size()) != p.num_inputs() + 1) {
    return p.Invalid("the template must have as many placeholders as there are tensors");
  }
  for (int i = 0; i < p.num_inputs(); ++i)
    s->tensors.emplace_back(p.input_type(i), p.input_shape(i));
  p.set_output_shape(0, Shape());
  p.set_run(&RunFormat, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StringFormatKernels() {
  static const CpuKernelSpec specs[] = {{"StringFormat", {}, PrepareFormat}};
  return specs;
}

}  // namespace tenon::cpu
