// Numbers in sets that grow together.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace tenon {

class JoinedSets {
 public:
  explicit JoinedSets(int size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }

  // The least number of i's set.
  int Of(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(int a, int b) {
    a = Of(a), b = Of(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

}  // namespace tenon
