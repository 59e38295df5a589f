#include "executor/cli/model/whole_model.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/graphs/initializer.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/attr_value.h"
#include "graph/saved_model/saved_objects.h"

namespace tenon::cli {
namespace {

class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph) {}

  // A name of a tensor, of a node, or of neither.
  void Fetch(std::string_view name) {
    const bool is_tensor = absl::StrContains(name, ':') && graph_.ParseOutput(name).ok();
    if (is_tensor) return AddFetch(std::string(name));
    const NodeId node = NodeOfOutput(graph_, name);
    if (node != kNoNode) AddFetch(absl::StrCat("^", graph_.name(node)));
  }
  void Feed(std::string_view name) {
    const absl::StatusOr<Output> output = graph_.ParseOutput(name);
    if (!output.ok()) return;
    if (fed_.insert(*output).second) ends_.feeds.emplace_back(name);
    AddFetch(std::string(name));
  }
  Endpoints Take() { return std::move(ends_); }

 private:
  void AddFetch(std::string name) {
    if (fetched_.insert(name).second) ends_.fetches.push_back(std::move(name));
  }

  const Graph& graph_;
  absl::flat_hash_set<Output> fed_;
  std::set<std::string> fetched_;
  Endpoints ends_;
};

}  // namespace

absl::StatusOr<Endpoints> EndpointsOfWhole(const SavedModel& model, const Graph& graph) {
  const MetaGraph& meta = model.meta();
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> constants,
                         CapturedConstants(meta.objects.bytes));
  Collector ends(graph);
  for (const Signature& signature : meta.signatures) {
    for (const SignatureTensor& argument : signature.inputs) ends.Feed(argument.tensor);
  }
  if (!meta.filename_tensor.empty()) ends.Feed(meta.filename_tensor);
  for (const AssetFile& asset : meta.assets) ends.Feed(asset.tensor);
  for (const Signature& signature : meta.signatures) {
    for (const SignatureTensor& result : signature.outputs) ends.Fetch(result.tensor);
  }
  ends.Fetch(meta.restore_op);
  ends.Fetch(meta.init_op);
  for (const std::string& name : constants) ends.Fetch(absl::StrCat(name, ":0"));
  for (const std::string& name : meta.other_names) ends.Fetch(name);
  // What trains takes Placeholders that are no argument of a signature.
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsPlaceholder(graph, n)) ends.Feed(graph.OutputName({n, 0}));
  }
  return ends.Take();
}

absl::Status KeepCallsOfCaptured(const SavedModel& model, Graph& graph) {
  const MetaGraph& meta = model.meta();
  TENON_ASSIGN_OR_RETURN(const std::vector<CapturedVariable> variables,
                         CapturedVariables(graph, meta.objects.bytes));
  std::set<NodeId> lost;
  for (const CapturedVariable& variable : variables) lost.insert(variable.handle);
  const NodeId restore = NodeOfOutput(graph, meta.restore_op);
  if (restore != kNoNode) {
    for (const NodeId n : NeededBy(graph, restore)) lost.erase(n);
  }
  if (lost.empty()) return absl::OkStatus();
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const auto inputs = graph.data_inputs(n);
    const bool takes = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const Output& input) { return lost.contains(input.node); });
    // A mark of TensorFlow's, which its optimizer heeds and all else ignores.
    if (takes) graph.SetAttr(n, "_grappler_do_not_remove", attr::Bool(true));
  }
  return absl::OkStatus();
}

}  // namespace tenon::cli
