#include "dims.h"

#include <algorithm>

#include "../device/status.h"

namespace opencl {

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

int64_t CheckedCount(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count = Times(count, size);
  return count;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  throw Error(TF_INVALID_ARGUMENT, std::to_string(a) + " + " + std::to_string(b) + " is too large");
}

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  throw Error(TF_INVALID_ARGUMENT, std::to_string(a) + " * " + std::to_string(b) + " is too large");
}

std::string ShapeText(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + "]";
}

Dims RowMajorStrides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t step = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}

Dims Broadcast(const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the last dimension on
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw Error(TF_INVALID_ARGUMENT,
                  "Incompatible shapes: " + ShapeText(a) + " vs. " + ShapeText(b));
    }
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

void Loop::Collapse() {
  Loop merged;
  merged.strides.resize(strides.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    bool merge = !merged.dims.empty();
    for (size_t k = 0; k < strides.size() && merge; ++k)
      merge = merged.strides[k].back() == strides[k][d] * dims[d];
    if (merge) {
      merged.dims.back() *= dims[d];
      for (size_t k = 0; k < strides.size(); ++k) merged.strides[k].back() = strides[k][d];
    } else {
      merged.dims.push_back(dims[d]);
      for (size_t k = 0; k < strides.size(); ++k) merged.strides[k].push_back(strides[k][d]);
    }
  }
  *this = std::move(merged);
}

void CheckShape(const char* op, const char* name, const Dims& dims, const Dims& expected) {
  if (dims == expected) return;
  throw Error(TF_INVALID_ARGUMENT, std::string(op) + ": " + name + " has shape " + ShapeText(dims) +
                                       ", expected " + ShapeText(expected));
}

Dims BroadcastStrides(const Dims& out, const Dims& dims) {
  const Dims own = RowMajorStrides(dims);
  Dims strides(out.size(), 0);
  const size_t lead = out.size() - dims.size();
  for (size_t d = 0; d < dims.size(); ++d) strides[lead + d] = dims[d] == 1 ? 0 : own[d];
  return strides;
}

Loop BroadcastLoop(const Dims& out, const std::vector<Dims>& operands) {
  Loop loop;
  loop.dims = out;
  for (const Dims& dims : operands) loop.strides.push_back(BroadcastStrides(out, dims));
  loop.Collapse();
  return loop;
}

}  // namespace opencl
