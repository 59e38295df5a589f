// Functions that passes make for nodes of a body. Private to executor/compile/bodies/.
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

// Carries functions from optimized bodies into the library of the whole graph.
class NewFunctions {
 public:
  // `all` is told of each function that is taken.
  NewFunctions(Graph& graph, std::shared_ptr<SharedFunctions> all)
      : graph_(graph), all_(std::move(all)) {}

  // Takes what the library of `body`, which is placed, has beyond the graph's. False, and nothing
  // is taken, if the graph has another function of one of the names.
  bool TakeFrom(const Graph& body);

  // The device of the nodes that call a function that was taken; none for other functions.
  std::optional<std::string> DeviceFor(std::string_view function) const;

  // Functions that are made for bodies may make others, and these others: time to stop.
  bool too_many() const;

 private:
  Graph& graph_;
  const std::shared_ptr<SharedFunctions> all_;
  absl::flat_hash_map<std::string_view, std::string> device_of_;  // by function
  size_t bytes_ = 0;
};

}  // namespace tenon
