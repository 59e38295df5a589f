// The order of nodes in graphs with devices: work for devices goes out first.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "executor/plan/base/schedule.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"

namespace tenon {

// The `most_ahead` of NodeOrder::kAuto.
inline constexpr int kMostAhead = 8;

// Sorts schedule.order so that the host queues work for devices before it does work of its own. Of
// the nodes that may come next, those on devices go first, then those on the host that a node on a
// device needs, then the others; of one kind the first in the order so far. While `most_ahead`
// results of devices or more wait for readers on the host, the third kind goes first, so that not
// all results must be kept at once: nodes on the host that no device needs, whether they read these
// results or not. Nodes with effects keep their order among themselves, as in BeginCallsEarly. If
// the order changes, Schedule::places gets each node's position before the sort.
//
// `devices`: by node id; `host` itself for a node on the host, never null. `fed_only`: as for
// MakeSchedule. Changes nothing without nodes on other devices than `host`, or if schedule.order
// has control flow or a node with a reference as an output, or if schedule.places is not empty.
// Takes O(n log n).
void QueueDevicesFirst(const Graph& graph, absl::Span<Device* const> devices, const Device* host,
                       const std::vector<bool>& fed_only, int most_ahead, Schedule& schedule);

}  // namespace tenon
