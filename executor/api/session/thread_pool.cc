// TENON_ThreadPool: threads that sessions share because the program says so.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/session/tf_session.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/cpu/base/workers.h"
#include "tenon/tenon_c.h"

struct TENON_ThreadPool {
  using Pool = tenon::Handles<TENON_ThreadPool>;
  explicit TENON_ThreadPool(std::shared_ptr<tenon::Workers> w) : workers(std::move(w)) {}
  const std::shared_ptr<tenon::Workers> workers;
};

namespace {

constexpr int kMostThreads = 4096;

}  // namespace

extern "C" {

TENON_ThreadPool* TENON_NewThreadPool(int threads, TF_Status* status) try {
  if (!tenon::api::AllGiven({}, status)) return nullptr;
  if (threads < 0 || threads > kMostThreads) {
    tenon::StatusToC(absl::InvalidArgumentError(absl::StrCat(
                         "a pool has 1 to ", kMostThreads,
                         " threads, or 0 for the cores that the process may use, not ", threads)),
                     status);
    return nullptr;
  }
  tenon::StatusToC(absl::OkStatus(), status);
  return TENON_ThreadPool::Pool::New(
      std::make_shared<tenon::Workers>(threads > 0 ? threads : tenon::DefaultThreads()));
} catch (...) {
  return tenon::WithoutMemory(status);
}

TENON_ThreadPool* TENON_ThreadPoolOfSession(TF_Session* session, TF_Status* status) try {
  if (!tenon::api::IsSession(session, status)) return nullptr;
  tenon::StatusToC(absl::OkStatus(), status);
  return TENON_ThreadPool::Pool::New(session->made->core().session().workers());
} catch (...) {
  return tenon::WithoutMemory(status);
}

int TENON_ThreadPoolSize(const TENON_ThreadPool* pool) {
  return tenon::IsThere(pool) ? pool->workers->threads() : 0;
}

void TENON_SetThreadPool(TF_SessionOptions* options, const TENON_ThreadPool* pool,
                         TF_Status* status) try {
  if (!tenon::api::AllGiven({{"options", options}}, status) ||
      !tenon::api::NoneDeleted({{"pool", pool}}, status))
    return;
  options->workers = pool == nullptr ? nullptr : pool->workers;
  tenon::StatusToC(absl::OkStatus(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TENON_DeleteThreadPool(TENON_ThreadPool* pool) { tenon::DeleteHandle(pool); }

}  // extern "C"
