// Limits the number of nodes that the inlined calls of a graph may become.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon {

// The function that a call node of this op calls; null if the node calls none. `f`: the node's
// attribute "f", or null.
const FunctionEntry* Callee(const Graph& graph, std::string_view op, const AttrValue* f);

// Functions that call others twice become twice as many nodes with each level, so calls are counted
// before one is written out: each function once, those that it calls first. A call that would
// become more than is left stays, and so do those that have no end; the calls in its function may
// fit. For graphs with one library, to which functions may be added.
class InlineBudget {
 public:
  // Whether the budget has room for a call of the function and for all calls in it, which may nest
  // at most `max_depth` deep.
  bool Fits(const Graph& graph, const FunctionEntry& function, int max_depth);
  // Takes the nodes of the function from the budget: the call was inlined, the calls in it were
  // not.
  void Take(const FunctionEntry& function) { taken_ += Find(function.name)->own; }
  // A budget that starts with the state of this one and is then independent. Both share the counted
  // sizes of functions.
  InlineBudget Fork();
  // The exceeded limit, as "100000 nodes of functions", once a call had too many nodes; else empty.
  const std::string& spent() const { return spent_; }

 private:
  static constexpr int64_t kMostCounted = int64_t{1} << 40;
  static constexpr int kEndless = 1 << 30;
  struct Size {
    int64_t own = 0;       // nodes, with those that stand for arguments and results
    int64_t all = 0;       // with what calls in it become; at most kMostCounted
    int depth = kEndless;  // of calls, this one included
    bool stays = false;
  };

  using Sizes = absl::flat_hash_map<std::string, Size>;

  const Size& SizeOf(const Graph& graph, const FunctionEntry& function);
  // Null if it has not been counted.
  const Size* Find(std::string_view function) const;

  std::shared_ptr<const Sizes> shared_sizes_ = std::make_shared<Sizes>();
  Sizes sizes_;          // of others
  int64_t counted_ = 0;  // nodes of functions, each once
  int64_t taken_ = 0;
  std::string spent_;
};

}  // namespace tenon
