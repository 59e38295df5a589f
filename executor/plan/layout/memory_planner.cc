// Offline dynamic storage allocation, in two ways, of which the smaller arena wins: best fit along
// the steps, and, for a limited number of buffers, the largest first into the smallest gap. Buffers
// of less than a cache line lie together at the front.

#include "executor/plan/layout/memory_planner.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace tenon {
namespace {

constexpr uint64_t kCacheLine = 64;
constexpr size_t kMaxForQuadratic = 1500;  // buffers; BestGap looks at all buffers placed before

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

uint64_t RoundedSize(uint64_t bytes) {
  return bytes < kCacheLine ? std::bit_ceil(std::max<uint64_t>(bytes, 4))
                            : RoundUp(bytes, kCacheLine);
}

using Ids = std::vector<int32_t>;

// A walk over the steps. `births` and `deaths` are indices of requests, by first and by last step.
struct Sweep {
  Ids by_first, by_last;
  Sweep(absl::Span<const BufferRequest> requests, Ids ids)
      : by_first(ids), by_last(std::move(ids)) {
    std::stable_sort(by_first.begin(), by_first.end(),
                     [&](int32_t a, int32_t b) { return requests[a].first < requests[b].first; });
    std::stable_sort(by_last.begin(), by_last.end(),
                     [&](int32_t a, int32_t b) { return requests[a].last < requests[b].last; });
  }
  // Calls born(id) for each buffer in order of first steps. Before that it calls dead(id) for all
  // buffers with an earlier last step: a buffer that dies in a step is still in use in that step.
  template <typename Born, typename Dead>
  void Walk(absl::Span<const BufferRequest> requests, Born born, Dead dead) const {
    size_t d = 0;
    for (int32_t id : by_first) {
      while (d < by_last.size() && requests[by_last[d]].last < requests[id].first)
        dead(by_last[d++]);
      born(id);
    }
  }
};

uint64_t LowerBound(absl::Span<const BufferRequest> requests, const Sweep& sweep) {
  uint64_t live = 0, most = 0;
  sweep.Walk(
      requests, [&](int32_t id) { most = std::max(most, live += RoundedSize(requests[id].bytes)); },
      [&](int32_t id) { live -= RoundedSize(requests[id].bytes); });
  return most;
}

// Places buffers of less than 64 bytes. Each size, a power of two, has a stack of free places. A
// size without a free place splits a new cache line. Returns the number of bytes used.
uint64_t PlaceSmall(absl::Span<const BufferRequest> requests, const Sweep& sweep,
                    std::vector<uint64_t>& offsets) {
  std::vector<uint64_t> free[8];  // by log2 of the size: 2 (4 bytes) to 6 (64 bytes)
  uint64_t end = 0;
  auto places = [&](uint64_t size) -> std::vector<uint64_t>& {
    return free[std::countr_zero(size)];
  };
  sweep.Walk(
      requests,
      [&](int32_t id) {
        const uint64_t size = RoundedSize(requests[id].bytes);
        std::vector<uint64_t>& stack = places(size);
        if (stack.empty()) {
          for (uint64_t at = kCacheLine; at >= size; at -= size) stack.push_back(end + at - size);
          end += kCacheLine;
        }
        offsets[id] = stack.back();
        stack.pop_back();
      },
      [&](int32_t id) { places(RoundedSize(requests[id].bytes)).push_back(offsets[id]); });
  return end;
}

// The free parts of an arena that grows at its end. Neighbouring free parts are always joined.
class FreeList {
 public:
  // The offset of a part of this size: best fit, else the end of the arena.
  uint64_t Take(uint64_t size) {
    auto fit = by_size_.lower_bound({size, 0});
    if (fit == by_size_.end()) return Grow(size);
    const auto [bytes, offset] = *fit;
    Erase(offset, bytes);
    if (bytes > size) Insert(offset + size, bytes - size);
    return offset;
  }
  void Give(uint64_t offset, uint64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + size == next->first) {
      const uint64_t bytes = next->second;
      Erase(next->first, bytes);
      size += bytes;
    }
    auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin() && (--before)->first + before->second == offset) {
      const auto [at, bytes] = *before;
      Erase(at, bytes);
      offset = at;
      size += bytes;
    }
    Insert(offset, size);
  }
  uint64_t end() const { return end_; }

 private:
  // A free part at the end of the arena, though too small, is the beginning of the new one.
  uint64_t Grow(uint64_t size) {
    uint64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [at, bytes] = *by_offset_.rbegin();
      if (at + bytes == end_) {
        Erase(at, bytes);
        offset = at;
      }
    }
    end_ = offset + size;
    return offset;
  }
  void Insert(uint64_t offset, uint64_t size) {
    by_offset_[offset] = size;
    by_size_.emplace(size, offset);
  }
  void Erase(uint64_t offset, uint64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }
  std::map<uint64_t, uint64_t> by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
  uint64_t end_ = 0;
};

