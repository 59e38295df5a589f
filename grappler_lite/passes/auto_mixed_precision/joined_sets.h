// Disjoint sets of the numbers 0 to size - 1, which can be joined (union-find). Not thread-safe,
// not even to ask: paths are shortened.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace tenon {

class JoinedSets {
 public:
  // Each number is a set of its own.
  explicit JoinedSets(int size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }

  // The least number of the set that holds i.
  int Of(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // Makes one set of the sets that hold a and b.
  void Join(int a, int b) {
    a = Of(a), b = Of(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

}  // namespace tenon
