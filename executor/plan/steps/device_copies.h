// Copies of values to the devices of their readers, with the waits that the copies need.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_streams.h"
#include "executor/plan/steps/scoped_map.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// Values are ids of StepGraph::values; a null device is the host. `reader` is the node that wants
// the value: waits belong to it, and name it if a copy does not end. Errors do not name the node.
// The references must outlive this object. Not thread-safe.
class DeviceCopies {
 public:
  DeviceCopies(const PlanInput& input, StepBuilder& steps)
      : in_(input), steps_(steps), streams_(steps.graph()) {}

  DeviceStreams& streams() { return streams_; }

  // The value `id` on `device`: the value itself, or its copy. Adds the steps that copy. A copy is
  // made once for each value and device; one that was made in a loop serves readers in the loop
  // only. The steps of a copy to the host wait until it is complete; those of a copy to a device do
  // not: AwaitArrival does. A constant on the host is copied to a device now, while planning.
  // node_alive[reader] must be set. UNIMPLEMENTED for elements that only the host can hold;
  // RESOURCE_EXHAUSTED for a value that is too large; errors of CopyOnDevice.
  absl::StatusOr<int32_t> OnDevice(NodeId reader, int32_t id, Device* device);
  absl::StatusOr<int32_t> OnHost(NodeId reader, int32_t id) {
    return OnDevice(reader, id, nullptr);
  }
  // To be called before AwaitArrival for the inputs of a node on `device`. Looks for the large feed
  // of floating-point numbers that a device reads next and that is not copied to that device yet.
  // Queues the copy if that device is `device`: the host is free to do so while it would wait for
  // this node's feeds. Does nothing in loops. Errors are those of OnDevice.
  absl::Status QueueNextFeed(NodeId reader, Device* device);
  // For a value that the step before has made on a device: if a node on the host reads it, or it is
  // fetched, its copy to the host is queued at once, and OnHost only adds the wait. Does nothing
  // for a value that some runs do not make, or that a loop makes. RESOURCE_EXHAUSTED for a value
  // that is too large.
  absl::Status BeginToHost(const Output& value);
  // To be called when all steps are there. Lets the source and the target of each copy live to the
  // end of the run that no step waits for whenever the copy is made.
  void HoldUnawaited();
  // Adds a step in which the host waits until the copy `id` to a device is complete; adds nothing
  // if the value is no such copy, or if a step that always runs, outside of loops, waits for it
  // already. To be called before a step queues work that reads the value: as in TensorFlow, a
  // kernel may do its work at once, without its stream. node_alive[reader] must be set.
  void AwaitArrival(NodeId reader, int32_t id);
  // For steps that cannot read constants without a storage. The value itself, if it has a storage.
  // Otherwise a new value in a slot, and a step that sets the slot to the constant: another one at
  // each call.
  int32_t InSlot(NodeId reader, int32_t id);
  // Sets the device and the ticket of `v`, which work on the device's first compute stream makes:
  // the work of the step that is added next, or earlier work that left its result in a variable.
  void ComputedOn(Device* device, PlanValue& v);
  // For a step that is added next and queues work on the compute stream, on the value `id` in the
  // memory of the stream's device. Adds to `waits` that the stream waits for that of the value; and
  // lets a value in memory of another compute stream live to the end of the run, since memory is
  // reused in the order of its own stream. `alive`: the flag of the step.
  void ReadOnStream(int32_t id, const DeviceStream& stream, int32_t alive,
                    std::vector<StreamWait>& waits);

  // Brackets a loop. A copy that a loop makes does not exist behind the loop, and one of an earlier
  // pass is of no use: ForgetSince drops the copies that were made since Now returned `mark`.
  size_t Now() const { return copies_.size(); }
  void ForgetSince(size_t mark) { copies_.Shrink(mark); }

 private:
  // The copy of a value that is not on `to`, by the shortest way.
  absl::StatusOr<int32_t> Copy(NodeId reader, int32_t id, Device* to);
  absl::StatusOr<int32_t> CopyToDevice(int32_t id, Device* device);
  absl::StatusOr<int32_t> ConstantOnDevice(int32_t id, Device* device);
  absl::StatusOr<int32_t> CopyToHost(NodeId reader, int32_t id);
  // A copy to the host that is queued and that nobody has waited for.
  struct Departure {
    int32_t source;  // the storage
    int32_t to;      // the value on the host
    int32_t event;
    Device* device;
  };
  absl::StatusOr<Departure> QueueToHost(int32_t id);
  bool IsLargeArrival(const PlanValue& v) const;
  void FindFeeds();
  void FindHostReads();
  absl::StatusOr<int32_t> CopyBetween(NodeId reader, int32_t id, Device* to);
  // Adds the step that copies a value to `to`, from the host or from another device of its type.
  int32_t AddArrival(int32_t id, Device* to, std::vector<StreamWait> waits,
                     bool orders_itself = false);

  const PlanInput& in_;
  StepBuilder& steps_;
  DeviceStreams streams_;
  ScopedMap<std::pair<int32_t, Device*>, int32_t> copies_;  // by value and device
  absl::flat_hash_map<int32_t, Departure> departures_;      // by value; of BeginToHost
  // Copies to a device by the storage of their target: a wait may be skipped where the copy is not.
  struct Arrival {
    int32_t alive, loop;  // of the step that copies
  };
  absl::flat_hash_map<int32_t, Arrival> unawaited_;
  std::optional<absl::flat_hash_set<Output>> host_reads_;  // of nodes on devices
  // Large feeds and the devices of their readers, in the order of the readers; and how many of them
  // have been copied, or will be.
  std::optional<std::vector<std::pair<int32_t, Device*>>> feeds_;
  size_t next_feed_ = 0;
};

}  // namespace tenon
