// Makes, lends and recycles TF_Tensor objects.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "graph/c_api/c_api_internal.h"

namespace tenon {

// A variable per thread: its address identifies the thread, more cheaply than a thread id.
extern __thread char handle_thread __attribute__((tls_model("initial-exec")));

// Returns a handle on `tensor`, with a share of the buffer. The plug-in or the host releases the
// handle with TF_DeleteTensor, on any thread. Deleted handles go to HandlePool, from which new ones
// come. While AbiWatch is on, each handle is recorded (AbiWatch::Made), and a deleted one is
// buried. Throws bad_alloc without memory for a handle.
TF_Tensor* NewTensorHandle(const Tensor& tensor);
TF_Tensor* NewTensorHandle(Tensor&& tensor);

// Lends handles for the tensors of one call into a kernel. A lent handle has no share of the
// buffer: a share would cost more than all else that a handle does. Settle gives a share to each
// handle that the plug-in keeps beyond the call. One thread, the lending thread, calls Open and
// then Settle, once for each call into the kernel. In between any thread may call Lend, TryLend and
// IsOut, and the plug-in may read and delete handles on any thread.
class HandleLoans {
 public:
  HandleLoans() = default;
  ~HandleLoans();  // only after Settle
  HandleLoans(const HandleLoans&) = delete;
  HandleLoans& operator=(const HandleLoans&) = delete;

  // From now on, until Settle, this thread lends. While AbiWatch is on, it does not: Lend then
  // returns ordinary handles, which are recorded.
  void Open();
  // Whether a thread lends now; false while AbiWatch is on.
  bool is_open() const { return thread_ != nullptr; }
  // Returns a handle on `tensor`, which must keep its buffer until Settle. The plug-in releases the
  // handle with TF_DeleteTensor. The handle is an ordinary one, of NewTensorHandle, on other
  // threads than the lending one, for an uninitialized tensor, and from the ninth loan of a call
  // on.
  TF_Tensor* Lend(const Tensor& tensor) {
    TF_Tensor* const handle = TryLend(tensor);
    return handle != nullptr ? handle : LendNew(tensor);
  }
  // Lend for the common case; null where a handle has to be made.
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
  // Whether the plug-in may still have a lent handle on the buffer. False unless is_open(). True
  // also if the handle was deleted on another thread than the lending one, and, while is_open(),
  // for every buffer if this is not the lending thread.
  bool IsOut(const Buffer* buffer) const;
  // Ends all loans; call it before the tensors of the call change hands. A handle that the plug-in
  // has not deleted becomes an ordinary one.
  void Settle();

  // Makes an ordinary handle of a lent one, with a share of the buffer. Does nothing to an ordinary
  // handle. On any thread.
  static void Share(TF_Tensor* handle);
  // Ends the loan of a handle that the plug-in deletes; the caller then frees the handle. Does
  // nothing to an ordinary handle. On any thread.
  static void Return(TF_Tensor* handle);
  // Return, but the lender keeps the handle for its next call: the caller must not free it. Only if
  // this thread lent the handle; otherwise does nothing and returns false.
  static bool ReturnHere(TF_Tensor* handle);

 private:
  struct Loan {
    TF_Tensor* handle = nullptr;  // used again in each call; null: not made yet
    Buffer* buffer = nullptr;     // null: the loan has ended
  };
  TF_Tensor* LendNew(const Tensor& tensor);
  static void SetShape(TF_Tensor* handle, const Shape& shape);
  static void EndOnOtherThread(TF_Tensor* handle, bool share);
  void SettleRest();

  const void* thread_ = nullptr;  // the lending thread, or null; changes only between calls
  std::array<Loan, 8> loans_;
  int32_t used_ = 0;  // of loans_, in this call
  int32_t out_ = 0;   // loans that have not ended on this thread
  std::vector<int32_t> ended_on_other_threads_;
};

}  // namespace tenon
