#include "executor/plan/steps/control_waits.h"

#include <algorithm>
#include <utility>

namespace tenon {

void ControlWaits::Before(NodeId n, const DeviceStream& stream, int32_t alive,
                          std::vector<StreamWait>& waits) {
  for (const Output& from : nodes_.inputs(n)) {
    if (from.node == kNoNode || !from.is_control()) continue;
    const auto found = works_.find(from.node);
    if (found == works_.end()) continue;
    for (const Work& work : found->second) {
      if (work.stream.device == stream.device && work.stream != stream)
        streams_.WaitForWork(stream, work.stream, work.ticket, alive, waits);
    }
  }
}

void ControlWaits::EndNode(NodeId n, bool no_step) {
  if (works_.empty() || works_.contains(n)) return;
  Works handed_on;
  for (const Output& from : nodes_.inputs(n)) {
    if (from.node == kNoNode || !(from.is_control() || no_step)) continue;
    const auto found = works_.find(from.node);
    if (found == works_.end()) continue;
    for (const Work& work : found->second) {
      const auto same = std::ranges::find(handed_on, work.stream, &Work::stream);
      if (same == handed_on.end()) {
        handed_on.push_back(work);
      } else {
        same->ticket = std::max(same->ticket, work.ticket);
      }
    }
  }
  if (!handed_on.empty()) works_[n] = std::move(handed_on);
}

}  // namespace tenon
