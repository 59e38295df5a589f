// Offsets in one arena for buffers whose lifetimes are known: the offline problem, solved greedily.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace tenon {

struct BufferRequest {
  uint64_t bytes = 0;
  int32_t first = 0;  // the step that writes it
  int32_t last = 0;   // the last step that reads it; >= first. Two buffers that meet in one step do
                      // not share memory
};

struct ArenaLayout {
  std::vector<uint64_t> offsets;  // by request; 0 for requests of no bytes
  uint64_t bytes = 0;
  uint64_t lower_bound =
      0;  // the largest sum of sizes (rounded to their alignment) that live at once
};

// Buffers of 64 bytes and more are aligned to 64; smaller ones to their size rounded up to a power
// of two (at least 4), packed in front, the one freed last reused first, so that chains of scalars
// stay in a few cache lines. Greedy by size (arXiv:2001.03288) and a best-fit sweep are both tried
// while there are few buffers, the smaller one wins; beyond that only the sweep, so that planning
// stays O(n log n).
ArenaLayout PlanArena(absl::Span<const BufferRequest> requests);

}  // namespace tenon
