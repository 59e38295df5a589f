// Finds the candidate that is closest to a misspelt name, for "did you mean".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

// Returns the edit distance of `a` and `b`: the least number of insertions, deletions,
// substitutions and swaps of neighbouring bytes that turn `a` into `b`, where no byte of a swap is
// edited again ("ca" to "abc" is 3). Returns limit + 1 when the distance is above `limit`, and when
// `a` or `b` has more than 128 bytes, even if they are equal. `limit` must be less than SIZE_MAX.
// Time is O(|a| * |b|). Thread-safe.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// Keeps the closest of the names that are offered. A name other than `wanted` never wins if its
// EditDistance to `wanted` is above max(1, bytes of `wanted` / 3, rounded down). Of equally close
// names the first wins. Names must not be empty. Not thread-safe.
class ClosestName {
 public:
  // `wanted` must outlive this object.
  explicit ClosestName(std::string_view wanted);
  // Takes `name` if it is closer than the best name so far. `name` must outlive this object.
  void Offer(std::string_view name);
  // The closest name so far, as it was offered; empty if no name was close enough.
  std::string_view best() const { return best_; }
  // Whether `wanted` itself was offered.
  bool found() const { return found_; }
  // Returns " (did you mean 'x'?)" with the closest name, or an empty text if no name was close
  // enough.
  std::string Hint() const;

 private:
  std::string_view wanted_;
  std::string_view best_;
  size_t limit_;
  bool found_ = false;
};

}  // namespace tenon
