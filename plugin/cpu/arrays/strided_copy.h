// Moving elements between two layouts: the engine of Slice, Concat, Transpose, Tile, Pad and their
// kin.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Byte strides of a dense tensor; all 0 if it has no elements.
Dims DenseStrides(const Shape& shape, int64_t element_bytes);

// A loop nest, outermost dimension first. Strides are in bytes; those of the source may be zero
// (repeat) or negative (reverse). Destinations do not overlap. Add dimensions in the destination's
// order: the innermost should be the closest together there.
class StridedCopy {
 public:
  explicit StridedCopy(DataType type)
      : type_(type),
        element_bytes_(static_cast<int64_t>(DataTypeSize(type))),
        counted_(!IsMemcpyable(type)) {}

  void AddDim(int64_t size, int64_t from_stride, int64_t to_stride);
  // Drops and merges dimensions; contiguous inner ones become part of the element. Call once, after
  // the last AddDim.
  void Finish();

  int64_t bytes() const { return total_bytes_; }
  // Splits its outer loops over `workers`. Source and destination may not overlap.
  void Run(const void* from, void* to, Workers* workers) const;

 private:
  void RunOuter(const char* from, char* to, int64_t begin, int64_t end, int inner_dims) const;
  void RunRow(const char* from, char* to) const;
  void RunTransposed(const char* from, char* to) const;

  DataType type_;
  int64_t element_bytes_;  // of what is moved at a time
  bool counted_;           // strings or objects
  Dims size_, from_, to_;
  bool transposed_ = false;  // the source is contiguous along the last dimension but one, the
                             // destination along the last
  int64_t total_bytes_ = 0;
};

// CopyPiece::in: a source of zeros (empty strings), to be repeated with strides of 0.
inline constexpr int kZeros = -1;

// One copy of a step that moves data from inputs to outputs.
struct CopyPiece {
  int in = 0;
  int out = 0;
  int64_t from_offset = 0;  // bytes
  int64_t to_offset = 0;
  StridedCopy copy;
};

// A step that only copies.
struct CopyState {
  std::vector<CopyPiece> pieces;
};

// Output 0, of `elements` elements, starts as one element of input `in`, or zero, repeated …
CopyPiece RepeatPiece(DataType type, int64_t elements, int in = kZeros);
// … or as the whole of input `in`.
CopyPiece WholePiece(DataType type, int64_t elements, int in);

// Sets the run function of a step that only copies.
void SetCopies(Prepare& p, std::vector<CopyPiece> pieces);
// Copies pieces in order. What is to be copied onto itself is there already: a step that may be
// computed in place.
void RunCopies(const CopyState& state, void* const* in, void* const* out, Workers* workers);

// A dense copy of the whole tensor into (or out of) a sub-block of a larger tensor: `shape`'s
// elements with the given strides on both sides.
StridedCopy BlockCopy(DataType type, const Shape& shape, const Dims& from_strides,
                      const Dims& to_strides);

}  // namespace tenon::cpu
