// Shapes, and how loops go over several tensors at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opencl {

using Dims = std::vector<int64_t>;

int64_t Count(const Dims& dims);  // 1 for a scalar
// The same for sizes that values of tensors tell, with a sum and a product of two. These three
// throw INVALID_ARGUMENT where the result is beyond 63 bits, CheckedCount also where the product of
// the first sizes is and a size behind them is 0. Count does not look.
int64_t CheckedCount(const Dims& dims);
int64_t Plus(int64_t a, int64_t b);
int64_t Times(int64_t a, int64_t b);
std::string ShapeText(const Dims& dims);  // "[2,3]"
Dims RowMajorStrides(const Dims& dims);

// Throws INVALID_ARGUMENT "Op: name has shape [2], expected [3]" unless the shapes are equal.
void CheckShape(const char* op, const char* name, const Dims& dims, const Dims& expected);

// NumPy's rule. Throws INVALID_ARGUMENT "Incompatible shapes: [2,3] vs. [4]".
Dims Broadcast(const Dims& a, const Dims& b);

// The strides in which a tensor of this shape is read where it broadcasts to `out`, as it must.
Dims BroadcastStrides(const Dims& out, const Dims& dims);

// A loop over `dims`, in which operand k steps by strides[k][d] elements along dimension d.
struct Loop {
  Dims dims;
  std::vector<Dims> strides;

  int64_t count() const { return Count(dims); }
  // Merges neighbours that every operand crosses as one dimension, and drops dimensions of 1: all
  // dimensions may go.
  void Collapse();
};

// The loop in which operands of these shapes broadcast to `out`, as they must; collapsed. The
// result itself is no operand: its elements come in order.
Loop BroadcastLoop(const Dims& out, const std::vector<Dims>& operands);

}  // namespace opencl
