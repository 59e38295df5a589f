// A vector whose elements seldom move while it grows.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tenon {

// Elements are added at the end and never removed. Elements move only while there are at most 1024
// of them, so that a large array costs neither copies nor an unused half. A reference to an element
// is valid until the next push_back. Reading is thread-safe, changing is not.
template <typename T>
class ChunkedVector {
 public:
  void push_back(T value) {
    if (chunks_.empty() || chunks_.back().size() == kPerChunk) {
      chunks_.emplace_back();
      // The first chunk grows from small on: most arrays have few elements.
      if (chunks_.size() > 1) chunks_.back().reserve(kPerChunk);
    }
    chunks_.back().push_back(std::move(value));
  }
  const T& operator[](size_t i) const { return chunks_[i / kPerChunk][i % kPerChunk]; }
  size_t size() const {
    return chunks_.empty() ? 0 : (chunks_.size() - 1) * kPerChunk + chunks_.back().size();
  }

 private:
  static constexpr size_t kPerChunk = 1024;  // a power of two: an index costs a shift and a mask

  std::vector<std::vector<T>> chunks_;
};

}  // namespace tenon
