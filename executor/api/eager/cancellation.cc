#include "executor/api/eager/cancellation.h"

#include <utility>

#include "graph/c_api/without_memory.h"

namespace tenon::eager {

void CancellationManager::Cancel() {
  absl::flat_hash_map<int64_t, std::function<void()>> callbacks;
  {
    absl::MutexLock lock(&mutex_);
    if (cancelling_ || cancelled()) return;
    cancelling_ = true;
    callbacks.swap(callbacks_);
  }
  for (const auto& [token, callback] : callbacks) callback();
  absl::MutexLock lock(&mutex_);
  cancelled_.store(true, std::memory_order_release);
  cancelling_ = false;
}

void CancellationManager::End() {
  {
    absl::MutexLock lock(&mutex_);
    if (callbacks_.empty()) return;
  }
  Cancel();
}

bool CancellationManager::cancelling() const {
  absl::MutexLock lock(&mutex_);
  return cancelling_;
}

bool CancellationManager::Register(int64_t token, std::function<void()> callback) {
  absl::MutexLock lock(&mutex_);
  if (cancelling_ || cancelled()) return false;
  callbacks_[token] = std::move(callback);
  return true;
}

bool CancellationManager::Deregister(int64_t token, bool wait) {
  absl::MutexLock lock(&mutex_);
  if (cancelling_ && wait) mutex_.Await(absl::Condition(this, &CancellationManager::settled));
  if (cancelling_ || cancelled()) return false;
  callbacks_.erase(token);
  return true;
}

}  // namespace tenon::eager

using tenon::eager::CancellationManager;

using tenon::IsThere;

extern "C" {

TFE_CancellationManager* TFE_NewCancellationManager(void) try {
  return TFE_CancellationManager::Pool::New();
} catch (...) {
  return tenon::WithoutMemory();
}

void TFE_DeleteCancellationManager(TFE_CancellationManager* manager) {
  if (!IsThere(manager)) return;
  manager->manager->End();
  TFE_CancellationManager::Pool::Delete(manager);
}

void TFE_CancellationManagerStartCancel(TFE_CancellationManager* manager) try {
  if (IsThere(manager)) manager->manager->Cancel();
} catch (...) {
  tenon::WithoutMemory();
}

bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager* manager) {
  return IsThere(manager) && manager->manager->cancelled();
}

bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager* manager) {
  return IsThere(manager) && manager->manager->cancelling();
}

TFE_CancellationToken TFE_CancellationManagerGetToken(TFE_CancellationManager* manager) {
  return IsThere(manager) ? manager->manager->NewToken() : -1;
}

bool TFE_CancellationManagerRegisterCallback(TFE_CancellationManager* manager,
                                             TFE_CancellationToken token,
                                             const TFE_CancelCallback* c_callback,
                                             const char* /*callback_name*/) try {
  if (!IsThere(manager) || c_callback == nullptr || c_callback->callback == nullptr) return false;
  return manager->manager->Register(
      token, [callback = *c_callback] { callback.callback(callback.context); });
} catch (...) {
  return tenon::WithoutMemory();
}

bool TFE_CancellationManagerDeregisterCallback(TFE_CancellationManager* manager,
                                               TFE_CancellationToken token) {
  return IsThere(manager) && manager->manager->Deregister(token, /*wait=*/true);
}

bool TFE_CancellationManagerTryDeregisterCallback(TFE_CancellationManager* manager,
                                                  TFE_CancellationToken token) {
  return IsThere(manager) && manager->manager->Deregister(token, /*wait=*/false);
}

}  // extern "C"
