// Handles are made in two cheap ways. A loan is a handle of a call's own, which refers to a tensor
// without a share; it becomes an ordinary handle if the plug-in keeps it. An ordinary handle comes
// from a pool.

#include "graph/c_api/tensor_handles.h"

#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/mutex.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/callback_scope.h"
#include "tensorflow/c/tf_tensor.h"

namespace tenon {
namespace {

constexpr char kTensorType[] = "TF_Tensor";

// Guards loans that end on other threads than the lending one. One mutex for all contexts: this is
// rare, and a context may be gone when a thread wants its mutex.
absl::Mutex other_threads(absl::kConstInit);

inline void EndLoan(TF_Tensor* handle, bool share) {
  if (share) {
    handle->buffer->Ref();
    handle->share = BufferRef::Adopt(handle->buffer);
  } else {
    handle->buffer = nullptr;
  }
  // Last: another thread that sees no lender may use what is written above.
  handle->lender.store(nullptr, std::memory_order_release);
}

}  // namespace

// Its address names the thread.
__thread char handle_thread;

TF_Tensor* NewTensorHandle(const Tensor& tensor) { return NewTensorHandle(Tensor(tensor)); }

TF_Tensor* NewTensorHandle(Tensor&& tensor) {
  TF_Tensor* const handle = HandlePool<TF_Tensor>::Take();
  handle->deleted = false;
  handle->Set(std::move(tensor));
  if (AbiWatch* watch = AbiWatch::Active()) [[unlikely]]
    watch->Made(handle, kTensorType);
  return handle;
}

TF_Tensor* HandleLoans::LendNew(const Tensor& tensor) {
  const bool lends = thread_ == &handle_thread && used_ < static_cast<int32_t>(loans_.size());
  if (!lends || !tensor.initialized()) return NewTensorHandle(tensor);
  loans_[used_].handle = HandlePool<TF_Tensor>::Take();
  return TryLend(tensor);
}

void HandleLoans::SetShape(TF_Tensor* handle, const Shape& shape) { handle->shape = shape; }

void HandleLoans::Open() { thread_ = AbiWatch::Active() == nullptr ? &handle_thread : nullptr; }

HandleLoans::~HandleLoans() {
  for (const Loan& loan : loans_) {
    if (loan.handle == nullptr) continue;
    loan.handle->End();
    HandlePool<TF_Tensor>::Give(loan.handle);
  }
}

bool HandleLoans::IsOut(const Buffer* buffer) const {
  if (thread_ == nullptr) return false;
  if (thread_ != &handle_thread) return true;  // the loans may be read on the lending thread only
  for (int32_t i = 0; i < used_; ++i) {
    if (loans_[i].buffer == buffer) return true;
  }
  return false;
}

void HandleLoans::Settle() {
  if (out_ > 0) SettleRest();
  used_ = 0;
  thread_ = nullptr;
}

// Every handle that is still out becomes an ordinary one, with a share, before the tensors of the
// call change hands. The handle is the plug-in's from then on, so its loan gets a new one.
void HandleLoans::SettleRest() {
  absl::MutexLock lock(&other_threads);
  for (const int32_t i : ended_on_other_threads_) loans_[i] = Loan();
  ended_on_other_threads_.clear();
  for (int32_t i = 0; i < used_; ++i) {
    if (loans_[i].buffer == nullptr) continue;
    EndLoan(loans_[i].handle, /*share=*/true);
    loans_[i] = Loan();
  }
  out_ = 0;
}

void HandleLoans::Share(TF_Tensor* handle) {
  if (handle->lender.load(std::memory_order_acquire) == nullptr) return;
  // The lender's tables belong to its thread. Other threads only append to a list under the mutex.
  if (handle->lent_by != &handle_thread) return EndOnOtherThread(handle, /*share=*/true);
  HandleLoans& lender = *handle->lender.load(std::memory_order_acquire);
  --lender.out_;
  lender.loans_[handle->loan] = Loan();
  EndLoan(handle, /*share=*/true);
}

// The common end of a loan: no atomic counter and no allocation, the handle stays in its loan.
inline bool HandleLoans::ReturnHere(TF_Tensor* handle) {
  HandleLoans* const lender = handle->lender.load(std::memory_order_acquire);
  if (lender == nullptr || handle->lent_by != &handle_thread) [[unlikely]]
    return false;
  --lender->out_;
  lender->loans_[handle->loan].buffer = nullptr;
  EndLoan(handle, /*share=*/false);
  handle->deleted = true;
  return true;
}

void HandleLoans::Return(TF_Tensor* handle) {
  HandleLoans* const lender = handle->lender.load(std::memory_order_acquire);
  if (lender == nullptr) return;
  if (handle->lent_by != &handle_thread) return EndOnOtherThread(handle, /*share=*/false);
  --lender->out_;
  lender->loans_[handle->loan] = Loan();
  EndLoan(handle, /*share=*/false);
}

void HandleLoans::EndOnOtherThread(TF_Tensor* handle, bool share) {
  absl::MutexLock lock(&other_threads);
  // The lender may have settled, and may even be gone, before this thread got the mutex.
  HandleLoans* const lender = handle->lender.load(std::memory_order_acquire);
  if (lender == nullptr) return;
  lender->ended_on_other_threads_.push_back(handle->loan);
  EndLoan(handle, share);
}

// Deletes a handle that ReturnHere does not take: an ordinary one, or one lent by another thread.
[[gnu::noinline]] static void GiveBack(TF_Tensor* handle) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch != nullptr && !watch->TakeBack(handle, kTensorType)) return;
  HandleLoans::Return(handle);
  // To take the handle a second time would hand it out twice, and two tensors would share it. A
  // plug-in that does this ends like one that frees memory twice: its answers are worth nothing.
  if (handle->deleted) {
    std::fputs("TF_DeleteTensor: this handle is deleted already\n", stderr);
    if (CurrentCallback() != nullptr) std::abort();
    return;
  }
  handle->End();
  if (watch != nullptr) handle->shape = Shape();  // what is buried owns nothing
  GiveOrBury(handle);
}

}  // namespace tenon

extern "C" void TF_DeleteTensor(TF_Tensor* tensor) {
  if (tensor == nullptr) return;
  if (!tenon::HandleLoans::ReturnHere(tensor)) tenon::GiveBack(tensor);
}
