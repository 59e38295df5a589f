// Ops that move elements by operands: slices at places known at run time, shapes as operands whose
// result is static.
#include <algorithm>

#include "checks.h"
#include "families.h"
#include "strided.h"

namespace pjref {
namespace {

void CheckStarts(const Op& op, size_t first, int64_t rank) {
  CheckThat(op, static_cast<int64_t>(op.operands.size()) - static_cast<int64_t>(first) == rank,
            "has mismatched number of start indices: " +
                std::to_string(op.operands.size() - first) + " for rank " + std::to_string(rank));
  for (size_t i = first; i < op.operands.size(); ++i) {
    CheckKind(op, op.operand_types[i], kIntegers);
    CheckScalar(op, op.operand_types[i]);
  }
}

// The start indices, moved so far that a slice of `sizes` lies within `dims`.
Dims StartsOf(const Frame& frame, const Op& op, size_t first, const Dims& dims, const Dims& sizes) {
  Dims starts;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Array& operand = frame.In(op, first + i);
    int64_t start = LoadIntegers(operand)[0];
    if (operand.element() == Element::kU64 && start < 0)
      start = dims[i];  // Beyond what an int64 holds.
    starts.push_back(std::clamp<int64_t>(start, 0, dims[i] - sizes[i]));
  }
  return starts;
}

int64_t OffsetOf(const Dims& index, const Dims& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

void CheckDynamicSlice(const Op& op) {
  CheckThat(op, !op.operands.empty(), "expects an operand");
  CheckCounts(op, op.operands.size(), 1);
  const Type& from = op.operand_types[0];
  CheckStarts(op, 1, from.rank());
  const Dims sizes = op.Integers("slice_sizes");
  CheckSize(op, "slice_sizes", sizes, from.rank());
  for (size_t i = 0; i < sizes.size(); ++i) {
    CheckThat(op, sizes[i] >= 0 && sizes[i] <= from.dims[i],
              "has slice size " + std::to_string(sizes[i]) + " greater than dimension size " +
                  std::to_string(from.dims[i]) + " in dimension " + std::to_string(i));
  }
  CheckResult(op, 0, {from.element, sizes});
}

void DynamicSlice(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array out(op.result_types[0]);
  const Dims starts = StartsOf(*frame, op, 1, in.dims(), out.dims()),
             strides = StridesOf(in.dims());
  const size_t size = ByteSize(out.element());
  CopyStrided(in.data() + OffsetOf(starts, strides) * size, strides, out.data(),
              StridesOf(out.dims()), out.dims(), size);
  frame->Out(op, std::move(out));
}

void CheckDynamicUpdateSlice(const Op& op) {
  CheckThat(op, op.operands.size() >= 2, "expects an operand and an update");
  CheckCounts(op, op.operands.size(), 1);
  const Type& into = op.operand_types[0];
  const Type& update = op.operand_types[1];
  CheckStarts(op, 2, into.rank());
  CheckThat(op, update.element == into.element && update.rank() == into.rank(),
            "update '" + ToString(update) + "' does not fit the operand '" + ToString(into) + "'");
  for (size_t i = 0; i < into.dims.size(); ++i) {
    CheckThat(op, update.dims[i] <= into.dims[i],
              "expects size at dimension " + std::to_string(i) + " of update to be in range [0, " +
                  std::to_string(into.dims[i]) + "]. Got: " + std::to_string(update.dims[i]));
  }
  CheckResult(op, 0, into);
}

void DynamicUpdateSlice(Frame* frame, const Op& op) {
  const Array update = frame->In(op, 1);
  const Dims starts = StartsOf(*frame, op, 2, op.operand_types[0].dims, update.dims());
  Array out = frame->Take(op, 0);
  const Dims strides = StridesOf(out.dims());
  const size_t size = ByteSize(out.element());
  CopyStrided(update.data(), StridesOf(update.dims()),
              out.data() + OffsetOf(starts, strides) * size, strides, update.dims(), size);
  frame->Out(op, std::move(out));
}

// The result's shape is declared; a shape operand that says otherwise is an error of the run's.
void CheckShapeOperand(const Op& op, size_t index) {
  CheckKind(op, op.operand_types[index], kIntegers);
  CheckThat(op, op.operand_types[index].dims == Dims({op.result_types[0].rank()}),
            "output_shape must have an element for each dimension of the result");
}
void CheckShapeValue(const Frame& frame, const Op& op, size_t index) {
  const Dims asked = LoadIntegers(frame.In(op, index));
  CheckThat(op, asked == op.result_types[0].dims,
            "output_shape " + ToString(asked) + " is not that of the result '" +
                ToString(op.result_types[0]) + "'");
}

void CheckDynamicReshape(const Op& op) {
  CheckCounts(op, 2, 1);
  CheckShapeOperand(op, 1);
  CheckThat(op,
            op.operand_types[0].element == op.result_types[0].element &&
                op.operand_types[0].count() == op.result_types[0].count(),
            "the result has another number of elements than the operand");
}
void DynamicReshape(Frame* frame, const Op& op) {
  CheckShapeValue(*frame, op, 1);
  frame->Out(op, frame->In(op, 0).WithDims(op.result_types[0].dims));
}

void CheckDynamicBroadcast(const Op& op) {
  CheckCounts(op, 2, 1);
  CheckShapeOperand(op, 1);
  Op plain = op;
  plain.operands.pop_back();
  plain.operand_types.pop_back();
  FindRow("stablehlo.broadcast_in_dim")->check(plain);
}
void DynamicBroadcast(Frame* frame, const Op& op) {
  CheckShapeValue(*frame, op, 1);
  FindRow("stablehlo.broadcast_in_dim")->evaluate(frame, op);
}

void CheckDynamicIota(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckShapeOperand(op, 0);
  Op plain = op;
  plain.operands.clear();
  plain.operand_types.clear();
  FindRow("stablehlo.iota")->check(plain);
}
void DynamicIota(Frame* frame, const Op& op) {
  CheckShapeValue(*frame, op, 0);
  FindRow("stablehlo.iota")->evaluate(frame, op);
}

}  // namespace

const std::vector<OpRow>& DynamicRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.dynamic_slice", &CheckDynamicSlice, &DynamicSlice, nullptr},
      {"stablehlo.dynamic_update_slice", &CheckDynamicUpdateSlice, &DynamicUpdateSlice, nullptr},
      {"stablehlo.dynamic_reshape", &CheckDynamicReshape, &DynamicReshape, nullptr},
      {"stablehlo.dynamic_broadcast_in_dim", &CheckDynamicBroadcast, &DynamicBroadcast, nullptr},
      {"stablehlo.dynamic_iota", &CheckDynamicIota, &DynamicIota, nullptr},
  };
  return kRows;
}

}  // namespace pjref
