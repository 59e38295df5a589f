// CPU threads that sessions share.
#pragma once

#include <memory>

#include "tenon/error.h"
#include "tenon/internal/own.h"

namespace tenon::inline v0 {

// The threads of sessions: their runs, the nodes of a run and the tiles of large kernels. Copies
// are the same pool, whose threads end with the last copy and the last session that has it. May be
// used by several threads at once.
class ThreadPool {
 public:
  // No pool: sessions share the threads of the process.
  ThreadPool() = default;
  // A pool of this number of threads, that of the caller of a run among them; 0: as many as cores
  // that the process may use. INVALID_ARGUMENT for a number below 0 or above 4096. UNIMPLEMENTED on
  // a library other than Tenon.
  explicit ThreadPool(int threads, Where where = Where::current()) {
    internal::NeedTenon(TENON_NewThreadPool, "A ThreadPool", where);
    TF_Status* const status = internal::ThreadStatus();
    TENON_ThreadPool* const pool = TENON_NewThreadPool(threads, status);
    internal::Check(status, where);
    pool_.reset(pool, TENON_DeleteThreadPool);
  }

  // The number of threads, with that of the caller of a run; 0 for no pool.
  int size() const { return pool_ == nullptr ? 0 : TENON_ThreadPoolSize(pool_.get()); }

  // --- Of this library's own headers.
  static ThreadPool Take(TENON_ThreadPool* pool) {
    ThreadPool result;
    result.pool_.reset(pool, TENON_DeleteThreadPool);
    return result;
  }
  TENON_ThreadPool* get() const { return pool_.get(); }

 private:
  std::shared_ptr<TENON_ThreadPool> pool_;
};

}  // namespace tenon::inline v0
