// The driver of elementwise kernels. It adds broadcasting, half precision and threads to the
// contiguous loops of element_op.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
class Workers;  // plugin/cpu/base/workers.h
}

namespace tenon::cpu {

inline constexpr int kMaxOperands = 3;

// The loop nest of operands of different shapes, outermost dimension first. Neighbouring dimensions
// are merged where each operand traverses both or repeats along both; those of size 1 are left out.
struct BroadcastPlan {
  Shape shape;                            // of the result
  Dims size;                              // merged dimensions; empty for one element
  std::array<Dims, kMaxOperands> stride;  // in elements; 0 where the operand repeats
  bool flat = false;                      // every operand has the result's layout

  // `operands` are the shapes of at most kMaxOperands operands. Returns nullopt if the shapes do
  // not broadcast together, or the result's shape is too large for a Shape.
  static std::optional<BroadcastPlan> Make(absl::Span<const Shape> operands);
};

// The run state of an elementwise step. Immutable once made; several threads share it.
struct ElementStep {
  BroadcastPlan plan;
  ElementLoop loop = nullptr;
  // Used instead of `loop` for two operands of different layouts; may be null. Must be null if
  // `converts`.
  ElementRowsLoop rows_loop = nullptr;
  float param = 0;  // of `loop`
  int operands = 1;
  int64_t n = 0;                                   // elements of the result
  int64_t grain = 1;                               // of Workers::ParallelFor, in elements
  std::array<int64_t, kMaxOperands> in_size = {};  // bytes of an operand's element
  int64_t out_size = 0;                            // bytes of a result's element
  // Conversions around the loop: widen[k] converts operand k to the loop's type (for half
  // precision, float) before the loop, and `narrow` converts the result after the loop. A null
  // entry stands for no conversion. All entries are ignored unless `converts`.
  bool converts = false;
  std::array<ElementLoop, kMaxOperands> widen = {};
  ElementLoop narrow = nullptr;
};

// The operation of one node, for PrepareElementwise.
struct ElementSpec {
  ElementOp op;
  float param = 0;  // of the loop (ElementLoop)
  // Checks the n elements of the second operand in each run, before the loop; not called if the
  // result is empty. An error, e.g. INVALID_ARGUMENT for values that the op refuses, becomes the
  // run's error. May be null.
  absl::Status (*check)(const void* second, int64_t n) = nullptr;
};

// Prepares output 0 from inputs 0 to operands - 1, its shape included. The type of the last operand
// selects the loop. Permits the output to take the memory of an operand of the same type and shape.
// UNIMPLEMENTED if there is no loop for the type. INVALID_ARGUMENT if the inputs' shapes do not
// broadcast together, or the result would be too large.
absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec, int operands);
// The same for one operand per entry of `shapes`: operand k has the elements of input k in the same
// order, in the shape shapes[k].
absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec,
                                absl::Span<const Shape> shapes);
// Prepares op Cast, with its attribute Truncate: the conversion of input 0's elements to output 0's
// type. UNIMPLEMENTED if there is no such conversion.
absl::Status PrepareCast(Prepare& p);

// Computes all elements of the result from the operands' data in[k], split over `workers`. For
// kernels that have an elementwise operation as a part. `out` may be an operand, as below.
void RunElementStep(const ElementStep& step, const void* const* in, void* out, Workers* workers);
// Computes elements [begin, end) of the result, in the calling thread. `in` and `out` point to
// whole tensors. `out` may be an operand of the result's shape and element size.
void RunElementRange(const ElementStep& step, const void* const* in, void* out, int64_t begin,
                     int64_t end);
// Makes `step`, a new object, the step of an operation on two operands of type `type` and of shapes
// `a` and `b`, with a result of the same type. The shapes must broadcast together. Sets no
// rows_loop and no param. Returns false if there is no loop for the type. A step of two vectors of
// equal length serves vectors of any length: the caller sets ElementStep::n.
bool MakeElementStep(ElementOp op, DataType type, const Shape& a, const Shape& b,
                     ElementStep* step);
// Sets the loop and the conversions of `step`, a new object, for operands of type `in` and results
// of type `out`: a type that the operation gives for `in`. Returns false if there is no loop.
bool ChooseLoop(ElementOp op, DataType in, DataType out, ElementStep* step);

}  // namespace tenon::cpu
