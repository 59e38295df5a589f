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
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

inline constexpr int kMaxOperands = 3;

// The loop nest of operands of different shapes, outermost dimension first. Neighbouring dimensions
// that every operand either traverses or repeats are merged.
struct BroadcastPlan {
  Shape shape;                            // of the result
  Dims size;                              // merged dimensions; empty for one element
  std::array<Dims, kMaxOperands> stride;  // in elements; 0 where the operand repeats
  bool flat = false;                      // every operand has the result's layout

  // Returns nullopt if the shapes do not broadcast together.
  static std::optional<BroadcastPlan> Make(absl::Span<const Shape> operands);
};

// The run state of an elementwise step. Immutable once made; several threads share it.
struct ElementStep {
  BroadcastPlan plan;
  ElementLoop loop = nullptr;
  ElementRowsLoop rows_loop = nullptr;  // for two operands of different layouts; may be null
  float param = 0;                      // of `loop`
  int operands = 1;
  int64_t n = 0;                                   // elements of the result
  int64_t grain = 1;                               // elements for Workers::ParallelFor
  std::array<int64_t, kMaxOperands> in_size = {};  // bytes of an operand's element
  int64_t out_size = 0;                            // bytes of a result's element
  // Half precision: widen[k] converts operand k to float before the loop, and `narrow` converts the
  // result after the loop. A null entry stands for no conversion.
  bool converts = false;
  std::array<ElementLoop, kMaxOperands> widen = {};
  ElementLoop narrow = nullptr;
};

// The operation of one node, for PrepareElementwise.
struct ElementSpec {
  ElementOp op;
  float param = 0;  // of the loop (ElementLoop)
  // Checks the n elements of the second operand before the loop runs. Returns INVALID_ARGUMENT for
  // values that the op refuses. May be null.
  absl::Status (*check)(const void* second, int64_t n) = nullptr;
};

// Prepares output 0 from inputs 0 to operands - 1. The type of the last operand selects the loop.
// UNIMPLEMENTED if there is no loop for the type. INVALID_ARGUMENT if the inputs' shapes do not
// broadcast together.
absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec, int operands);
// The same for operands of shapes `shapes`. Each operand has its input's elements in the same
// order, in another shape.
absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec,
                                absl::Span<const Shape> shapes);
// Prepares the conversion of input 0's elements to output 0's type.
absl::Status PrepareCast(Prepare& p);

// Runs a step on the operands' data, split over `workers`. For kernels that have an elementwise
// operation as a part.
void RunElementStep(const ElementStep& step, const void* const* in, void* out, Workers* workers);
// Computes elements [begin, end) of the result, in the calling thread. `out` is the whole result;
// it may be an operand of the result's shape.
void RunElementRange(const ElementStep& step, const void* const* in, void* out, int64_t begin,
                     int64_t end);
// Makes the step of an operation on two operands of type `type`, with a result of the same type.
// The shapes must broadcast together. Returns false if there is no loop for the type. A step of two
// vectors of equal length serves vectors of any length: the caller sets `n`.
bool MakeElementStep(ElementOp op, DataType type, const Shape& a, const Shape& b,
                     ElementStep* step);
// Sets the loop and the conversions of `step` for operands of type `in` and results of type `out`.
// Returns false if there is no loop.
bool ChooseLoop(ElementOp op, DataType in, DataType out, ElementStep* step);

}  // namespace tenon::cpu
