// What nodes may call.
#pragma once

#include <string_view>

#include "graph/ir/graph.h"

namespace tenon {

// Functions besides those of a node's own graph: what the graph of a body shares with its owner.
class FunctionScope {
 public:
  virtual ~FunctionScope() = default;
  // Null if there is none.
  virtual const FunctionEntry* Find(std::string_view name) const = 0;
};

}  // namespace tenon
