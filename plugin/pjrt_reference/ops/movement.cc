// Ops that move elements by what the program says: shapes, slices, padding, iota.
#include <cstring>

#include "checks.h"
#include "elementwise.h"
#include "families.h"
#include "strided.h"

namespace pjref {
namespace {

void CheckConstant(const Op& op) {
  CheckCounts(op, 0, 1);
  const Attribute* value = op.Find("value");
  CheckThat(op, value && value->kind == Attribute::Kind::kDense, "requires attribute 'value'");
  CheckResult(op, 0, value->dense.type());
}
void Constant(Frame* frame, const Op& op) { frame->Out(op, op.Find("value")->dense); }
Array LiftedConstant(const Op& op, const std::vector<Array>&, const Dims& dims) {
  return Splat(op.Find("value")->dense, dims);
}

void CheckReshape(const Op& op) {
  CheckCounts(op, 1, 1);
  const Type& from = op.operand_types[0];
  const Type& to = op.result_types[0];
  CheckKind(op, from, kAll);
  CheckThat(op, from.element == to.element,
            "requires the same element type for operand and result");
  CheckThat(op, from.count() == to.count(),
            "number of output elements (" + std::to_string(to.count()) +
                ") doesn't match expected number of elements (" + std::to_string(from.count()) +
                ")");
}
void Reshape(Frame* frame, const Op& op) {
  frame->Out(op, frame->In(op, 0).WithDims(op.result_types[0].dims));
}

void CheckTranspose(const Op& op) {
  CheckCounts(op, 1, 1);
  const Type& from = op.operand_types[0];
  const Dims axes = op.Integers("permutation");
  CheckSize(op, "permutation", axes, from.rank());
  CheckAxes(op, "permutation", axes, from.rank());
  Dims dims;
  for (int64_t axis : axes) dims.push_back(from.dims[axis]);
  CheckResult(op, 0, {from.element, dims});
}
void Transpose(Frame* frame, const Op& op) {
  frame->Out(op, Transposed(frame->In(op, 0), op.Integers("permutation")));
}

void CheckBroadcastInDim(const Op& op) {
  CheckCounts(op, 1, 1);
  const Type& from = op.operand_types[0];
  const Type& to = op.result_types[0];
  CheckThat(op, from.element == to.element,
            "requires the same element type for operand and result");
  const Dims axes = op.Integers("broadcast_dimensions");
  CheckSize(op, "broadcast_dimensions", axes, from.rank());
  CheckAxes(op, "broadcast_dimensions", axes, to.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    CheckThat(op, from.dims[i] == 1 || from.dims[i] == to.dims[axes[i]],
              "size of operand dimension " + std::to_string(i) + " (" +
                  std::to_string(from.dims[i]) +
                  ") is not equal to 1 or size of result dimension " + std::to_string(axes[i]) +
                  " (" + std::to_string(to.dims[axes[i]]) + ")");
  }
}
void BroadcastInDim(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array out(op.result_types[0]);
  const Dims axes = op.Integers("broadcast_dimensions");
  const Dims strides = StridesOf(in.dims());
  Dims steps(out.dims().size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) steps[axes[i]] = in.dims()[i] == 1 ? 0 : strides[i];
  CopyStrided(in.data(), steps, out.data(), StridesOf(out.dims()), out.dims(),
              ByteSize(out.element()));
  frame->Out(op, std::move(out));
}

void CheckBroadcast(const Op& op) {
  CheckCounts(op, 1, 1);
  const Type& from = op.operand_types[0];
  Dims dims = op.Integers("broadcast_sizes");
  dims.insert(dims.end(), from.dims.begin(), from.dims.end());
  CheckResult(op, 0, {from.element, dims});
}
void Broadcast(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array out(op.result_types[0]);
  const int64_t times = in.count() == 0 ? 0 : out.count() / in.count();
  for (int64_t i = 0; i < times; ++i)
    std::memcpy(out.data() + i * in.bytes(), in.data(), in.bytes());
  frame->Out(op, std::move(out));
}

struct SliceOf {
  Dims starts, limits, strides;
  explicit SliceOf(const Op& op)
      : starts(op.Integers("start_indices")),
        limits(op.Integers("limit_indices")),
        strides(op.Integers("strides")) {}
};

void CheckSlice(const Op& op) {
  CheckCounts(op, 1, 1);
  const Type& from = op.operand_types[0];
  const SliceOf slice(op);
  CheckSize(op, "start_indices", slice.starts, from.rank());
  CheckSize(op, "limit_indices", slice.limits, from.rank());
  CheckSize(op, "strides", slice.strides, from.rank());
  Dims dims;
  for (size_t i = 0; i < from.dims.size(); ++i) {
    const std::string axis = " in dimension " + std::to_string(i);
    CheckThat(op, slice.strides[i] > 0,
              "stride must be positive but got " + std::to_string(slice.strides[i]) + axis);
    CheckThat(op, slice.starts[i] >= 0 && slice.starts[i] <= slice.limits[i],
              "start index " + std::to_string(slice.starts[i]) + " is not in [0, limit]" + axis);
    CheckThat(op, slice.limits[i] <= from.dims[i],
              "limit index " + std::to_string(slice.limits[i]) + " is larger than dimension size " +
                  std::to_string(from.dims[i]) + axis);
    const int64_t length = slice.limits[i] - slice.starts[i];
    dims.push_back(length / slice.strides[i] + (length % slice.strides[i] != 0));
  }
  CheckResult(op, 0, {from.element, dims});
}
void Slice(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  const SliceOf slice(op);
  Array out(op.result_types[0]);
  const Dims strides = StridesOf(in.dims());
  Dims steps;
  int64_t start = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    start += slice.starts[i] * strides[i];
    steps.push_back(strides[i] * slice.strides[i]);
  }
  const size_t size = ByteSize(out.element());
  CopyStrided(in.data() + start * size, steps, out.data(), StridesOf(out.dims()), out.dims(), size);
  frame->Out(op, std::move(out));
}

void CheckReverse(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckAxes(op, "dimensions", op.Integers("dimensions"), op.operand_types[0].rank());
  CheckResult(op, 0, op.operand_types[0]);
}
void Reverse(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array out(op.result_types[0]);
  Dims steps = StridesOf(in.dims());
  int64_t start = 0;
  for (int64_t axis : op.Integers("dimensions")) {
    start += (in.dims()[axis] - 1) * steps[axis];
    steps[axis] = -steps[axis];
  }
  const auto size = static_cast<int64_t>(ByteSize(out.element()));
  if (out.count() > 0) {
    CopyStrided(in.data() + start * size, steps, out.data(), StridesOf(out.dims()), out.dims(),
                ByteSize(out.element()));
  }
  frame->Out(op, std::move(out));
}

void CheckConcatenate(const Op& op) {
  CheckThat(op, !op.operands.empty(), "expects at least one operand");
  CheckCounts(op, op.operands.size(), 1);
  const Type& first = op.operand_types[0];
  const int64_t axis = op.Integer("dimension", -1);
  CheckAxes(op, "dimension", {axis}, first.rank());
  Type expected = first;
  expected.dims[axis] = 0;
  for (const Type& type : op.operand_types) {
    Type fitting = first;
    if (type.rank() == first.rank()) {
      fitting.dims[axis] = type.dims[axis];
      expected.dims[axis] += type.dims[axis];
    }
    CheckThat(op, type == fitting,
              "shapes of operands '" + ToString(first) + "' and '" + ToString(type) +
                  "' do not match at non-concat dimensions");
  }
  CheckResult(op, 0, expected);
}
void Concatenate(Frame* frame, const Op& op) {
  Array out(op.result_types[0]);
  const int64_t axis = op.Integer("dimension", 0);
  const Dims strides = StridesOf(out.dims());
  const size_t size = ByteSize(out.element());
  int64_t at = 0;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Array& in = frame->In(op, i);
    CopyStrided(in.data(), StridesOf(in.dims()), out.data() + at * strides[axis] * size, strides,
                in.dims(), size);
    at += in.dims()[axis];
  }
  frame->Out(op, std::move(out));
}

