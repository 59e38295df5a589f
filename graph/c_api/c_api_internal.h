// What stands behind the opaque types of the C interface, for the code that implements it.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

// Setting it to TF_OK allocates and frees nothing.
struct TSL_Status {
  TSL_Code code = TSL_OK;
  std::string message;
  absl::InlinedVector<std::pair<std::string, std::string>, 1> payloads;
};

namespace tenon {
class HandleLoans;
}
struct TF_Tensor {
  TF_Tensor() = default;
  explicit TF_Tensor(tenon::Tensor value) { Set(std::move(value)); }
  void Set(tenon::Tensor value) {
    dtype = value.dtype();
    shape = value.shape();
    share = std::move(value).TakeBuffer();
    buffer = share.get();
  }
  tenon::Tensor value() const {
    if (buffer != nullptr) buffer->Ref();
    return tenon::Tensor(dtype, shape, tenon::BufferRef::Adopt(buffer));
  }
  void* data() const { return buffer == nullptr ? nullptr : buffer->data(); }

  tenon::DataType dtype = tenon::DataType::kInvalid;
  tenon::Shape shape;
  tenon::Buffer* buffer = nullptr;
  tenon::BufferRef share;  // of the buffer; not while it is lent
  bool deleted = false;    // and waits to be used again
  // While it is lent (tensor_handles.h): by whom, on which thread, its number there.
  std::atomic<tenon::HandleLoans*> lender{nullptr};
  const void* lent_by = nullptr;
  int32_t loan = 0;
};

struct TF_Shape {
  tenon::PartialShape shape;
};

namespace tenon {

// Codes, messages and payloads, both ways. A null `to` is ignored: a plug-in may pass none. A code
// outside TF_Code became UNKNOWN when it was set; an error without a message says so.
void StatusToC(const absl::Status& from, TF_Status* to);
absl::Status StatusFromC(const TF_Status* from);
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

// A buffer that owns a copy of `bytes`.
TF_Buffer* NewBuffer(std::string_view bytes);
// Fills an empty buffer of the caller with a copy of `bytes`; INVALID_ARGUMENT if it is not empty,
// RESOURCE_EXHAUSTED without memory.
absl::Status FillBuffer(std::string_view bytes, TF_Buffer* buffer);
inline std::string_view BufferBytes(const TF_Buffer& buffer) {
  return {static_cast<const char*>(buffer.data), buffer.data == nullptr ? 0 : buffer.length};
}

}  // namespace tenon
