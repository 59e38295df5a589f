#pragma once

#include "absl/status/status.h"

namespace tenon {

// oneDNN is not linked but opened at run time, privately: a plug-in may bring its own copy, and a
// linked one would take its place (or be replaced by it). The C functions behind dnnl.hpp are
// hidden stubs, generated at build time, that jump through a table which EnsureOneDnn() fills.
//
// Opens oneDNN and binds the stubs at the first call; later calls cost one atomic load. Call it
// before the first use of dnnl.hpp on any path, and before the first plug-in is opened. Until then,
// and after a failure, each dnnl_* function returns dnnl_runtime_error, so dnnl.hpp throws
// dnnl::error.
//
// Errors: NOT_FOUND if the library is missing or lacks a function that we were built against.
// Thread-safe. The library stays open for the life of the process.
absl::Status EnsureOneDnn();

// While it lives, oneDNN computes with one OpenMP thread in this thread; after that with as many as
// before. Costs a few nanoseconds where that number is one already. After EnsureOneDnn().
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_ = 1;
};

}  // namespace tenon