void CheckPad(const Op& op) {
  CheckCounts(op, 2, 1);
  const Type& from = op.operand_types[0];
  CheckThat(op, op.operand_types[1] == Type({from.element, {}}),
            "padding value must be a scalar of the operand's type");
  const Dims low = op.Integers("edge_padding_low"), high = op.Integers("edge_padding_high"),
             interior = op.Integers("interior_padding");
  CheckSize(op, "edge_padding_low", low, from.rank());
  CheckSize(op, "edge_padding_high", high, from.rank());
  CheckSize(op, "interior_padding", interior, from.rank());
  Dims dims;
  for (size_t i = 0; i < from.dims.size(); ++i) {
    constexpr int64_t kMost = int64_t{1} << 40;
    CheckThat(op, interior[i] >= 0 && interior[i] < kMost, "interior padding must be non-negative");
    CheckThat(op, std::abs(low[i]) < kMost && std::abs(high[i]) < kMost,
              "the padding is too large");
    const __int128 inner =
        static_cast<__int128>(from.dims[i]) +
        static_cast<__int128>(interior[i]) * std::max<int64_t>(from.dims[i] - 1, 0);
    CheckThat(op, inner < kMost * 1024, "the padded dimension is too large");
    const int64_t dim = static_cast<int64_t>(inner) + low[i] + high[i];
    CheckThat(op, dim >= 0, "padding result in negative size for dimension " + std::to_string(i));
    dims.push_back(dim);
  }
  CheckResult(op, 0, {from.element, dims});
}
void Pad(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array out(op.result_types[0]);
  Fill(frame->In(op, 1), out);
  const Dims low = op.Integers("edge_padding_low"), interior = op.Integers("interior_padding");
  const Dims in_strides = StridesOf(in.dims()), out_strides = StridesOf(out.dims());
  Dims dims, steps;
  int64_t from = 0, to = 0;
  for (size_t i = 0; i < low.size(); ++i) {
    // The elements that negative padding leaves: those whose place low + k * step is in [0, dim).
    const int64_t step = interior[i] + 1;
    const int64_t first = low[i] < 0 ? (-low[i] + step - 1) / step : 0;
    const int64_t room = out.dims()[i] - 1 - low[i];
    const int64_t last = room < 0 ? -1 : std::min(in.dims()[i] - 1, room / step);
    dims.push_back(std::max<int64_t>(last - first + 1, 0));
    from += first * in_strides[i];
    to += (low[i] + first * step) * out_strides[i];
    steps.push_back(step * out_strides[i]);
  }
  for (int64_t dim : dims) {
    if (dim == 0) return frame->Out(op, std::move(out));
  }
  const auto size = static_cast<int64_t>(ByteSize(out.element()));
  CopyStrided(in.data() + from * size, in_strides, out.data() + to * size, steps, dims,
              ByteSize(out.element()));
  frame->Out(op, std::move(out));
}

