// Counts what this thread asks the heap for, in this test program.
#pragma once

#include <cstdint>
#include <optional>

namespace tenon::testing {

// Since the thread began; nullopt under a sanitizer, which has the heap for itself.
std::optional<int64_t> HeapAllocations();

}  // namespace tenon::testing
