// Which compute stream of its device each node computes on.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/plan_input.h"

namespace tenon {

// By node id: the number of the compute stream (plugin/device/compute_streams.h); empty if all are
// on the first, number 0. Branches of nodes that do not need each other get streams of their own,
// at most PlanInput::device_streams for each device (LanesOfChains). Makes the streams that it
// names. Where a device makes fewer, it chooses again with these: streams that it made for the
// first choice stay, though nothing may be on them.
//
// On the first stream are all nodes without a plug-in's synchronous kernel on a device with
// streams; those with effects (HasEffects), references, resources or variants; those whose results
// may come into the hands of such a node on the device: it may keep them after the run, and memory
// of other streams is only safe until the run's end; and those in loops. So are all nodes of a
// device that cannot copy within itself, or has no ComputeStreams.
std::vector<uint8_t> ChooseComputeStreams(const PlanInput& input);

}  // namespace tenon
