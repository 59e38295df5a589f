// The state of a frozen graph that cannot become constants: tables, and variables that stay. A node
// of the graph fills them with the values that the initializers of the model gave them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/state/state_makers.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Called in this order: Find, KeepVariable for each variable, AddReads, AddInit. An object that
// Find did not make has only the variables that KeepVariable adds. Holds views into the storage of
// the graphs that Find and KeepVariable were given; copies of a graph share its storage, and one of
// them must live as long. Not thread-safe.
class KeptState {
 public:
  // Finds what `fillers` fill of the tables of `graph` and of the variables that its functions
  // make. `graph` is a pruned copy of `model` that holds what a signature needs. `fillers` are the
  // nodes of `model` that restore and initialize it; they count as filling each resource that they
  // need, even if they only read it. FAILED_PRECONDITION names a table that takes its entries once
  // and that no filler fills, if no node of `graph` fills any table. UNIMPLEMENTED names a resource
  // other than a mutex that a filler fills and a node of the frozen graph could not.
  static absl::StatusOr<KeptState> Find(const Graph& graph, const Graph& model,
                                        absl::Span<const NodeId> fillers);

  // Names of nodes of variables that functions make too. Such a variable cannot be folded, since
  // the function would go on with a variable of its own.
  const std::set<std::string>& shared_variables() const { return shared_variables_; }
  // Keeps the variable of node `name` of `graph`. `graph`, and the graphs of AddReads and AddInit,
  // must have a node of that name: this is not checked. To be called once for each variable.
  void KeepVariable(const Graph& graph, std::string_view name);

  // Adds the nodes that read all of this state to `model`, which is the graph that Find was given
  // as `model` or a copy of it. Returns the outputs to fetch: one for each variable, then two or
  // three for each table. Errors are those of Graph::AddNode and, for a variable or a table that a
  // function makes, AddCopyOf (state_makers.h). After an error some nodes may have been added.
  absl::StatusOr<std::vector<std::string>> AddReads(Graph& model) const;

  // The result of AddInit. All are names of nodes of the frozen graph.
  struct Init {
    std::string node;  // the node that fills; empty if there is nothing to fill
    std::vector<std::string> tables, variables;  // that the node fills
  };
  // Adds the node that fills the state to `frozen`, and what that node needs: for a variable or a
  // table that a function makes, also a node that makes it. `values` must be the values of all
  // fetches that AddReads returned, in their order. Errors are those of AddReads and of
  // Graph::MakeConst; INTERNAL if the shapes of a table's values do not fit the table.
  absl::StatusOr<Init> AddInit(Graph& frozen, absl::Span<const Tensor> values) const;
  // The same where the frozen graph has a node already that fills the state.
  Init FilledBy(std::string node) const;

 private:
  // The node of `graph` that makes the resource. Nodes in functions are no nodes of the graph: for
  // such a maker a copy is added.
  static absl::StatusOr<NodeId> HandleIn(Graph& graph, const ReachedNode& maker);

  std::vector<ReachedNode> variables_, tables_;
  std::set<std::string> shared_variables_;
};

// The first variable or table of `graph` and its functions that no node of these could fill, as
// ReachedNode::ToString: "node 'x' (Op)"; empty if there is none. Does not look which variable a
// node assigns to: if any node assigns, each variable counts as filled. The same holds for tables.
// Tables that may be filled again and again start empty, and do not count.
std::string UnfilledState(const Graph& graph);

}  // namespace tenon
