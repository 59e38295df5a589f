// Where a graph makes what a session remembers from run to run: variables, tables, queues.
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

namespace tenon {

// A node that a search has reached: the graph's own, or one in the body of a function. Views of
// what the graph holds.
struct ReachedNode {
  NodeId node = kNoNode;                     // the graph's own; kNoNode: in a body
  std::string_view function;                 // whose body it is in; empty: none
  std::shared_ptr<const FunctionBody> body;  // with all of its nodes; null: none
  std::string_view name, op_name, device;
  const OpDef* op = nullptr;                  // null: unknown
  std::vector<std::string_view> body_inputs;  // of a node in a body
  AttrSet attrs;

  bool in_function() const { return body != nullptr; }
  const OpFacts& facts() const { return FactsOfOp(op); }
  std::string_view TextAttr(std::string_view name) const;  // empty if there is none
  std::string ToString() const;  // "node 'x' (Op)", "node 'x' (Op) of function 'f'"
};

ReachedNode ReachedInGraph(const Graph& graph, NodeId n);

// By node: whether these nodes need it, or it is one of them.
std::vector<bool> NeededBy(const Graph& graph, absl::Span<const NodeId> roots);

// These nodes and what they need, in the order of the graph; then the functions that they call,
// each function once.
void VisitReached(const Graph& graph, absl::Span<const NodeId> roots,
                  absl::FunctionRef<void(const ReachedNode&)> visit);

// Whether the node's op makes or uses something that outlives a run and may have a name.
bool MakesState(const ReachedNode& node);
bool IsTable(const OpFacts& op);  // of any kind

// The same text for nodes that stand for the same thing: it is the container and the name that they
// share. A node that shares none stands for itself.
std::string IdentityOf(const ReachedNode& maker);

// Adds a node to `graph` that makes what `maker`, which is in a body, makes: it has the same name
// to share. UNIMPLEMENTED where it shares none, or takes what is not constant.
absl::StatusOr<NodeId> AddTwin(Graph& graph, const ReachedNode& maker);

}  // namespace tenon
