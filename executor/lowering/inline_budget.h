// Limits the number of nodes that the inlined calls of a graph become.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon {

// The function that a plain call of this op calls: attribute "f" of PartitionedCall and
// StatefulPartitionedCall, else the function named `op`. Null if the library of `graph` has no such
// function, and for all other ops (If, While, RemoteCall). `f`: the node's attribute "f", or null.
const FunctionEntry* Callee(const Graph& graph, std::string_view op, const AttrValue* f);

// Counts, before a call is inlined, the nodes that it becomes. A function that calls another one
// twice doubles the nodes with each level, so sizes are counted by function, callees first, and not
// by writing nodes. The limit is 100,000 nodes or, if that is more, four for each node of the
// functions that have been counted; at most Lowering::kMaxNodes. For graphs that share one library.
// Functions may be added to the library, and must not change. Not thread-safe.
class InlineBudget {
 public:
  // Whether the budget has room for a call of the function and for all calls in its body that would
  // be inlined too, and whether these nest at most `max_depth` deep; the call itself counts as 1.
  // False too if the function is marked to stay a call or has a node of an unknown op, or if it
  // calls itself, or one that does, by calls that would be inlined. Branches, loops, calls marked
  // for XLA and calls of functions that stay calls are not looked into. Takes nothing. `body_of`
  // gives the body of a function of `graph`, valid until it is asked for another.
  using BodyOf = absl::FunctionRef<const FunctionBody&(const FunctionEntry&)>;
  bool Fits(const Graph& graph, const FunctionEntry& function, int max_depth, BodyOf body_of);
  // Takes the nodes of the function itself from the budget: its call was inlined, the calls in it
  // were not yet. Fits must have been asked about the function before.
  void Take(const FunctionEntry& function) { taken_ += Find(function.name)->own; }
  // A budget that starts with the state of this one and is then independent of it. Both share the
  // sizes that have been counted so far.
  InlineBudget Fork();
  // The limit, as "100000 nodes of functions", once Fits was false for too many nodes; else empty.
  const std::string& spent() const { return spent_; }

 private:
  static constexpr int64_t kMostCounted = int64_t{1} << 40;
  static constexpr int kEndless = 1 << 30;
  struct Size {
    int64_t own = 0;       // nodes of the body, and those for arguments and results
    int64_t all = 0;       // own, and what calls in the body become; at most kMostCounted
    int depth = kEndless;  // of nested calls, this one included; kEndless: calls itself
    bool stays = false;    // marked to stay a call, or with a node of an unknown op
  };

  using Sizes = absl::flat_hash_map<std::string, Size>;

  const Size& SizeOf(const Graph& graph, const FunctionEntry& function, BodyOf body_of);
  // Null if the function has not been counted.
  const Size* Find(std::string_view function) const;

  std::shared_ptr<const Sizes> shared_sizes_ = std::make_shared<Sizes>();
  Sizes sizes_;          // counted since the last fork
  int64_t counted_ = 0;  // nodes of functions, each once
  int64_t taken_ = 0;
  std::string spent_;
};

}  // namespace tenon
