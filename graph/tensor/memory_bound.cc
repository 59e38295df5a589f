// A chain of bounds for each thread, the innermost first. Only the innermost is charged.

#include "graph/tensor/memory_bound.h"

#include <cstdint>
#include <new>
#include <utility>

#include "tensorflow/c/tf_tstring.h"

namespace tenon {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local MemoryBound* innermost = nullptr;

}  // namespace

size_t HeldBytes(const Tensor& t) {
  size_t held = t.bytes();
  if (BaseType(t.dtype()) != DataType::kString) return held;
  for (int64_t i = 0, n = t.num_elements(); i < n; ++i) held += t.StringAt(i).size();
  return held;
}

MemoryBound::MemoryBound(size_t bytes) : left_(bytes), outer_(std::exchange(innermost, this)) {}

MemoryBound::~MemoryBound() { innermost = outer_; }

bool MemoryBound::Take(size_t bytes) {
  if (innermost == nullptr) return true;
  if (bytes > innermost->left_) return false;
  innermost->left_ -= bytes;
  return true;
}

void MemoryBound::TakeText(size_t bytes) {
  // A short text lies within its TF_TString, whose bytes the tensor has taken already.
  if (bytes > TF_TString_SmallCapacity && !Take(bytes)) throw std::bad_alloc();
}

size_t MemoryBound::Left() { return innermost == nullptr ? SIZE_MAX : innermost->left_; }

}  // namespace tenon
