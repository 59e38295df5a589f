#include "executor/cli/commands/computed_graph.h"

#include <deque>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "executor/proof/graph_runner.h"
#include "executor/state/state_makers.h"
#include "executor/state/variable_use.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

// Bodies that call others twice become twice as many with each level.
constexpr size_t kMostBodies = 10'000;

struct Ends {
  std::vector<std::string> feeds, fetches;
};

std::vector<std::string> TensorsOf(const std::vector<SignatureTensor>& entries) {
  std::vector<std::string> tensors;
  for (const SignatureTensor& entry : entries) tensors.push_back(entry.tensor);
  return tensors;
}

Ends EndsOf(const Model& model) {
  if (model.signature != nullptr)
    return {TensorsOf(model.signature->inputs), TensorsOf(model.signature->outputs)};
  Ends ends;
  for (const NodeId n : Placeholders(model.graph)) ends.feeds.emplace_back(model.graph.name(n));
  ends.fetches = GraphOutputs(model.graph);
  return ends;
}

// Gives an argument of a body the shape that its call gives it, also through the handle of a
// variable. The type of the variable does not matter for the cost.
void DescribeArgument(Graph& body, NodeId arg, const TensorInfo& given) {
  if (arg == kNoNode) return;
  if (given.handle_shape != nullptr) {
    body.BecomeOp(
        arg, "VarHandleOp",
        {{"dtype", attr::Type(DataType::kFloat)}, {"shape", attr::Shape(*given.handle_shape)}});
  } else if (given.shape.known_rank()) {
    body.SetAttr(arg, "shape", attr::Shape(given.shape));
  }
}

// Adds the bodies that a node calls, with the shapes that it gives them. Returns how many it leaves
// out: those of malformed functions and those beyond kMostBodies.
int64_t AddBodies(const Graph& graph, const GraphShapes& shapes, NodeId n,
                  std::deque<Graph>& bodies) {
  int64_t left_out = 0;
  const std::optional<int> first = FirstArgument(graph.facts(n).calls);
  for (const std::string_view name : CalledBy(graph.op_name(n), graph.attrs(n))) {
    const FunctionEntry* function = graph.FindFunction(name);
    if (function == nullptr) continue;  // the op itself is among the names
    ++left_out;
    if (bodies.size() >= kMostBodies) continue;
    absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph, *function);
    if (!body.ok()) continue;
    --left_out;
    for (size_t i = 0; first.has_value() && i < body->args.size(); ++i) {
      const int input = *first + static_cast<int>(i);
      if (input < graph.num_inputs(n))
        DescribeArgument(body->graph, body->args[i], shapes.info(graph.inputs(n)[input]));
    }
    bodies.push_back(std::move(body->graph));
  }
  return left_out;
}

}  // namespace

absl::StatusOr<Graph> ComputedGraph(const Model& model) {
  const Ends ends = EndsOf(model);
  return ComputedGraph(model.graph, ends.feeds, ends.fetches);
}

absl::StatusOr<Graph> ComputedGraph(const Graph& written, const std::vector<std::string>& feeds,
                                    const std::vector<std::string>& fetches) {
  InputSet inputs;
  for (const std::string& feed : feeds) inputs.feeds.emplace_back(feed, Tensor());
  SessionOptions options;
  // Nothing is computed, so no pool of threads is made.
  options.threads = 1;
  TENON_ASSIGN_OR_RETURN(Graph graph,
                         GraphRunner({}, options).WithCallsInlined(written, inputs, fetches));
  const std::vector<bool> needed = NeededBy(graph, NodesOfOutputs(graph, fetches));
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !needed[n]) graph.RemoveNode(n);
  }
  return graph;
}

FlopEstimate EstimateFlopsWithBodies(const Graph& graph, const GraphShapes& shapes) {
  FlopEstimate whole = EstimateFlops(graph, shapes);
  std::deque<Graph> bodies;  // none moves while others are added
  const auto add_bodies = [&](const Graph& caller, const GraphShapes& of_caller) {
    for (NodeId n = 0; n < caller.num_node_ids(); ++n) {
      if (caller.alive(n)) whole.unknown_nodes += AddBodies(caller, of_caller, n, bodies);
    }
  };
  add_bodies(graph, shapes);
  for (size_t i = 0; i < bodies.size(); ++i) {
    const Graph& body = bodies[i];
    const absl::StatusOr<GraphShapes> of_body = GraphShapes::Infer(body);
    if (!of_body.ok()) {
      whole.unknown_nodes += body.num_nodes();
      continue;
    }
    const FlopEstimate estimate = EstimateFlops(body, *of_body);
    whole.flops += estimate.flops;
    whole.assumed |= estimate.assumed;
    whole.unknown_nodes += estimate.unknown_nodes;
    add_bodies(body, *of_body);
  }
  return whole;
}

VariableSummary SummarizeVariables(const Model& model) {
  VariableSummary summary;
  if (!model.saved.has_value()) return summary;
  const Graph& graph = model.graph;
  std::vector<std::string> results;
  for (const Signature& signature : model.saved->meta().signatures) {
    for (const SignatureTensor& t : signature.outputs) results.push_back(t.tensor);
  }
  const std::vector<NodeId> all = NodesOfOutputs(graph, results);
  VariableUse use = UseOfVariables(
      graph, model.signature != nullptr ? NodesOfOutputs(graph, TensorsOf(model.signature->outputs))
                                        : all);
  use.read_only.insert(use.read_only.end(), use.changed.begin(), use.changed.end());
  const std::vector<NodeId> changed = UseOfVariables(graph, all).changed;
  const absl::flat_hash_set<NodeId> is_changed(changed.begin(), changed.end());
  absl::flat_hash_set<std::string> counted;
  for (const NodeId n : use.read_only) {
    // Several nodes may stand for one variable.
    if (!counted.insert(IdentityOf(ReachedInGraph(graph, n))).second) continue;
    ++summary.count;
    if (is_changed.contains(n)) summary.changed.emplace_back(graph.name(n));
    const AttrValue *shape = graph.attr(n, "shape"), *dtype = graph.attr(n, "dtype");
    if (shape == nullptr || dtype == nullptr) continue;
    const std::optional<Shape> known = shape->AsShape().value_or(PartialShape()).ToShape();
    if (!known) continue;
    summary.parameters += known->num_elements();
    summary.bytes +=
        known->num_elements() *
        static_cast<int64_t>(DataTypeSize(dtype->AsType().value_or(DataType::kInvalid)));
  }
  return summary;
}

}  // namespace tenon::cli
