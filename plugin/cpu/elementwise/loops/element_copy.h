// Copies of elements of one type between tensors. Strings and objects are copied by their own
// rules.
#pragma once

#include <cstdint>
#include <cstring>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// A place is an index in units of elements. Numbers may have any alignment. Destinations of strings
// and objects must be initialized elements; a copy releases their previous values. Copies of
// strings throw std::bad_alloc as PutString does. Thread-safe for disjoint destinations.
class ElementCopy {
 public:
  explicit ElementCopy(DataType type)
      : bytes_(static_cast<int64_t>(DataTypeSize(type))),
        counted_(!IsMemcpyable(type)),
        strings_(BaseType(type) == DataType::kString) {}

  int64_t bytes() const { return bytes_; }  // of one element

  // Copies places i to i + n - 1 of `from` to places j to j + n - 1 of `to`. The two ranges must
  // not overlap.
  void operator()(const void* from, int64_t i, void* to, int64_t j, int64_t n = 1) const {
    const char* f = static_cast<const char*>(from) + i * bytes_;
    char* t = static_cast<char*>(to) + j * bytes_;
    if (counted_) return CopyCounted(f, t, n);
    switch (n * bytes_) {
      case 4:
        std::memcpy(t, f, 4);
        return;
      case 8:
        std::memcpy(t, f, 8);
        return;
      default:
        std::memcpy(t, f, n * bytes_);
    }
  }

  // Copies the element at place i of `from` to each of the places j to j + n - 1 of `to`. The
  // element must not lie among these places.
  void Repeat(const void* from, int64_t i, void* to, int64_t j, int64_t n) const;

  // Sets places j to j + n - 1 of `to` to 0. Strings and objects must be empty already: Zero does
  // not touch them.
  void Zero(void* to, int64_t j, int64_t n) const {
    if (!counted_) std::memset(static_cast<char*>(to) + j * bytes_, 0, n * bytes_);
  }

 private:
  void CopyCounted(const char* from, char* to, int64_t n) const;

  int64_t bytes_;
  bool counted_;  // strings or objects
  bool strings_;
};

}  // namespace tenon::cpu
