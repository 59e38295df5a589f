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
  // A node of `after`, and the node of a function's body that it was.
  struct Origin {
    int32_t call;  // index in `calls`
    std::string_view function, node;
  };
  std::vector<Call> calls;  // outer ones first
  // By node of `after`.
  absl::flat_hash_map<NodeId, Origin> origins;
  absl::flat_hash_set<NodeId> roots;  // calls of `before` that were inlined, by id there
  absl::flat_hash_set<std::string_view> inlined;  // names of the functions
};

// Finds inlined nodes by names: "call/mul", or "call/mul_1" where that name was taken, is the node
// "mul" of a function that "call" called, if all nodes of that body are there with their ops and
// are new in `after`. For calls within that body, which may have been inlined too, the same is
// asked. Of several functions that a call may mean, the one of which the most nodes are there
// counts; if two tie, none.
// `was_rewritten` says whether the node of a name may have another op than in the body. Time is
// linear in the changes.
InlinedNodes FindInlinedNodes(const Graph& before, const Graph& after,
                              const std::vector<NodeChange>& changes,
                              absl::FunctionRef<bool(std::string_view)> was_rewritten);

}  // namespace tenon
