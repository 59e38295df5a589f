// The host as a device: it has memory and workers, but no streams. Methods that need a stream fail
// with FAILED_PRECONDITION.
#include "plugin/device/device.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/machine_memory.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

absl::Status NoStreams(std::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat("the CPU device has no streams: ", what,
                                                    " is for devices with their own memory"));
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(int ordinal) : ordinal_(ordinal) {}
  std::string_view type() const override { return "CPU"; }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return {}; }
  int priority() const override { return 60; }  // TensorFlow's number for CPU devices
  // The machine's memory, all of it.
  int64_t memory_bytes() const override { return static_cast<int64_t>(MachineMemoryBytes()); }
  bool is_host() const override { return true; }

  absl::StatusOr<BufferRef> Allocate(size_t bytes) override {
    Buffer* buffer = Buffer::Allocate(bytes);
    if (buffer != nullptr) return BufferRef::Adopt(buffer);
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes on ", short_name()));
  }

  StreamHandle compute_stream() override { return nullptr; }
  StreamHandle host_to_device_stream() override { return nullptr; }
  StreamHandle device_to_host_stream() override { return nullptr; }
  StreamHandle device_to_device_stream() override { return nullptr; }
  absl::Status StreamWaitsForStream(StreamHandle, StreamHandle) override {
    return NoStreams("waiting for a stream");
  }
  absl::Status CopyHostToDevice(StreamHandle, const Tensor&, const Tensor&) override {
    return NoStreams("a copy");
  }
  absl::Status CopyDeviceToHost(StreamHandle, const Tensor&, const Tensor&) override {
    return NoStreams("a copy");
  }
  absl::Status CopyDeviceToDevice(StreamHandle, const Tensor&, const Tensor&) override {
    return NoStreams("a copy");
  }
  absl::StatusOr<EventHandle> AcquireEvent() override { return NoStreams("an event"); }
  void ReleaseEvent(EventHandle) override {}
  absl::Status RecordEvent(StreamHandle, EventHandle) override { return NoStreams("an event"); }
  absl::Status BlockUntilComplete(EventHandle, double) override { return NoStreams("an event"); }
  absl::Status SynchronizeAllActivity() override { return absl::OkStatus(); }
  absl::Status HostCallback(StreamHandle, std::function<absl::Status()>) override {
    return NoStreams("a callback");
  }

 private:
  const int ordinal_;
};

}  // namespace

std::string Device::short_name() const { return absl::StrCat("/device:", type(), ":", ordinal()); }
std::string Device::full_name() const {
  return absl::StrCat("/job:localhost/replica:0/task:0", short_name());
}
std::string Device::physical_name() const {
  return absl::StrCat("/physical_device:", type(), ":", ordinal());
}

absl::StatusOr<BufferRef> Device::AllocateForArrival(StreamHandle stream, size_t bytes) {
  TENON_ASSIGN_OR_RETURN(BufferRef memory, Allocate(bytes));
  TENON_RETURN_IF_ERROR(StreamWaitsForStream(stream, compute_stream()));
  return memory;
}

std::unique_ptr<Device> MakeCpuDevice(int ordinal) { return std::make_unique<CpuDevice>(ordinal); }

}  // namespace tenon
