#include "plugin/device/device_copy.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/device/copy_scope.h"

namespace tenon {
namespace {

// Waits for the work that is queued on a stream now.
absl::Status Await(Device& device, StreamHandle stream, double timeout_s) {
  TENON_ASSIGN_OR_RETURN(const EventHandle event, device.AcquireEvent());
  absl::Status status = device.RecordEvent(stream, event);
  if (status.ok()) status = device.BlockUntilComplete(event, timeout_s);
  device.ReleaseEvent(event);
  return status;
}

// Waits for a copy, of which a part may be queued after an error, too. If that fails, the device
// may still read `from` and write `to`: both leak, since nothing tells when it has ended. So they
// do if the device has waited itself, for too long.
absl::Status AwaitCopy(absl::Status queued, const Tensor& from, const Tensor& to, Device& device,
                       StreamHandle stream, double timeout_s) {
  const absl::Status done = Await(device, stream, timeout_s);
  if (!done.ok() || absl::IsDeadlineExceeded(queued)) {
    from.buffer()->Ref();
    to.buffer()->Ref();
  }
  return queued.ok() ? done : queued;
}

// The copy waits for the compute stream: queued kernels may still use the target's memory, which
// the allocator gave out again at once.
absl::Status CopyToDevice(const Tensor& from, const Tensor& to, Device& device, double timeout_s) {
  const CopyScope scope(timeout_s);
  const StreamHandle stream = device.host_to_device_stream();
  TENON_RETURN_IF_ERROR(device.StreamWaitsForStream(stream, device.compute_stream()));
  return AwaitCopy(device.CopyHostToDevice(stream, from, to), from, to, device, stream, timeout_s);
}

// The copy waits for the compute stream, on which kernels write the value.
absl::StatusOr<Tensor> CopyOnHost(const Tensor& value, Device& device, double timeout_s) {
  TENON_ASSIGN_OR_RETURN(Tensor copy, AllocateForCopyFrom(device, value));
  if (value.bytes() == 0) return copy;
  const StreamHandle stream = device.device_to_host_stream();
  TENON_RETURN_IF_ERROR(device.StreamWaitsForStream(stream, device.compute_stream()));
  TENON_RETURN_IF_ERROR(AwaitCopy(device.CopyDeviceToHost(stream, value, copy), value, copy, device,
                                  stream, timeout_s));
  return copy;
}

}  // namespace

absl::StatusOr<Tensor> AllocateLike(const Tensor& like, Device* device) {
  if (device == nullptr) return Tensor::Allocate(like.dtype(), like.shape());
  TENON_ASSIGN_OR_RETURN(BufferRef buffer, device->Allocate(like.bytes()));
  return Tensor(like.dtype(), like.shape(), std::move(buffer));
}

absl::StatusOr<Tensor> AllocateForCopyFrom(Device& device, const Tensor& like) {
  if (device.has_own_host_memory(like.bytes())) {
    if (BufferRef own = device.AllocateHost(like.bytes()))
      return Tensor(like.dtype(), like.shape(), std::move(own));
  }
  return Tensor::Allocate(like.dtype(), like.shape());
}

absl::StatusOr<Tensor> CopyOnDevice(const Tensor& value, Device& device, double timeout_s) {
  TENON_ASSIGN_OR_RETURN(Tensor copy, AllocateLike(value, &device));
  if (value.bytes() > 0) TENON_RETURN_IF_ERROR(CopyToDevice(value, copy, device, timeout_s));
  return copy;
}

absl::StatusOr<Tensor> CopyAcross(const Tensor& value, Device* from, Device* to) {
  if (from == to) return value;
  if (to != nullptr && !IsMemcpyable(value.dtype())) {
    return absl::UnimplementedError(absl::StrCat("a ", DataTypeName(value.dtype()),
                                                 " value cannot be copied to ", to->short_name()));
  }
  if (from == nullptr) return CopyOnDevice(value, *to, kCopyTimeoutSeconds);
  // Between two devices by way of the host, which works for devices of different plug-ins too.
  TENON_ASSIGN_OR_RETURN(Tensor on_host, CopyOnHost(value, *from, kCopyTimeoutSeconds));
  if (to == nullptr) return on_host;
  return CopyOnDevice(on_host, *to, kCopyTimeoutSeconds);
}

}  // namespace tenon
