// A tensor in the memory of a plug-in's device.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/pjrt/api.h"
#include "plugin/pjrt/event.h"

namespace tenon::pjrt {

// Type and shape of a buffer's elements.
struct BufferSpec {
  DataType type = DataType::kInvalid;
  Shape shape;
  size_t bytes() const { return static_cast<size_t>(shape.num_elements()) * DataTypeSize(type); }
};

class Client;

// Owns a buffer, or nothing. Shares its client, which therefore outlives it. Moves only. Reading
// one buffer on several threads is fine.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<const Client> client, abi::Buffer* buffer)
      : client_(std::move(client)), buffer_(buffer) {}
  Buffer(Buffer&& o) noexcept
      : client_(std::move(o.client_)), buffer_(std::exchange(o.buffer_, nullptr)) {}
  Buffer& operator=(Buffer&& o) noexcept;
  ~Buffer() { Destroy(); }

  explicit operator bool() const { return buffer_ != nullptr; }
  abi::Buffer* get() const { return buffer_; }
  // The client that the buffer was made with; null if it was made without one or is moved from.
  const Client* client() const { return client_.get(); }

  // All that follows needs a buffer. Spec: type and shape as the plug-in has them; type kInvalid
  // for one that no tensor has.
  absl::StatusOr<BufferSpec> Spec() const;
  // Starts to copy all elements, dense and in C order, into `bytes` bytes of host memory. That
  // memory and the buffer must stay until the returned event is ready. Waits for nothing. INTERNAL
  // if the buffer has another number of bytes. `bytes` and `rank` are those of the buffer's shape.
  absl::StatusOr<Event> ToHost(void* data, size_t bytes, int rank, std::string_view node) const;
  // A new buffer with the same elements on a device of the same client, perhaps the same one. The
  // new buffer need not be ready yet.
  absl::StatusOr<Buffer> CopyToDevice(abi::Device* device, std::string_view node) const;
  // The end of the work that makes the buffer, with its error.
  absl::StatusOr<Event> Ready(std::string_view node) const;
  // Whether the elements lie dense and in C order in memory that the host can read; false if the
  // plug-in cannot tell. All buffers of one result of a program have one answer.
  absl::StatusOr<bool> IsHostReadable(std::string_view node) const;
  // The address of the elements, on the device. Valid once Ready is, and as long as the buffer.
  absl::StatusOr<const void*> Pointer(std::string_view node) const;

 private:
  void Destroy();
  absl::StatusOr<bool> IsRowMajor(std::string_view node) const;

  const Api& api() const;

  std::shared_ptr<const Client> client_;
  abi::Buffer* buffer_ = nullptr;
};

}  // namespace tenon::pjrt
