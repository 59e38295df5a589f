#include "plugin/pjrt/buffer.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/pjrt/client.h"
#include "plugin/pjrt/element_type.h"

namespace tenon::pjrt {
namespace {

constexpr size_t kMostRank = 64;  // above it a plug-in's number is a lie

// The last axis is innermost, and nothing is tiled. Axes of one element could stand anywhere, but
// no plug-in was seen to use that.
bool CountsDown(const abi::MemoryLayout& layout) {
  if (layout.type != abi::MemoryLayout::kTiled || layout.tiled.num_tiles != 0) return false;
  const size_t rank = layout.tiled.rank;
  if (rank > kMostRank || (rank > 0 && layout.tiled.minor_to_major == nullptr)) return false;
  for (size_t i = 0; i < rank; ++i) {
    if (layout.tiled.minor_to_major[i] != static_cast<int64_t>(rank - 1 - i)) return false;
  }
  return true;
}

}  // namespace

const Api& Buffer::api() const { return client_->api(); }

Buffer& Buffer::operator=(Buffer&& o) noexcept {
  if (this == &o) return *this;
  Destroy();
  client_ = std::move(o.client_);
  buffer_ = std::exchange(o.buffer_, nullptr);
  return *this;
}

void Buffer::Destroy() {
  if (buffer_ == nullptr) return;
  auto args = Fresh<abi::BufferArgs>();
  args.buffer = std::exchange(buffer_, nullptr);
  api().Release(fn::Buffer_Destroy, args);
}

absl::StatusOr<BufferSpec> Buffer::Spec() const {
  auto type = Fresh<abi::BufferElementTypeArgs>();
  type.buffer = buffer_;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_ElementType, type));
  auto dims = Fresh<abi::BufferDimensionsArgs>();
  dims.buffer = buffer_;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_Dimensions, dims));
  if (dims.rank > kMostRank || (dims.rank > 0 && dims.dims == nullptr))
    return api().Fault(absl::StrCat("a buffer of rank ", dims.rank), fn::Buffer_Dimensions.name);
  TENON_ASSIGN_OR_RETURN(Shape shape, Shape::Make(absl::MakeConstSpan(dims.dims, dims.rank)));
  return BufferSpec{ToDataType(type.type), std::move(shape)};
}

absl::StatusOr<bool> Buffer::IsRowMajor(std::string_view node) const {
  if (!api().Has(fn::Buffer_GetMemoryLayout)) return true;  // the default of all plug-ins
  auto args = Fresh<abi::BufferLayoutArgs>();
  args.buffer = buffer_;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_GetMemoryLayout, args, node));
  return CountsDown(args.layout);
}

absl::StatusOr<Event> Buffer::ToHost(void* data, size_t bytes, int rank,
                                     std::string_view node) const {
  auto args = Fresh<abi::BufferToHostArgs>();
  args.buffer = buffer_;
  TENON_ASSIGN_OR_RETURN(const bool row_major, IsRowMajor(node));
  absl::InlinedVector<int64_t, 8> order(rank);
  for (int i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  auto layout = Fresh<abi::MemoryLayout>();
  layout.type = abi::MemoryLayout::kTiled;
  layout.tiled.head.struct_size = abi::kStructSize<abi::MemoryLayout::Tiled>;
  layout.tiled.minor_to_major = order.data();
  layout.tiled.rank = order.size();
  if (!row_major) args.layout = &layout;
  // The size that the plug-in would copy. A plug-in with a lie in its shapes must not write beyond
  // `data`.
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_ToHostBuffer, args, node));
  if (args.size != bytes) {
    return api().Fault(
        absl::StrCat("a result has ", args.size, " bytes where ", bytes, " were asked for"),
        fn::Buffer_ToHostBuffer.name);
  }
  args.data = data;
  args.size = bytes;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_ToHostBuffer, args, node));
  return Event(client_->shared_api(), args.event);
}

absl::StatusOr<Buffer> Buffer::CopyToDevice(abi::Device* device, std::string_view node) const {
  auto args = Fresh<abi::BufferCopyToDeviceArgs>();
  args.buffer = buffer_;
  args.device = device;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_CopyToDevice, args, node));
  if (args.copy == nullptr)
    return api().Fault("neither a buffer nor an error", fn::Buffer_CopyToDevice.name);
  return Buffer(client_, args.copy);
}

absl::StatusOr<Event> Buffer::Ready(std::string_view node) const {
  auto args = Fresh<abi::BufferReadyEventArgs>();
  args.buffer = buffer_;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_ReadyEvent, args, node));
  return Event(client_->shared_api(), args.event);
}

absl::StatusOr<bool> Buffer::IsHostReadable(std::string_view node) const {
  if (!api().Has(fn::Buffer_IsOnCpu) || !api().Has(fn::Buffer_OpaqueDeviceMemoryDataPointer))
    return false;
  auto on_cpu = Fresh<abi::BufferFlagArgs>();
  on_cpu.buffer = buffer_;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_IsOnCpu, on_cpu, node));
  if (!on_cpu.flag) return false;
  return IsRowMajor(node);
}

absl::StatusOr<const void*> Buffer::Pointer(std::string_view node) const {
  auto args = Fresh<abi::BufferPointerArgs>();
  args.buffer = buffer_;
  TENON_RETURN_IF_ERROR(api().Call(fn::Buffer_OpaqueDeviceMemoryDataPointer, args, node));
  if (args.pointer == nullptr)
    return api().Fault("a buffer without an address",
                       fn::Buffer_OpaqueDeviceMemoryDataPointer.name);
  return args.pointer;
}

}  // namespace tenon::pjrt
