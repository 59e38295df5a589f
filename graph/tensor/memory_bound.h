// Measures the memory of tensors, and limits the memory that work on one thread may allocate.
#pragma once

#include <cstddef>

#include "graph/tensor/tensor.h"

namespace tenon {

// Returns the bytes that an initialized tensor in host memory holds: its elements and in addition
// the text of string elements, long or short. An object counts as its pointer.
size_t HeldBytes(const Tensor& t);

// For its lifetime, limits to `bytes` what the thread that made the object allocates for buffers
// and for the text of string elements. Text that a plug-in puts into elements itself does not
// count. Freed memory is not given back to the limit, so that the outcome is the same on every
// machine. Beyond the limit an allocation fails as if memory were short. Bounds nest on the stack
// of one thread: only the innermost counts, and what it grants is not taken from the outer ones.
class MemoryBound {
 public:
  explicit MemoryBound(size_t bytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

  // For allocators: takes `bytes` of the thread's limit. False, and nothing is taken, if less is
  // left.
  static bool Take(size_t bytes);
  // Take for the text of a string element; throws bad_alloc instead of returning false. A text of
  // up to 22 bytes takes nothing: it lies within the element.
  static void TakeText(size_t bytes);
  // Bytes that this thread may still allocate; SIZE_MAX without a bound.
  static size_t Left();

 private:
  size_t left_;
  MemoryBound* const outer_;
};

}  // namespace tenon
