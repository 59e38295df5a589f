// Functions that passes add while they optimize a body. Private to executor/compile/bodies/.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/functions/function_library.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/graph.h"

namespace tenon {

// Moves added functions from the library of a body to the library of the whole graph. Not
// thread-safe.
class NewFunctions {
 public:
  // `graph` must outlive this object. Each function that is taken is added to `all` too.
  NewFunctions(Graph& graph, std::shared_ptr<SharedFunctions> all)
      : graph_(graph), all_(std::move(all)) {}

  // Copies the functions that `body` has and the graph has not. The nodes of `body` must be placed:
  // the device of a calling node is noted for DeviceFor. Returns false and copies nothing if the
  // graph has a different function of one of the names.
  bool TakeFrom(const Graph& body);

  // The device of a node that calls this function, if TakeFrom copied it; else nullopt.
  std::optional<std::string> DeviceFor(std::string_view function) const;

  // Whether the copied functions exceed 1 MiB. Passes add functions for bodies of added functions,
  // and so on without an end: the caller then switches off the rewrites that add them.
  bool too_many() const;

 private:
  Graph& graph_;
  const std::shared_ptr<SharedFunctions> all_;
  absl::flat_hash_map<std::string_view, std::string> device_of_;  // by function
  size_t bytes_ = 0;
};

}  // namespace tenon
