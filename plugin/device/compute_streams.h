// Devices on which kernels may work on several streams.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"

namespace tenon {

// The most compute streams that a device may have.
inline constexpr int kMostComputeStreams = 16;

// The compute streams of a device, for kernels that need not wait for each other. Number 0 is
// Device::compute_stream(), with the memory of Device::Allocate; the others live as long as the
// device, too, and each has memory of its own, which is reused in the order of that stream. Whoever
// uses memory of one of them on another stream must keep it until the device has done this work.
// Thread-safe.
class ComputeStreams {
 public:
  // Null if all kernels of the device work on one stream.
  static ComputeStreams* Of(Device& device) { return dynamic_cast<ComputeStreams*>(&device); }

  // Sees to it that there are `count` streams, at most kMostComputeStreams, and returns how many of
  // these there are: at least 1. If the plug-in makes fewer, the first such call warns.
  virtual int MakeComputeStreams(int count) = 0;
  // `number` is below a result of MakeComputeStreams, here and in AllocateOn.
  virtual StreamHandle compute_stream_at(int number) = 0;
  // Device::Allocate, for a kernel on stream `number`.
  virtual absl::StatusOr<BufferRef> AllocateOn(int number, size_t bytes) = 0;
  // Makes all later work on `stream` start after the work before the last record of `event`.
  virtual absl::Status StreamWaitsForEvent(StreamHandle stream, EventHandle event) = 0;

 protected:
  ~ComputeStreams() = default;
};

}  // namespace tenon
