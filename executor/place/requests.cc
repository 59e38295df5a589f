#include "executor/place/requests.h"

#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {

absl::Status Requests::Read(const PlacerOptions& options) {
  for (const auto& [pattern, device] : options.rules) {
    TENON_ASSIGN_OR_RETURN(DeviceRequest request, ParseDeviceFlag(device));
    TENON_ASSIGN_OR_RETURN(NamePattern compiled, NamePattern::Compile(pattern));
    flags_.emplace_back(std::move(compiled), std::move(request));
  }
  if (!options.default_device.empty()) {
    TENON_ASSIGN_OR_RETURN(default_, ParseDeviceFlag(options.default_device));
  }
  return absl::OkStatus();
}

bool Requests::NoteFlag(Placing& p, NodeId n) const {
  for (size_t i = 0; i < flags_.size(); ++i) {
    if (!flags_[i].first.Matches(p.graph.name(n))) continue;
    Group& group = p.groups.Of(n);
    group.request = &flags_[i].second;
    group.by_options = true;
    p.requested[n] = p.options.rules[i].second;
    return true;
  }
  return false;
}

absl::Status Requests::NoteOwn(Placing& p, NodeId n) {
  const std::string_view device = p.graph.device(n);
  if (device.empty()) return absl::OkStatus();
  // Most nodes of a graph share a few device strings: each string is parsed once.
  const auto [it, is_new] = own_by_text_.try_emplace(device);
  if (is_new) {
    absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(device);
    if (!request.ok()) return NodeError(p.graph, n, request.status());
    it->second = &own_.emplace_back(*std::move(request));
  }
  p.groups.Of(n).request = it->second;
  p.requested[n] = device;
  return absl::OkStatus();
}

bool Requests::TakesDefault(Placing& p, NodeId n) const {
  if (!default_.has_value() || p.graph.facts(n).mover) return false;
  // Nodes of bodies ask for the default device themselves; that a call's values cannot be there
  // says nothing of them.
  return !IsFunctional(p.graph, n) || p.Find(*default_, p.groups.Of(n).mask) != nullptr;
}

absl::Status Requests::Note(Placing& p, NodeId n) {
  Group& group = p.groups.Of(n);
  if (!NoteFlag(p, n)) {
    TENON_RETURN_IF_ERROR(NoteOwn(p, n));
    // A device string that names only this task asks for nothing.
    if (!group.AsksForDevice() && (group.request == nullptr || IsThisTask(*group.request)))
      group.request = nullptr;
    if (group.request == nullptr && TakesDefault(p, n)) {
      group.request = &*default_;
      group.by_default = group.by_options = true;
    }
  }
  if (group.request == nullptr || IsThisTask(*group.request)) return absl::OkStatus();
  return Refuse(p, n, "there is only /job:localhost/replica:0/task:0");
}

}  // namespace tenon
