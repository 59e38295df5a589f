// Keeps the device string of each node. A node that a pass adds gets, at the end, the string that
// all nodes on its device had, if they had the same one.

#include "executor/compile/bodies/body_placement.h"

#include "graph/base/status_macros.h"

namespace tenon {

absl::Status BodyPlacement::Apply(Graph& body, std::string_view device,
                                  const BodySurroundings& surroundings, bool keeps_unavailable) {
  for (NodeId n = 0; n < body.num_node_ids(); ++n) {
    requests_.emplace_back(body.alive(n) ? body.device(n) : std::string_view());
    if (body.alive(n) && body.device(n).empty() && !device.empty()) body.SetDevice(n, device);
  }
  TENON_ASSIGN_OR_RETURN(
      const std::vector<NodePlacement> placement,
      Place(body, surroundings.devices, surroundings.registry, surroundings.placer));
  ApplyPlacement(body, placement, keeps_unavailable);
  for (NodeId n = 0; n < body.num_node_ids(); ++n) {
    if (!body.alive(n)) continue;
    const auto [it, is_new] = request_of_.try_emplace(body.device(n), requests_[n]);
    if (it->second != requests_[n]) it->second = std::nullopt;
  }
  return absl::OkStatus();
}

void BodyPlacement::Undo(Graph& body) const {
  for (NodeId n = 0; n < body.num_node_ids(); ++n) {
    if (!body.alive(n)) continue;
    if (n < static_cast<NodeId>(requests_.size())) {
      body.SetDevice(n, requests_[n]);
    } else if (const auto it = request_of_.find(body.device(n));
               it != request_of_.end() && it->second.has_value()) {
      body.SetDevice(n, *it->second);
    }
  }
}

}  // namespace tenon
