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

// Copies added functions from the library of a body to the library of the whole graph. Not
// thread-safe.
class NewFunctions {
 public:
  // `graph`: the whole graph; must outlive this object. `all`: SharedFunctions::Of(graph); each
  // function that TakeFrom copies is added to it too.
  NewFunctions(Graph& graph, std::shared_ptr<SharedFunctions> all)
      : graph_(graph), all_(std::move(all)) {}

  // Copies the functions that `body` has and the graph has not. The nodes of `body` must be placed:
  // the device of a calling node is noted for DeviceFor. Returns false and copies nothing if, for
  // any function of `body`, the graph has a different function of that name.
  bool TakeFrom(const Graph& body);

  // The device of the first node that calls this function in the body from which TakeFrom copied
  // it. nullopt if TakeFrom did not copy the function, or if no node of that body calls it
  // directly.
  std::optional<std::string> DeviceFor(std::string_view function) const;

  // Whether all copied functions together exceed 1 MiB in serialized form. Passes add functions for
  // bodies of added functions, and so on without an end: if true, the caller switches off the
  // rewrites that add functions.
  bool too_many() const;

 private:
  Graph& graph_;
  const std::shared_ptr<SharedFunctions> all_;
  absl::flat_hash_map<std::string_view, std::string> device_of_;  // by function
  size_t bytes_ = 0;
};

}  // namespace tenon
