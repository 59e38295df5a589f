// How many nodes the calls of a graph may become, and how many they would.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon {

// What a call node of this op and these attributes calls, if that is a function; else null. `f`:
// its attribute of that name, or null.
const FunctionEntry* Callee(const Graph& graph, std::string_view op, const AttrValue* f);

// Functions that call others twice become twice as many nodes with each level, so calls are counted
// before one is written out: each function once, those that it calls first. A call that would
// become more than is left stays, and so do those that have no end; the calls in its function may
// fit. For graphs with one library, to which functions may be added.
class InlineBudget {
 public:
  // Whether there is room for a call of the function with all calls in it, nested no deeper than
  // this.
  bool Fits(const Graph& graph, const FunctionEntry& function, int max_depth);
  // The call has been inlined, those in it have not.
  void Take(const FunctionEntry& function) { taken_ += Find(function.name)->own; }
  // One that goes on from here by itself. What both know of functions is not copied.
  InlineBudget Fork();
  // "100000 nodes of functions", where a call did not fit; else empty.
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
