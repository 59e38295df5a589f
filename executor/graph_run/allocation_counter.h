// Counts the heap allocations of the whole process, libraries and plug-ins included. The program
// defines malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign itself, in front of
// the C library's functions. Others (valloc, pvalloc) are not counted.
#pragma once

#include <cstdint>

namespace graph_run {

// Starts (true) or stops (false) counting, and returns how many allocations were counted since the
// program began: a later start goes on from there. See tenon::AllocationCounter. Thread-safe.
// Always -1 in builds with AddressSanitizer or ThreadSanitizer, which have allocation functions of
// their own.
int64_t CountAllocations(bool count);

}  // namespace graph_run
