// Where TF_Tensor objects come from and go to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "graph/c_api/c_api_internal.h"

namespace tenon {

// Its address tells threads apart.
extern __thread char handle_thread __attribute__((tls_model("initial-exec")));

// A handle on `tensor` for the C interface, released by TF_DeleteTensor. Handles come from a small
// per-thread stock.
TF_Tensor* NewTensorHandle(const Tensor& tensor);
TF_Tensor* NewTensorHandle(Tensor&& tensor);

// Handles for the tensors of one call into a kernel. They take no share of the buffers, which would
// cost more than all else that a handle does; what the plug-in keeps beyond the call gets one in
// the end. One thread at a time opens, lends and settles; the plug-in may read and delete handles
// on any.
class HandleLoans {
 public:
  HandleLoans() = default;
  ~HandleLoans();
  HandleLoans(const HandleLoans&) = delete;
  HandleLoans& operator=(const HandleLoans&) = delete;

  // From now on this thread lends, unless how plug-ins use tensors is watched.
  void Open();
  bool is_open() const { return thread_ != nullptr; }
  // A handle on a tensor that has its buffer until Settle; on other threads than the one that
  // lends, and where that would need memory, an ordinary one.
  TF_Tensor* Lend(const Tensor& tensor) {
    TF_Tensor* const handle = TryLend(tensor);
    return handle != nullptr ? handle : LendNew(tensor);
  }
  // Null where Lend would have to make a handle.
  TF_Tensor* TryLend(const Tensor& tensor) {
    if (thread_ != &handle_thread || used_ == static_cast<int32_t>(loans_.size())) [[unlikely]]
      return nullptr;
    Loan& loan = loans_[used_];
    TF_Tensor* const handle = loan.handle;
    if (handle == nullptr || !tensor.initialized()) [[unlikely]]
      return nullptr;
    loan.buffer = tensor.buffer().get();
    handle->deleted = false;
    handle->dtype = tensor.dtype();
    if ((handle->shape.rank() | tensor.shape().rank()) != 0) SetShape(handle, tensor.shape());
    handle->buffer = loan.buffer;
    handle->lent_by = thread_;
    handle->loan = used_++;
    handle->lender.store(this, std::memory_order_release);
    ++out_;
    return handle;
  }
  // Whether a lent handle on the buffer has not been deleted.
  bool IsOut(const Buffer* buffer) const;
  // Before the call's tensors change hands.
  void Settle();

  // On any thread, nothing to an ordinary handle: it gets a share of the buffer.
  static void Share(TF_Tensor* handle);
  // It is deleted. On any thread.
  static void Return(TF_Tensor* handle);
  // The same if this thread lent it: the lender has the handle back, to lend it again.
  static bool ReturnHere(TF_Tensor* handle);

 private:
  struct Loan {
    TF_Tensor* handle = nullptr;  // from call to call the same; null: to be made
    Buffer* buffer = nullptr;     // null: ended
  };
  TF_Tensor* LendNew(const Tensor& tensor);
  static void SetShape(TF_Tensor* handle, const Shape& shape);
  static void EndElsewhere(TF_Tensor* handle, bool share);
  void SettleRest();

  const void* thread_ = nullptr;  // that lends, if one does; changes only between calls
  std::array<Loan, 8> loans_;
  int32_t used_ = 0;  // of loans_, in this call
  int32_t out_ = 0;   // not ended, as far as this thread knows
  std::vector<int32_t> ended_elsewhere_;
};

}  // namespace tenon
