// Constant weights in codes, made once for all plans of a session.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/onednn/onednn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A matrix of floats [k, n] in row-major order, at any alignment, or its transpose.
struct WeightMatrix {
  const void* data;
  int64_t k, n;
  bool transposed;  // [n, k]

  float at(int64_t row, int64_t column) const;
};

// Panels as coded_loops.h has them. A scale is that of 32 rows of a column, rounded to bfloat16,
// and may be negative. With 4 bits it is that of some scales for codes of -8 to 7 that has the
// least sum of squared errors; if the largest magnitude is below 1e-15 or above 1e15, the one for
// which it becomes -8. With 8 bits the largest magnitude becomes 127. A scale close to denormals
// may be rounded to one that gives another code, or to 0.
struct CodedPanels {
  explicit CodedPanels(size_t bytes) : memory(bytes) {}
  PackedBytes memory;
};
// Returns the number of blocks of a panel, and enough bytes for all panels, above 0.
int64_t CodedBlocks(int64_t k);
size_t CodedBytes(int64_t k, int64_t n, int bits);
// `bits` is 4 or 8. INVALID_ARGUMENT if a weight is NaN or infinite; RESOURCE_EXHAUSTED without
// memory.
absl::StatusOr<std::shared_ptr<const CodedPanels>> MakeCodedPanels(Workers& workers,
                                                                   const WeightMatrix& weights,
                                                                   int bits);

// The panels of input i, a constant, as the session keeps them for all that reads it; drops the
// input. UNIMPLEMENTED if the input is no constant, else errors as above.
absl::StatusOr<std::shared_ptr<const CodedPanels>> PackCodes(Prepare& p, int i, int64_t k,
                                                             int64_t n, bool transposed, int bits);
// Writes the k numbers that column j of the panels stands for.
void ExpandColumn(const CodedPanels& panels, int64_t k, int bits, int64_t j, float* to);

// Codes of -127 to 127 with one scale for each column, packed for products with bytes.
struct ByteWeights {
  explicit ByteWeights(size_t bytes) : right(bytes) {}
  PackedBytes right;           // as ByteMatMul::PackRight writes it
  std::vector<double> scales;  // of weights that are close to denormals, floats would be 0
};
// Errors as above. `product` is one of matrices of these sizes, whose right side is signed and not
// transposed.
absl::StatusOr<std::shared_ptr<const ByteWeights>> MakeByteWeights(Workers& workers,
                                                                   const WeightMatrix& weights,
                                                                   const ByteMatMul& product);

}  // namespace tenon::cpu
