#include "executor/api/session/partition_graphs.h"

#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/compile/request.h"
#include "executor/session/executable.h"
#include "graph/io/io.h"
#include "graph/ir/nodes.h"

namespace tenon::api {
namespace {

// Makes the graph of one device out of a copy of the graph of all.
class Partition {
 public:
  Partition(const Graph& whole, std::string device) : graph_(whole), device_(std::move(device)) {}

  std::string Cut() {
    const int32_t count = graph_.num_node_ids();
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.alive(n)) CutInputs(n);
    }
    for (NodeId n = 0; n < count; ++n) {
      if (graph_.alive(n) && !IsHere(n)) graph_.RemoveNode(n);
    }
    return ExportBinary(graph_);
  }

 private:
  bool IsHere(NodeId n) const { return graph_.device(n) == device_; }

  void CutInputs(NodeId n) {
    std::vector<Output> data(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
    std::vector<Output> control(graph_.control_inputs(n).begin(), graph_.control_inputs(n).end());
    const auto crosses = [&](const Output& from) {
      return graph_.device(from.node) != graph_.device(n);
    };
    for (Output& from : data) {
      if (!crosses(from)) continue;
      if (IsHere(from.node)) Send(from, n);
      if (IsHere(n)) from = Receive(from, n);
    }
    std::erase_if(control, crosses);
    graph_.SetInputs(n, data, control);
  }

  std::vector<Graph::NewAttr> EdgeAttrs(Output from, NodeId to, std::string_view type_attr) const {
    return {{type_attr, attr::Type(BaseType(graph_.output_type(from)))},
            {"tensor_name", attr::String(EdgeName(from))},
            {"send_device", attr::String(graph_.device(from.node))},
            {"send_device_incarnation", attr::Int(1)},
            {"recv_device", attr::String(graph_.device(to))},
            {"client_terminated", attr::Bool(false)}};
  }
  std::string EdgeName(Output from) const {
    return absl::StrCat("edge_", graph_.name(from.node), "_", from.port);
  }

  void Send(Output from, NodeId to) {
    if (!sent_.insert({from.node, from.port, std::string(graph_.device(to))}).second) return;
    const Output inputs[] = {from};
    Add(absl::StrCat("_send_", graph_.name(from.node), "_", from.port), "_Send", inputs,
        EdgeAttrs(from, to, "T"));
  }

  Output Receive(Output from, NodeId to) {
    const std::string name = absl::StrCat("_recv_", graph_.name(from.node), "_", from.port);
    NodeId n = graph_.FindNode(name);
    if (n == kNoNode) n = Add(name, "_Recv", {}, EdgeAttrs(from, to, "tensor_type"));
    return {n, 0};
  }

  NodeId Add(const std::string& name, std::string_view op, std::span<const Output> inputs,
             std::vector<Graph::NewAttr> attrs) {
    return *graph_.AddNode(graph_.UniqueName(name), op, inputs, std::move(attrs), device_);
  }

  Graph graph_;
  const std::string device_;
  std::set<std::tuple<NodeId, int32_t, std::string>> sent_;
};

// A node that is there for its fed output alone reads nothing.
void BecomePlaceholder(Graph& graph, NodeId n) {
  if (IsPlaceholder(graph, n) || graph.num_outputs(n) != 1) return;
  const DataType dtype = BaseType(graph.output_type({n, 0}));
  graph.SetInputs(n, {}, {});
  graph.SetKind(n, "Placeholder", {{"dtype", attr::Type(dtype)}});
}

}  // namespace

std::vector<std::string> PartitionGraphs(const Executable& executable) {
  const Optimized& optimized = executable.optimized();
  Graph whole = *optimized.graph;
  const absl::StatusOr<RunSet> run = FindRunSet(whole, optimized.request);
  if (!run.ok()) return {};
  std::set<std::string> devices;
  for (NodeId n = 0; n < whole.num_node_ids(); ++n) {
    if (!whole.alive(n)) continue;
    if (!run->needed[n]) {
      whole.RemoveNode(n);
      continue;
    }
    if (run->fed_only[n]) BecomePlaceholder(whole, n);
    devices.emplace(whole.device(n));
  }
  std::vector<std::string> graphs;
  for (const std::string& device : devices) graphs.push_back(Partition(whole, device).Cut());
  return graphs;
}

}  // namespace tenon::api
