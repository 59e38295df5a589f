// What a caller of Device's copies grants them: how long they may wait, and which threads help.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace tenon {

// Calls body(i) once for each i in [0, n), perhaps on several threads at once, and returns when all
// calls have ended. If the run is to end, some calls are left out, and it throws RunEnded.
using CopyLoop = absl::FunctionRef<void(int64_t n, absl::FunctionRef<void(int64_t i)> body)>;

// Holds for the copies that the calling thread queues until the scope ends. Scopes may be nested.
class CopyScope {
 public:
  // `timeout_s`: the limit of each wait of a copy, for memory that earlier copies still use, or for
  // the copy's own end where that is waited for. `threads`: how many may help, the calling thread
  // among them; `loop` brings them in, and must outlive the scope.
  CopyScope(double timeout_s, int threads, CopyLoop loop);
  // No help: the calling thread alone copies.
  explicit CopyScope(double timeout_s);
  ~CopyScope();
  CopyScope(const CopyScope&) = delete;
  CopyScope& operator=(const CopyScope&) = delete;

  // Of the innermost scope of the calling thread; without one 60 seconds, and this thread alone.
  static double timeout_s();
  static int threads();
  static void Loop(int64_t n, absl::FunctionRef<void(int64_t i)> body);

 private:
  CopyLoop loop_;
  const double timeout_s_;
  const int threads_;
  const CopyScope* const outer_;
};

}  // namespace tenon
