// Devices for the nodes of a function body while passes run over it.
// Private to executor/compile/bodies/.
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

// Passes ask for a node's device before they rewrite it, so the nodes of a body need devices. The
// body must not keep these devices, since each call may run it on another device: Undo restores the
// device strings of before. For one body, on one thread: Apply once, the passes, Undo.
class BodyPlacement {
 public:
  // Places all nodes of `body`. A node without a device string gets `device` as its string; it may
  // be empty. `keeps_unavailable` is that of ApplyPlacement. Errors are those of Place; after an
  // error some nodes may have `device`, and none is placed: Undo restores them.
  absl::Status Apply(Graph& body, std::string_view device, const BodySurroundings& surroundings,
                     bool keeps_unavailable);

  // Restores the device strings that nodes had before Apply. A node that a pass has added gets the
  // string that all nodes which Apply placed on its device had, if these strings are equal and
  // there is such a node; else it keeps its device. `body` may be a copy. Before Apply, Undo does
  // nothing.
  void Undo(Graph& body) const;

 private:
  std::vector<std::string> requests_;                                        // by node id
  absl::flat_hash_map<std::string, std::optional<std::string>> request_of_;  // by device
};

}  // namespace tenon
