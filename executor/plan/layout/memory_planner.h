// Plans the offsets of buffers in one arena. All lifetimes are known beforehand (offline dynamic
// storage allocation); the solution is greedy.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tenon {

struct BufferRequest {
  uint64_t bytes = 0;
  int32_t first = 0;  // the step that writes it
  int32_t last = 0;   // the last step that reads it; >= first. Buffers that are both in use in one
                      // step do not overlap
};

struct ArenaLayout {
  std::vector<uint64_t> offsets;  // by request; 0 for requests of no bytes
  uint64_t bytes = 0;
  uint64_t lower_bound =
      0;  // the largest sum of sizes (rounded to their alignment) that live at once
};

// Buffers of 64 bytes and more are aligned to 64 bytes. Smaller buffers are aligned to their size,
// rounded up to a power of two (at least 4), and packed at the front; the space that was freed last
// is reused first, so that chains of scalars stay in a few cache lines. For few buffers, greedy by
// size (arXiv:2001.03288) and a best-fit sweep are both tried and the smaller arena wins. For many
// buffers only the sweep runs, so that planning stays O(n log n).
ArenaLayout PlanArena(absl::Span<const BufferRequest> requests);

}  // namespace tenon
