#pragma once

#include "absl/status/status.h"

namespace tenon {

// oneDNN is not linked. The process opens oneDNN at run time with private symbols, because a
// plug-in may bring a copy of its own: the symbols of a linked oneDNN would replace the copy's
// symbols, or the reverse. The C functions behind dnnl.hpp are hidden stubs, generated at build
// time. The stubs jump through a table that EnsureOneDnn() fills.
//
// Opens oneDNN, limits its instruction set if TENON_ISA is set (isa.h), and binds the stubs at the
// first call. Later calls cost one atomic load and return the first call's status. Call
// EnsureOneDnn() before the first use of dnnl.hpp on any path, and before the first plug-in is
// opened. Before that call, and after a failure, each dnnl_* function returns the number of
// dnnl_runtime_error, even a function that returns no status. dnnl.hpp throws dnnl::error where it
// checks a status.
//
// NOT_FOUND if the library cannot be opened or lacks a function that this program was built
// against.
// Thread-safe. The library stays open for the life of the process.
absl::Status EnsureOneDnn();

// Limits oneDNN to one OpenMP thread in the calling thread, for the life of the object. The
// destructor, in the same thread, restores the previous number of threads. The cost is a few
// nanoseconds if the number is 1 already. Without a successful EnsureOneDnn() before, or if oneDNN
// does not use OpenMP, the object has no effect.
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
