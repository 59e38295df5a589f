// Finds the nodes that came into a graph from the bodies of functions, when calls, branches or
// loops were inlined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "graph/ir/graph.h"
#include "grappler_lite/provenance/graph_changes.h"

namespace tenon {

// The views point into storage that the graph `before` shares, and live as long as it.
struct InlinedNodes {
  struct Call {
    int32_t within = -1;        // index of the call that brought this call; -1: a call of the graph
    NodeId root = kNoNode;      // the call's id in `before`, if `before` has the call
    std::string_view function;  // the function in whose body the call stood; empty: the graph
    std::string_view node;      // the call's name in that body
    std::string name;           // the call's name in the graph, or the name that it would have
  };
  // Where a node of `after` comes from: the call, and the node of the function's body.
  struct Origin {
    int32_t call;  // index in `calls`
    std::string_view function, node;
  };
  std::vector<Call> calls;  // a call comes before the calls in its body
  // By node of `after`.
  absl::flat_hash_map<NodeId, Origin> origins;
  absl::flat_hash_set<NodeId> roots;  // calls of `before` that were inlined, by id there
  absl::flat_hash_set<std::string_view> inlined;  // names of the functions
};

// Finds inlined nodes by names. A call of `before` that is no call in `after` any more was inlined
// if `after` has each node of a called function's body as a new node: "mul" as "call/mul", or as
// "call/mul_1" and so on where other nodes have those names. The node must have its op, and a Const
// its value, unless `was_rewritten` is true of its name in `after`. A call within the body may be
// gone: if it was inlined by the same rule, its nodes count too; if not, nothing is said of it.
// If several functions that a call may mean fit, the one with the most nodes in `after` counts; if
// two have the most, none.
// `changes` are those from `before` to `after`. Time is linear in them: after 16 look-ups of names
// per change, counted over all, and beyond 256 nested calls, nothing more is found.
InlinedNodes FindInlinedNodes(const Graph& before, const Graph& after,
                              const std::vector<NodeChange>& changes,
                              absl::FunctionRef<bool(std::string_view)> was_rewritten);

}  // namespace tenon
