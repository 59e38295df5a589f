// The structs behind the opaque types of the C interface, for the code that implements the
// interface.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "graph/base/file_bytes.h"
#include "graph/c_api/handles.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

// Setting an OK status to TF_OK allocates and frees nothing: plug-ins do so in every call.
struct TSL_Status {
  // The code of a status that waits in the pool: no caller can set it.
  static constexpr TSL_Code kDeleted = static_cast<TSL_Code>(31);
  bool is_deleted() const { return code == kDeleted; }

  TSL_Code code = TSL_OK;
  bool pooled = false;  // made by TF_NewStatus, so that TF_DeleteStatus may delete it
  std::string message;
  absl::InlinedVector<std::pair<std::string, std::string>, 1> payloads;
  TSL_Status* next_idle = nullptr;  // of HandlePool
};

namespace tenon {
class HandleLoans;
}
// A tensor as plug-ins see it. An ordinary handle owns a share of the buffer; a lent one does not.
struct TF_Tensor {
  TF_Tensor() = default;
  explicit TF_Tensor(tenon::Tensor value) { Set(std::move(value)); }
  void Set(tenon::Tensor value) {
    dtype = value.dtype();
    shape = value.shape();
    share = std::move(value).TakeBuffer();
    buffer = share.get();
  }
  // A tensor with a share of its own.
  tenon::Tensor value() const {
    if (buffer != nullptr) buffer->Ref();
    return tenon::Tensor(dtype, shape, tenon::BufferRef::Adopt(buffer));
  }
  void* data() const { return buffer == nullptr ? nullptr : buffer->data(); }
  bool is_deleted() const { return deleted; }
  // Gives up what the handle holds. The handle then waits to be used again.
  void End() {
    if (share) share = tenon::BufferRef();
    buffer = nullptr;
    deleted = true;
  }

  tenon::DataType dtype = tenon::DataType::kInvalid;
  tenon::Shape shape;
  tenon::Buffer* buffer = nullptr;
  tenon::BufferRef share;  // owns a share of `buffer`; null while the handle is lent
  bool deleted = false;    // the handle waits in the pool or a loan to be used again
  // While the handle is lent (tensor_handles.h): the lender, the lender's thread and the number of
  // the loan there.
  std::atomic<tenon::HandleLoans*> lender{nullptr};
  const void* lent_by = nullptr;
  int32_t loan = 0;
  TF_Tensor* next_idle = nullptr;  // of HandlePool
};

// A shape as plug-ins see it.
struct TF_Shape {
  using Pool = tenon::Handles<TF_Shape>;
  tenon::PartialShape shape;
};

namespace tenon {

// Copies code, message and payloads from one form to the other.
// StatusToC replaces what `to` held, and leaves out payloads of Tenon's own (IsOwnPayload). Does
// nothing for a null `to`, since a plug-in may pass none. For a deleted `to` it writes a warning
// (WarnOf) and nothing else.
// StatusFromC returns OK for null, INVALID_ARGUMENT for a deleted status. The text of an error that
// has none is "(no message)". A code outside TF_Code became UNKNOWN when the plug-in set it.
void StatusToC(const absl::Status& from, TF_Status* to);
absl::Status StatusFromC(const TF_Status* from);
// Sets the status to OK. A deleted one stays as it is, and a warning is written. ClearStatus does
// the same, does nothing for null, and is cheap for a status that is OK.
void ResetStatus(TF_Status& status);
inline void ClearStatus(TF_Status* status) {
  if (status != nullptr && status->code != TSL_OK) ResetStatus(*status);
}

// A status object for one call into a plug-in.
class CStatus {
 public:
  TF_Status* get() { return &status_; }
  absl::Status ToStatus() const { return StatusFromC(&status_); }

 private:
  TF_Status status_;
};

inline TF_DataType DataTypeToC(DataType t) { return static_cast<TF_DataType>(t); }
inline DataType DataTypeFromC(TF_DataType t) { return static_cast<DataType>(t); }

// Returns a new buffer that owns a copy of `bytes`; null when memory is short. The caller deletes
// it with TF_DeleteBuffer.
TF_Buffer* NewBuffer(std::string_view bytes);
// Copies `bytes` into a buffer whose `data` is null, and which then owns the copy. After that
// `data` is not null, even for no bytes. INVALID_ARGUMENT if `data` is not null or the buffer is
// deleted, RESOURCE_EXHAUSTED when memory is short; the buffer is then as it was.
absl::Status FillBuffer(std::string_view bytes, TF_Buffer* buffer);
// A view of the buffer's bytes, valid until they are replaced or the buffer is deleted. Empty for a
// deleted one.
inline std::string_view BufferBytes(const TF_Buffer& buffer) {
  return {static_cast<const char*>(buffer.data), buffer.data == nullptr ? 0 : buffer.length};
}
// The buffer's bytes, to be kept after the buffer is deleted. They are shared with the buffer where
// NewBuffer or FillBuffer has allocated them. All others are copied: their deallocator may free or
// change them when the buffer is deleted. Throws bad_alloc without memory for the copy.
FileBytes KeepBytes(const TF_Buffer& buffer);

}  // namespace tenon
