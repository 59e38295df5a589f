// The row of a CPU kernel in the table of its family: the op, the types, the function that prepares
// a step.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/tensor/dtype.h"

namespace tenon {

class Prepare;  // plugin/kernels/kernel.h

using PrepareFn = absl::Status (*)(Prepare& p);

// One attribute and the types it may have, as DataType bits.
struct TypeConstraint {
  std::string_view attr;
  uint64_t types;  // 1 << DataType value
};
constexpr uint64_t TypeBit(DataType t) { return uint64_t{1} << static_cast<int>(t); }
template <typename... T>
constexpr uint64_t TypeBits(T... t) {
  return (TypeBit(t) | ...);
}

// One row of a kernel table (plugin/cpu/<family>/).
struct CpuKernelSpec {
  const char* op;
  absl::InlinedVector<TypeConstraint, 2> constraints;
  PrepareFn prepare;
  // Bit i: prepare needs the value of input i (a shape, an axis, paddings). Bit 31: the values of
  // input 31 and of all after it.
  uint32_t value_inputs = 0;
  // The outputs depend on more than the inputs: the node is never folded and never merged.
  bool stateful = false;
  // The kernel works on tensors that it gets from the RunState. It is prepared once for all shapes:
  // prepare may ask for input_value of constants only, and for no input_shape.
  bool whole_tensors = false;
  // The kernel also takes resources and variants, which it copies as ElementCopy does.
  bool copies_objects = false;
};
inline constexpr uint32_t kAllInputs = ~uint32_t{0};  // for value_inputs

// The results of all functions `absl::Span<const CpuKernelSpec> Name() {` of plugin/cpu, which
// cmake/kernel_tables.sh finds.
absl::Span<const absl::Span<const CpuKernelSpec>> CpuKernels();

}  // namespace tenon
