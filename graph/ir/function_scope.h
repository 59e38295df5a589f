// Functions that nodes may call.
#pragma once

#include <string_view>

#include "graph/ir/graph.h"

namespace tenon {

// Functions that nodes of a graph may call besides the graph's own: the graph of a body shares
// these with its owner. The graph's own function wins where both have the name.
class FunctionScope {
 public:
  virtual ~FunctionScope() = default;
  // Null if the scope has no such function. The entry lives as long as the scope. Thread-safe while
  // no function is added.
  virtual const FunctionEntry* Find(std::string_view name) const = 0;
};

}  // namespace tenon
