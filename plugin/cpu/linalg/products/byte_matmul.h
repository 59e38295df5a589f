// Products of matrices of bytes with zero points, summed in 32 bits: operands are packed,
// multiplied in blocks of registers (byte_gemm.h), and what the zero points add is taken off each
// sum behind the product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/products/byte_gemm.h"

namespace tenon::cpu {

// How the bytes of an operand are to be read.
struct ByteSide {
  bool is_signed = false;
  bool transposed = false;  // the left side is stored [k, m], the right side [n, k]
};

// The numbers that stand for 0: one, or one for each row of the left or column of the right side.
struct ByteZeros {
  absl::Span<const int32_t> left, right;
};

// The values of a right side: as they are stored, or as PackRight (for ByteConv: PackWhole) wrote
// them once for all runs. What Pack alone wrote lacks the sums. One of the two is null.
struct ByteRight {
  const void* values = nullptr;
  const void* packed = nullptr;
};

// A right side [k, n] in panels, and products with it. Immutable; thread-safe.
class ByteRightSide {
 public:
  ByteRightSide(int64_t k, int64_t n, ByteSide side);

  const ByteGemm& gemm() const { return gemm_; }
  // A text that is equal for two right sides only if the same bytes are packed to the same.
  std::string Form() const;
  int64_t panels() const { return (n_ + gemm_.columns - 1) / gemm_.columns; }
  // The numbers of values and of bytes of a packed row.
  int64_t row_values() const { return row_values_; }
  int64_t row_bytes() const { return row_values_ * gemm_.element; }
  // Bytes of all panels; a multiple of 64.
  size_t PackedBytes() const;
  // Packs b. `to` is PackedBytes() long.
  void Pack(Workers& workers, const void* b, void* to) const;
  // Bytes of the panels, the column sums of `parts` parts and those of all rows; what Pack and
  // twice SumColumns write there. Multiples of 64.
  size_t WholeBytes(int64_t parts) const;
  void PackWhole(Workers& workers, const void* b, int64_t parts, void* to) const;
  // Where the sums stand in what PackWhole wrote.
  const int32_t* PartSums(const void* whole) const;
  const int32_t* WholeSums(const void* whole, int64_t parts) const;
  // Sets sums[i * n + j] to the sum of column j over the i-th part of k / parts rows, as the
  // product sees the numbers.
  void SumColumns(Workers& workers, const void* b, int64_t parts, int32_t* sums) const;
  // Sets c[i * c_row + j] to the product of packed row i and column j of panels [begin, end), for
  // i < m. Rows are `a_row` bytes apart. Does not touch `c` if k is 0. With `whole`, the columns
  // that the last panel has behind n are in `c`, too, which is faster.
  void Multiply(const void* packed, const void* a, int64_t a_row, int64_t m, int64_t begin,
                int64_t end, int32_t* c, int64_t c_row, bool whole = false) const;

  // What a zero point is to the product: bytes of the other kind are moved by 128.
  static uint32_t LeftZero(int32_t zero, bool is_signed) {
    return static_cast<uint32_t>(zero) + (is_signed ? 128 : 0);
  }
  uint32_t RightZero(int32_t zero) const {
    return static_cast<uint32_t>(zero) - (side_.is_signed ? 0 : 128);
  }

 private:
  uint8_t flip() const { return side_.is_signed ? 0 : 0x80; }

  const ByteGemm& gemm_;
  int64_t k_, n_;
  ByteSide side_;
  int64_t row_values_;
};

// c[i][j] = the sum over p of (a[i][p] - left zero) * (b[p][j] - right zero), modulo 2^32, for
// i < m, j < n and p < k. Immutable; several runs share it.
class ByteMatMul {
 public:
  ByteMatMul(int64_t m, int64_t k, int64_t n, ByteSide left, ByteSide right);

  // Returns the bytes of Run's scratch memory; `packed`: Run gets ByteRight::packed.
  // RESOURCE_EXHAUSTED if there are more than 10^15.
  absl::StatusOr<size_t> ScratchBytes(bool packed = false) const;
  // Packs a right side that stays the same: `to` has RightBytes(), which do not depend on m.
  size_t RightBytes() const { return right_.WholeBytes(0); }
  void PackRight(Workers& workers, const void* b, void* to) const {
    right_.PackWhole(workers, b, 0, to);
  }
  const ByteRightSide& right() const { return right_; }
  // Computes c of m rows of n sums, one after the other. Calls finish(row, begin, end) for parts of
  // rows that are done, from any thread, once for each element; null for no call.
  void Run(Workers& workers, const void* a, ByteRight b, const ByteZeros& zeros, void* scratch,
           int32_t* c,
           const absl::FunctionRef<void(int64_t row, int64_t begin, int64_t end)>* finish) const;

 private:
  struct Operands;
  // Whether rows are multiplied where they lie.
  bool in_place() const;
  void PackRow(const uint8_t* a, int64_t row, char* to) const;
  void RunTile(const Operands& o, int64_t first, int64_t last, int64_t begin, int64_t end) const;

  int64_t m_, k_, n_;
  ByteSide left_;
  ByteRightSide right_;
};

}  // namespace tenon::cpu
