// The driver of elementwise kernels: brings broadcast operands, half precision and threads to the
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

// How operands of different shapes meet: dimensions that all operands pass through alike are
// merged, outermost first.
struct BroadcastPlan {
  Shape shape;                            // of the result
  Dims size;                              // merged dimensions; empty for one element
  std::array<Dims, kMaxOperands> stride;  // in elements, 0 where the operand repeats
  bool flat = false;                      // every operand has the result's layout

  // nullopt when the shapes do not broadcast together.
  static std::optional<BroadcastPlan> Make(absl::Span<const Shape> operands);
};

// State of a prepared elementwise step.
struct ElementStep {
  BroadcastPlan plan;
  ElementLoop loop = nullptr;
  ElementRowsLoop rows_loop = nullptr;  // for operands that do not lie alike; may be null
  float param = 0;
  int operands = 1;
  int64_t n = 0;
  int64_t grain = 1;
  std::array<int64_t, kMaxOperands> in_size = {};  // bytes of an element
  int64_t out_size = 0;
  // Half precision: operands pass through `widen` into floats before, the result through `narrow`
  // after the loop. Null: as is.
  bool converts = false;
  std::array<ElementLoop, kMaxOperands> widen = {};
  ElementLoop narrow = nullptr;
};

// What PrepareElementwise makes of one node.
struct ElementSpec {
  ElementOp op;
  float param = 0;
  // Runs before the loop, on the operands' own data: INVALID_ARGUMENT for values that the op
  // refuses. May be null.
  absl::Status (*check)(const void* second, int64_t n) = nullptr;
};

// Prepares output 0 from inputs 0 .. `operands` - 1, whose shapes broadcast. The loop is that for
// the type of the last operand. UNIMPLEMENTED when there is none; INVALID_ARGUMENT for shapes that
// do not broadcast.
absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec, int operands);
// The same with operand shapes that differ from the inputs' (same elements in the same order).
absl::Status PrepareElementwise(Prepare& p, const ElementSpec& spec,
                                absl::Span<const Shape> shapes);
// Element by element from input 0's type to output 0's.
absl::Status PrepareCast(Prepare& p);

// Runs a step on the operands' data; for kernels that use the driver inside of theirs.
void RunElementStep(const ElementStep& step, const void* const* in, void* out, Workers* workers);
// Elements [begin, end) of the result, in the calling thread. `out` may be an operand that has the
// result's shape.
void RunElementRange(const ElementStep& step, const void* const* in, void* out, int64_t begin,
                     int64_t end);
// A step of two operands of one type, whose shapes must broadcast, that gives the same type; false
// when there is no loop. If both are vectors it serves those of any length `n`.
bool MakeElementStep(ElementOp op, DataType type, const Shape& a, const Shape& b,
                     ElementStep* step);
// Fills in the loop and the conversions for operands of type `in` and results of type `out`; false
// when there is no loop.
bool ChooseLoop(ElementOp op, DataType in, DataType out, ElementStep* step);

}  // namespace tenon::cpu
