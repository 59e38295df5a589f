// What tensors take of memory, and a limit to what work on one thread may allocate.
#pragma once

#include <cstddef>

#include "graph/tensor/tensor.h"

namespace tenon {

// Bytes of a tensor in host memory, with the text of string elements.
size_t HeldBytes(const Tensor& t);

// While it lives, buffers and the texts of string elements that this thread allocates come out of
// `bytes`, given back or not, so that the answer is the same on every machine; beyond that an
// allocation fails as if memory were short. Bounds nest: the inner one counts.
class MemoryBound {
 public:
  explicit MemoryBound(size_t bytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

  // For allocators: false, and nothing is taken, if the running thread may not allocate so much.
  static bool Take(size_t bytes);
  // The same for the text of a string element, which is within the element if it is short. Throws
  // bad_alloc instead.
  static void TakeText(size_t bytes);
  // What the running thread may still allocate; SIZE_MAX without a bound.
  static size_t Left();

 private:
  size_t left_;
  MemoryBound* const outer_;
};

}  // namespace tenon