uint64_t PlaceBySweep(absl::Span<const BufferRequest> requests, const Sweep& sweep,
                      std::vector<uint64_t>& offsets) {
  FreeList free;
  sweep.Walk(
      requests, [&](int32_t id) { offsets[id] = free.Take(RoundedSize(requests[id].bytes)); },
      [&](int32_t id) { free.Give(offsets[id], RoundedSize(requests[id].bytes)); });
  return free.end();
}

// Places the largest buffers first, each into the smallest gap that it fits into. Gaps lie between
// placed buffers that are in use together with it; without a gap it comes behind the last of these
// buffers. Returns the end of the arena.
template <typename Together>
uint64_t PlaceBySize(absl::Span<const BufferRequest> requests, Ids ids,
                     std::vector<uint64_t>& offsets, const Together& together) {
  std::stable_sort(ids.begin(), ids.end(),
                   [&](int32_t a, int32_t b) { return requests[a].bytes > requests[b].bytes; });
  Ids by_offset;
  uint64_t arena_end = 0;
  for (int32_t id : ids) {
    const uint64_t size = RoundedSize(requests[id].bytes);
    uint64_t end = 0, best = UINT64_MAX, best_gap = UINT64_MAX;
    for (int32_t other : by_offset) {
      if (!together(id, other)) continue;
      if (offsets[other] >= end + size && offsets[other] - end < best_gap) {
        best = end;
        best_gap = offsets[other] - end;
      }
      end = std::max(end, offsets[other] + RoundedSize(requests[other].bytes));
    }
    offsets[id] = best == UINT64_MAX ? end : best;
    arena_end = std::max(arena_end, offsets[id] + size);
    by_offset.insert(
        std::upper_bound(by_offset.begin(), by_offset.end(), id,
                         [&](int32_t a, int32_t b) { return offsets[a] < offsets[b]; }),
        id);
  }
  return arena_end;
}

}  // namespace

ArenaLayout PlanArena(absl::Span<const BufferRequest> requests) {
  Ids all, small, large;
  for (int32_t id = 0; id < static_cast<int32_t>(requests.size()); ++id) {
    if (requests[id].bytes == 0) continue;
    all.push_back(id);
    (requests[id].bytes < kCacheLine ? small : large).push_back(id);
  }
  ArenaLayout layout;
  layout.offsets.resize(requests.size(), 0);
  layout.lower_bound = LowerBound(requests, Sweep(requests, all));
  const uint64_t small_end =
      RoundUp(PlaceSmall(requests, Sweep(requests, small), layout.offsets), kCacheLine);
  uint64_t large_end = PlaceBySweep(requests, Sweep(requests, large), layout.offsets);
  if (large.size() <= kMaxForQuadratic) {
    std::vector<uint64_t> offsets(requests.size(), 0);
    const uint64_t end = PlaceBySize(requests, large, offsets, [&](int32_t a, int32_t b) {
      return requests[a].last >= requests[b].first && requests[b].last >= requests[a].first;
    });
    if (end < large_end) {
      large_end = end;
      for (int32_t id : large) layout.offsets[id] = offsets[id];
    }
  }
  // Small buffers lie at the front, large ones behind them.
  for (int32_t id : large) layout.offsets[id] += small_end;
  layout.bytes = small_end + large_end;
  return layout;
}

ArenaLayout PlanArena(absl::Span<const BufferRequest> requests,
                      absl::FunctionRef<bool(int32_t a, int32_t b)> together) {
  ArenaLayout layout;
  layout.offsets.resize(requests.size(), 0);
  Ids all, large;
  uint64_t small_end = 0;
  for (int32_t id = 0; id < static_cast<int32_t>(requests.size()); ++id) {
    const uint64_t bytes = requests[id].bytes;
    if (bytes == 0) continue;
    all.push_back(id);
    if (bytes >= kCacheLine) {
      large.push_back(id);
      continue;
    }
    layout.offsets[id] = RoundUp(small_end, RoundedSize(bytes));
    small_end = layout.offsets[id] + RoundedSize(bytes);
  }
  layout.lower_bound = LowerBound(requests, Sweep(requests, all));
  small_end = RoundUp(small_end, kCacheLine);
  layout.bytes = small_end + PlaceBySize(requests, large, layout.offsets, together);
  for (int32_t id : large) layout.offsets[id] += small_end;
  return layout;
}

}  // namespace tenon
