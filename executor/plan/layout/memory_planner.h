// Plans the offsets of buffers in one arena. All lifetimes are known beforehand (offline dynamic
// storage allocation). The problem is NP-hard; the solution is greedy.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace tenon {

// One buffer, in use from step `first` to step `last`, both included. Two buffers that are in use
// in one step do not overlap.
struct BufferRequest {
  uint64_t bytes = 0;
  int32_t first = 0;  // the step that writes it
  int32_t last = 0;   // the last step that reads it; >= first
};

struct ArenaLayout {
  std::vector<uint64_t> offsets;  // by request, in bytes; 0 for requests of no bytes
  uint64_t bytes = 0;             // the size of the arena, a multiple of 64
  // The largest sum of sizes, each rounded up to its alignment, that are in use at once.
  uint64_t lower_bound = 0;
};

// Buffers of 64 bytes and more are aligned to 64 bytes. Smaller buffers are aligned to their size,
// rounded up to a power of two (at least 4), and packed at the front; the space that was freed last
// is reused first, so that chains of scalars stay in a few cache lines. For up to 1,500 large
// buffers, greedy by size (arXiv:2001.03288) and a best-fit sweep are both tried and the smaller
// arena wins. For more only the sweep runs, so that planning stays O(n log n).
//
// Cannot fail. The sum of all sizes must be below 2^63. Equal requests give equal layouts.
ArenaLayout PlanArena(absl::Span<const BufferRequest> requests);

// The same for buffers whose uses are not all in one order: `together(a, b)` says whether the
// buffers with these indices may be in use at once. It must be symmetric. Buffers of less than 64
// bytes share no memory. Takes O(n^2) for buffers of 64 bytes and more. `first` and `last` of the
// requests are of one order that the uses may have, and decide on `lower_bound` alone.
ArenaLayout PlanArena(absl::Span<const BufferRequest> requests,
                      absl::FunctionRef<bool(int32_t a, int32_t b)> together);

}  // namespace tenon
