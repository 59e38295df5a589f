#include "executor/api/eager/execute/plan_call.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/api/eager/cancellation.h"
#include "graph/base/annotate.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_registry.h"
#include "graph/verify/defect.h"

namespace tenon::eager {
namespace {

// The names of the functions that the node may call.
std::vector<std::string> CalledFunctions(const CallNode& node) {
  std::vector<std::string> names;
  for (const std::string_view name : CalledBy(node.def->name, node.attrs)) names.emplace_back(name);
  return names;
}

bool IsFunction(const OpDef& def) { return OpRegistry::Global().Find(def.name) != &def; }

// TensorFlow's message for a function that does not exist.
absl::Status CheckFunctions(const Context& context, const CallNode& node) {
  std::vector<std::string_view> names;
  if (IsFunction(*node.def)) names.push_back(node.def->name);
  for (const Attr& attr : node.attrs.all()) {
    const std::vector<std::string_view> named = FunctionsNamedBy(attr.value);
    names.insert(names.end(), named.begin(), named.end());
  }
  for (const std::string_view name : names) {
    if (context.functions().Find(name) != nullptr) continue;
    return absl::NotFoundError(
        absl::StrCat("Failed to find definition for function \"", name, "\""));
  }
  return absl::OkStatus();
}

struct CallGraph {
  Graph graph;
  std::vector<std::string> feeds, fetches;
};

absl::StatusOr<CallGraph> GraphOf(const Context& context, const CallNode& node,
                                  const std::string& device) {
  CallGraph call;
  const FunctionLibrary::Reached functions = context.functions().Reachable(CalledFunctions(node));
  PutFunctions(call.graph, functions.wires);
  std::vector<Output> inputs;
  for (size_t i = 0; i < node.types.inputs.size(); ++i) {
    call.feeds.push_back(absl::StrCat("input_", i));
    TENON_ASSIGN_OR_RETURN(const NodeId n,
                           call.graph.AddNode(call.feeds.back(), "Placeholder", {},
                                              {{"dtype", attr::Type(node.types.inputs[i])}}));
    inputs.push_back({n, 0});
  }
  TENON_ASSIGN_OR_RETURN(const NodeId n, call.graph.AddNode(node.name, node.def->name, inputs,
                                                            CopyOf(node.attrs.all()), device));
  for (size_t i = 0; i < node.types.outputs.size(); ++i)
    call.fetches.push_back(call.graph.OutputName({n, static_cast<int32_t>(i)}));
  if (call.fetches.empty()) call.fetches.push_back(absl::StrCat("^", node.name));
  const std::vector<Defect> defects =
      functions.are_sound ? VerifyNodes(call.graph) : Verify(call.graph);
  const auto defect =
      std::find_if(defects.begin(), defects.end(), [](const Defect& d) { return !MayBeUnused(d); });
  if (defect != defects.end()) return absl::InvalidArgumentError(defect->message);
  return call;
}

// An error of a plan as TensorFlow's clients see it: the node is not named where it is the call
// itself.
absl::Status OfTheCall(absl::Status noted, std::string_view node) {
  std::string_view words = noted.message();
  if (!absl::ConsumeSuffix(&words, absl::StrCat("\n\t [[{{node ", node, "}}]]"))) return noted;
  return absl::Status(noted.code(), words);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Callable>> PlanCall::Make(Context& context, CallNode node,
                                                         const std::string& device) {
  TENON_RETURN_IF_ERROR(CheckFunctions(context, node));
  TENON_ASSIGN_OR_RETURN(const CallGraph call, GraphOf(context, node, device));
  absl::StatusOr<std::unique_ptr<Executable>> executable =
      Executable::Make(call.graph, call.feeds, call.fetches, context.session_parts());
  if (!executable.ok()) return OfTheCall(AsNoted(executable.status()), node.name);
  context.graph_notes().Note(call.graph, OptimizedGraph(**executable));
  return std::shared_ptr<Callable>(new PlanCall(
      context, node, IsFunction(*node.def) ? node.def->name : "", *std::move(executable)));
}

// With TensorFlow's words, in which nodes have the names that they have in the function.
absl::Status PlanCall::Explained(const absl::Status& status) const {
  return Annotate(OfTheCall(AsNoted(status, absl::StrCat(node_, "/")), node_),
                  function_.empty() ? "" : absl::StrCat("{{function_node ", function_, "}} "));
}

absl::Status PlanCall::Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) {
  if (call.cancellation != nullptr && call.cancellation->cancelled())
    return absl::CancelledError("Function was cancelled before it was started");
  std::vector<Tensor> feeds;
  feeds.reserve(inputs.size());
  for (TFE_TensorHandle* const input : inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor value, ValueOnHost(*input));
    feeds.push_back(std::move(value));
  }
  const RunLimits limits = call.cancellation == nullptr ? RunLimits() : call.cancellation->limits();
  std::optional<RunRecorder> recorder;
  if (notes_.times()) recorder.emplace(/*streams=*/false);
  absl::StatusOr<std::vector<Tensor>> values =
      executable_->Run(feeds, recorder.has_value() ? &*recorder : nullptr, &limits);
  if (recorder.has_value()) notes_.Note(*recorder);
  if (!values.ok()) return Explained(values.status());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = std::move((*values)[i]);
  return absl::OkStatus();
}

}  // namespace tenon::eager
