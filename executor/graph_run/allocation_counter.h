// Counts the heap allocations of the whole process, libraries and plug-ins included, by standing in
// front of the C library's functions.
#pragma once

#include <cstdint>

namespace graph_run {

// As tenon::AllocationCounter. In builds with a sanitizer, which has allocation functions of its
// own, always -1.
int64_t CountAllocations(bool count);

}  // namespace graph_run
