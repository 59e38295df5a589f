// Copies of elements between two layouts. Slice, Concat, Transpose, Tile, Pad and similar ops are
// made of such copies.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
class Workers;  // plugin/cpu/base/workers.h
}  // namespace tenon

namespace tenon::cpu {

// Returns the strides of a dense tensor, in bytes. All strides are 0 if the tensor has no elements.
Dims DenseStrides(const Shape& shape, int64_t element_bytes);

// A loop nest that copies one element per iteration. All strides are in bytes. A source stride may
// be 0 (repeat) or negative (reverse). Different iterations must write to different memory.
//
// Add the outermost dimension first, in the destination's order: the last dimension should have the
// smallest destination stride. Build the object in one thread. After Finish(), Run is thread-safe.
class StridedCopy {
 public:
  explicit StridedCopy(DataType type)
      : type_(type),
        element_bytes_(static_cast<int64_t>(DataTypeSize(type))),
        counted_(!IsMemcpyable(type)) {}

  void AddDim(int64_t size, int64_t from_stride, int64_t to_stride);
  // Removes dimensions of size 1, merges dimensions that continue each other, and makes a
  // contiguous innermost dimension part of the element. Call once, after the last AddDim and before
  // Run.
  void Finish();

  int64_t bytes() const { return total_bytes_; }  // that Run writes; 0 before Finish()
  // Copies all elements. The outer loops are split over `workers`. Source and destination must not
  // overlap. Destinations of strings and objects must be initialized elements (ElementCopy).
  void Run(const void* from, void* to, Workers* workers) const;

 private:
  void RunOuter(const char* from, char* to, int64_t begin, int64_t end, int inner_dims) const;
  void RunRow(const char* from, char* to) const;
  void RunTransposed(const char* from, char* to) const;

  DataType type_;
  int64_t element_bytes_;  // bytes that one iteration moves
  bool counted_;           // strings or objects: copied by ElementCopy instead of memcpy
  Dims size_, from_, to_;
  // The source is contiguous along the last dimension but one, the destination along the last
  // dimension: TransposeTile copies both dimensions at once.
  bool transposed_ = false;
  int64_t total_bytes_ = 0;
};

// A value of CopyPiece::in: the source is one element of zeros (or an empty string). The copy
// repeats that element by source strides of 0.
inline constexpr int kZeros = -1;

// One copy of a step, from an input to an output.
struct CopyPiece {
  int in = 0;               // input number, or kZeros, which ignores from_offset
  int out = 0;              // output number
  int64_t from_offset = 0;  // bytes
  int64_t to_offset = 0;
  StridedCopy copy;
};

// The run state of a step that only copies.
struct CopyState {
  std::vector<CopyPiece> pieces;
};

// Returns the piece that fills the `elements` elements of output 0 with the first element of input
// `in`, or with zeros.
CopyPiece RepeatPiece(DataType type, int64_t elements, int in = kZeros);
// Returns the piece that copies `elements` elements of input `in` to output 0.
CopyPiece WholePiece(DataType type, int64_t elements, int in);

// Sets the run function and the run state of a step that only copies. Output shapes, and
// permission to compute in place, are left to the caller.
void SetCopies(Prepare& p, std::vector<CopyPiece> pieces);
// Copies the pieces in their order. A piece is skipped if its source and its destination, offsets
// included, are the same address: the step is computed in place.
void RunCopies(const CopyState& state, void* const* in, void* const* out, Workers* workers);

// Returns the copy of a block of shape `shape` with the given strides, in bytes, on both sides. One
// side is usually a dense tensor, the other side a block of a larger tensor.
StridedCopy BlockCopy(DataType type, const Shape& shape, const Dims& from_strides,
                      const Dims& to_strides);

}  // namespace tenon::cpu
