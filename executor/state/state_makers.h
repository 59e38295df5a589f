// Finds the nodes of a graph that make what a session keeps from run to run: variables, tables,
// queues. Searches also the functions that the graph calls.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/kernels/variable.h"

namespace tenon {

// A node that a search has reached: a node of the graph, or a node in the body of a function. The
// views point into the graph and into `body`, which copies share. A copy is valid while the graph
// lives; that of a node of the graph, while the node stays as it is.
struct ReachedNode {
  NodeId node = kNoNode;      // the node of the graph; kNoNode for a node in a body
  std::string_view function;  // the function of the body; empty for a node of the graph
  std::shared_ptr<const FunctionBody> body;  // the whole body; null for a node of the graph
  std::string_view name, op_name, device;
  const OpDef* op = nullptr;  // null: the op is not registered
  // As the body writes them; only for a node in a body.
  absl::Span<const std::string_view> body_inputs;
  AttrSet attrs;

  bool in_function() const { return body != nullptr; }
  const OpFacts& facts() const { return FactsOfOp(op); }
  std::string_view TextAttr(std::string_view name) const;  // empty if the node has no such string
  std::string ToString() const;  // "node 'x' (Op)", "node 'x' (Op) of function 'f'"
};

// n must be alive.
ReachedNode ReachedInGraph(const Graph& graph, NodeId n);

// By node id: whether the node is a root or a root needs it, by data or control. Roots that are
// kNoNode are skipped. Looks into no functions.
std::vector<bool> NeededBy(const Graph& graph, absl::Span<const NodeId> roots);

// Calls `visit` for the roots and all nodes that they need, in the order of their ids, then for all
// nodes of each function that these call directly or through other functions. Each function is
// visited once, however many nodes call it; the order of functions is not defined. Roots that are
// kNoNode are skipped. `visit` may keep copies of the nodes.
void VisitReached(const Graph& graph, absl::Span<const NodeId> roots,
                  absl::FunctionRef<void(const ReachedNode&)> visit);

// Whether the node makes or looks up a resource that may outlive a run: its op has the attribute
// `shared_name`, or makes a resource without a name.
bool MakesState(const ReachedNode& node);
bool IsTable(const OpFacts& op);  // a table of any kind

// The key under which a session keeps the variable that a node makes.
VariableName NameOfVariable(const ReachedNode& maker);

// A text that is equal for two nodes of one graph or its functions if they stand for the same
// resource of a session. Variables, tables and all other resources may share container and name,
// and have texts of their own. A node without a `shared_name` goes by its own name, but for
// VarHandleOp, whose variable then has the empty name. The text equals no other node's if the node
// makes a resource without a name, or goes by its own name in the body of a function, since each
// call gives it another.
std::string IdentityOf(const ReachedNode& maker);

// Adds a node to `graph` that finds, by its shared name, the resource that `maker` makes in the
// body of a function. Constants that `maker` takes are added too. Returns the new node.
// UNIMPLEMENTED if `maker` shares no name, is of an unknown op, lacks an input, takes one that is
// no constant, or has attributes that depend on the call. Other errors are those of Graph::AddNode.
// After an error some constants may have been added.
absl::StatusOr<NodeId> AddCopyOf(Graph& graph, const ReachedNode& maker);

}  // namespace tenon
