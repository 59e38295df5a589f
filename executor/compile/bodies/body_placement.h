// Devices for the nodes of a body while passes run over it. Private to executor/compile/bodies/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "executor/compile/bodies/optimize_bodies.h"
#include "graph/ir/graph.h"

namespace tenon {

// Passes make what the devices of a body's nodes have kernels for. Which device a call wants is
// known per call, so afterwards the nodes ask for what they asked for before.
class BodyPlacement {
 public:
  // Places all nodes of `body`; those that ask for nothing ask for `device`. Errors are those of
  // Place.
  absl::Status Apply(Graph& body, std::string_view device, const BodySurroundings& surroundings,
                     bool keeps_unavailable);

  // Gives the nodes their requests back. A node that a pass made asks for what all others on its
  // device ask for, else for that device.
  void Undo(Graph& body) const;

 private:
  std::vector<std::string> requests_;                                        // by node id
  absl::flat_hash_map<std::string, std::optional<std::string>> request_of_;  // by device
};

}  // namespace tenon
