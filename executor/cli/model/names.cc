// A name is looked up among the tensors of the signature first, and then in the graph.

#include "executor/cli/model/names.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/model.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

std::vector<std::string> NamesOf(const std::vector<SignatureTensor>& tensors) {
  std::vector<std::string> names;
  for (const SignatureTensor& t : tensors) names.push_back(t.name);
  return names;
}

const SignatureTensor* Find(const std::vector<SignatureTensor>& tensors, std::string_view name) {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const SignatureTensor& t) { return t.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

}  // namespace

absl::StatusOr<Output> Names::Resolve(std::string_view flag, std::string_view name,
                                      const std::vector<SignatureTensor>* tensors) const {
  const SignatureTensor* of_signature = tensors == nullptr ? nullptr : Find(*tensors, name);
  const std::string_view tensor = of_signature == nullptr ? name : of_signature->tensor;
  const NodeId n = NodeOfOutput(graph_, tensor);
  // First: how many outputs such a node has is not known.
  if (n != kNoNode && graph_.op(n) == nullptr) return UnknownOpError(graph_, n);
  if (flag == "--output" && n != kNoNode && graph_.num_outputs(n) == 0 &&
      graph_.name(n) == absl::StripPrefix(tensor, "^")) {
    return Output{n, kControlPort};  // fetched to be run
  }
  absl::StatusOr<Output> output = graph_.ParseOutput(tensor);
  if (!output.ok()) {
    const std::string known =
        tensors == nullptr
            ? ""
            : absl::StrCat("; signature '", signature_->name, "' has ",
                           tensors->empty() ? "none" : absl::StrJoin(NamesOf(*tensors), ", "));
    return UsageError(absl::StrCat(flag, " '", name, "': ", output.status().message(), known));
  }
  if (!output->is_control() || flag == "--output") return output;
  const int count = graph_.num_outputs(output->node);
  return UsageError(absl::StrCat(flag, " '", name, "': node '", graph_.name(output->node), "' (",
                                 graph_.op_name(output->node), ") has ", count,
                                 count == 1 ? " output" : " outputs"));
}

std::vector<std::string> Names::ResultsWithoutValue() const {
  std::vector<std::string> names;
  if (signature_ == nullptr) return names;
  for (const SignatureTensor& t : signature_->outputs) {
    const absl::StatusOr<Output> output = Result("--output", t.name);
    if (output.ok() && output->is_control()) names.push_back(t.name);
  }
  return names;
}

absl::StatusOr<Output> Names::Argument(std::string_view flag, std::string_view name) const {
  return Resolve(flag, name, signature_ == nullptr ? nullptr : &signature_->inputs);
}

absl::StatusOr<Output> Names::Result(std::string_view flag, std::string_view name) const {
  return Resolve(flag, name, signature_ == nullptr ? nullptr : &signature_->outputs);
}

absl::StatusOr<std::string> Names::Node(std::string_view flag, std::string_view name) const {
  const NodeId n = NodeOfOutput(graph_, name);
  if (n != kNoNode) return std::string(graph_.name(n));
  return UsageError(
      absl::StrCat(flag, " '", name, "': ", graph_.ParseOutput(name).status().message()));
}

std::vector<std::string> Names::Arguments() const {
  if (signature_ != nullptr) return NamesOf(signature_->inputs);
  std::vector<std::string> names;
  for (const NodeId n : Placeholders(graph_)) names.emplace_back(graph_.name(n));
  return names;
}

std::vector<std::string> Names::Results() const {
  return signature_ != nullptr ? NamesOf(signature_->outputs) : GraphOutputs(graph_);
}

std::string Names::NameOf(NodeId placeholder) const {
  if (signature_ != nullptr) {
    for (const SignatureTensor& t : signature_->inputs) {
      const absl::StatusOr<Output> output = graph_.ParseOutput(t.tensor);
      if (output.ok() && output->node == placeholder) return t.name;
    }
  }
  return std::string(graph_.name(placeholder));
}

SpecHint HintFor(const Graph& graph, Output output) {
  if (IsPlaceholder(graph, output.node) || graph.op_name(output.node) == "PlaceholderWithDefault")
    return DeclaredInput(graph, output.node);
  SpecHint hint;
  hint.dtype = BaseType(graph.output_type(output));
  return hint;
}

}  // namespace tenon::cli