void CheckIota(const Op& op) {
  CheckCounts(op, 0, 1);
  CheckKind(op, op.result_types[0], kNumbers);
  CheckAxes(op, "iota_dimension", {op.Integer("iota_dimension", -1)}, op.result_types[0].rank());
}
void Iota(Frame* frame, const Op& op) {
  Array out(op.result_types[0]);
  const int64_t axis = op.Integer("iota_dimension", 0);
  Array line({out.element(), {out.dims()[axis]}});
  for (int64_t i = 0; i < line.count(); ++i) {
    if (IsComplex(out.element())) {
      const std::complex<double> value(static_cast<double>(i), 0);
      Store(&value, i, 1, line);
    } else if (IsFloat(out.element())) {
      const auto value = static_cast<double>(i);
      Store(&value, i, 1, line);
    } else {
      Store(&i, i, 1, line);
    }
  }
  Dims steps(out.dims().size(), 0);
  steps[axis] = 1;
  CopyStrided(line.data(), steps, out.data(), StridesOf(out.dims()), out.dims(),
              ByteSize(out.element()));
  frame->Out(op, std::move(out));
}

void CheckDimensionSize(const Op& op) {
  CheckCounts(op, 1, 1);
  CheckAxes(op, "dimension", {op.Integer("dimension", -1)}, op.operand_types[0].rank());
  CheckResult(op, 0, {Element::kI32, {}});
}
void DimensionSize(Frame* frame, const Op& op) {
  Array out(op.result_types[0]);
  *out.data<int32_t>() = static_cast<int32_t>(op.operand_types[0].dims[op.Integer("dimension", 0)]);
  frame->Out(op, std::move(out));
}

}  // namespace

const std::vector<OpRow>& MovementRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.constant", &CheckConstant, &Constant, &LiftedConstant},
      {"stablehlo.reshape", &CheckReshape, &Reshape, nullptr},
      {"stablehlo.transpose", &CheckTranspose, &Transpose, nullptr},
      {"stablehlo.broadcast_in_dim", &CheckBroadcastInDim, &BroadcastInDim, nullptr},
      {"stablehlo.broadcast", &CheckBroadcast, &Broadcast, nullptr},
      {"stablehlo.slice", &CheckSlice, &Slice, nullptr},
      {"stablehlo.reverse", &CheckReverse, &Reverse, nullptr},
      {"stablehlo.concatenate", &CheckConcatenate, &Concatenate, nullptr},
      {"stablehlo.pad", &CheckPad, &Pad, nullptr},
      {"stablehlo.iota", &CheckIota, &Iota, nullptr},
      {"stablehlo.get_dimension_size", &CheckDimensionSize, &DimensionSize, nullptr},
  };
  return kRows;
}

}  // namespace pjref
