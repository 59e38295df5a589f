// The device that a node asks for: by the first rule of the options that matches its name; without
// one, by its own device string; without one, by the default device. Private to executor/place/.
#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "executor/place/name_pattern.h"
#include "executor/place/placing.h"

namespace tenon {

// For one placement, on one thread: Read once, then Note for each node, before groups are joined.
class Requests {
 public:
  // Reads the rules and the default device of `options`, which must be those of `p` in Note.
  // INVALID_ARGUMENT for a malformed device or pattern.
  absl::Status Read(const PlacerOptions& options);
  // Stores the request of node n in its group and in p.requested. A device string that names only
  // this task stands in p.requested, but is no request. The default device goes into the group
  // alone, and not for an op that only moves values (OpFacts::mover), nor for a node that calls
  // functions and cannot be there. INVALID_ARGUMENT if the node's device string is malformed and no
  // rule matches, or if the request names another task; names the node. The group borrows the
  // request from this object, and p.requested refers to the options and the graph: these must
  // outlive `p`.
  absl::Status Note(Placing& p, NodeId n);

 private:
  // Stores the request of the first rule that matches n's name. False if none does.
  bool NoteFlag(Placing& p, NodeId n) const;
  // Stores the request of n's own device string, if it has one.
  absl::Status NoteOwn(Placing& p, NodeId n);
  // Whether there is a default device, and n asks for it unless something else is asked for.
  bool TakesDefault(Placing& p, NodeId n) const;

  std::vector<std::pair<NamePattern, DeviceRequest>> flags_;  // PlacerOptions::rules (--place)
  std::optional<DeviceRequest> default_;  // PlacerOptions::default_device (--device)
  std::deque<DeviceRequest> own_;         // requests of the graph; groups point to them
  absl::flat_hash_map<std::string_view, const DeviceRequest*> own_by_text_;  // by device string
};

}  // namespace tenon
