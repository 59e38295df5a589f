// Outputs larger than their inputs: BroadcastTo, Tile, Fill, and tensors of one value.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status SetCopy(Prepare& p, int in, StridedCopy copy) {
  copy.Finish();
  std::vector<CopyPiece> pieces;
  pieces.push_back({in, 0, 0, 0, std::move(copy)});
  SetCopies(p, std::move(pieces));
  return absl::OkStatus();
}

// Input `in`, whose shape broadcasts to `out`.
absl::Status SetBroadcast(Prepare& p, int in, const Shape& out) {
  const Shape& shape = p.input_shape(in);
  const DataType type = p.input_type(in);
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const int missing = out.rank() - shape.rank();
  const Dims from = DenseStrides(shape, bytes);
  const Dims to = DenseStrides(out, bytes);
  StridedCopy copy(type);
  for (int d = 0; d < out.rank(); ++d) {
    const int own = d - missing;
    if (own >= 0 && shape.dim(own) != 1 && shape.dim(own) != out.dim(d)) {
      return p.Invalid(
          absl::StrCat("shape ", shape.ToString(), " does not broadcast to ", out.ToString()));
    }
    copy.AddDim(out.dim(d), own < 0 || shape.dim(own) == 1 ? 0 : from[own], to[d]);
  }
  p.set_output_shape(0, out);
  return SetCopy(p, in, std::move(copy));
}

absl::Status PrepareBroadcastTo(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(1));
  if (p.input_shape(1).rank() != 1) return p.Invalid("'shape' must be a vector");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  if (out == p.input_shape(0)) {
    p.set_output_shape(0, out);
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  if (out.rank() < p.input_shape(0).rank())
    return p.Invalid("the new shape has fewer dimensions than the tensor");
  return SetBroadcast(p, 0, out);
}

// As in TensorFlow a scalar may stand for a vector of one and the reverse, if the shape function
// did not know the rank.
absl::Status PrepareFill(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  if (p.input_shape(1).rank() > 1 || p.input_shape(1).num_elements() != 1)
    return p.Invalid("'value' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  p.set_output_shape(0, out);
  StridedCopy copy(p.output_type(0));
  copy.AddDim(out.num_elements(), 0, static_cast<int64_t>(DataTypeSize(p.output_type(0))));
  return SetCopy(p, 1, std::move(copy));
}

// [m0, d0, m1, d1 …]: the source stands still along each m.
absl::Status PrepareTile(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (p.input_shape(1).rank() != 1) {
    return p.Invalid(
        absl::StrCat("Expected multiples to be 1-D, but got shape ", p.input_shape(1).ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Dims multiples, p.InputInts(1));
  if (static_cast<int>(multiples.size()) != in.rank())
    return p.Invalid(absl::StrCat("'multiples' must have ", in.rank(), " elements"));
  Dims dims(in.rank());
  for (int d = 0; d < in.rank(); ++d) {
    if (multiples[d] < 0) {
      return p.Invalid(absl::StrCat("Expected multiples[", d, "] >= 0, but got ", multiples[d]));
    }
    if (__builtin_mul_overflow(in.dim(d), multiples[d], &dims[d])) {
      return p.Invalid(absl::StrCat("multiples[", d, "] cannot be ", multiples[d]));
    }
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  const DataType type = p.output_type(0);
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  const Dims from = DenseStrides(in, bytes);
  const Dims to = DenseStrides(out, bytes);
  StridedCopy copy(type);
  for (int d = 0; d < in.rank(); ++d) {
    copy.AddDim(multiples[d], 0, to[d] * in.dim(d));
    copy.AddDim(in.dim(d), from[d], to[d]);
  }
  p.set_output_shape(0, out);
  return SetCopy(p, 0, std::move(copy));
}

// One element's bytes, repeated.
struct ConstantState {
  alignas(16) char bytes[16] = {};
  StridedCopy copy;
};

absl::Status RunConstant(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ConstantState*>(state);
  s.copy.Run(s.bytes, args.out[0], args.workers);
  return absl::OkStatus();
}

absl::Status SetConstant(Prepare& p, const Shape& shape, bool one) {
  const DataType type = p.output_type(0);
  p.set_output_shape(0, shape);
  if (!IsMemcpyable(type)) {
    if (one || type != DataType::kString) return p.Unimplemented("no CPU kernel for this type");
    // Strings start out empty.
    p.set_run([](const void*, const StepArgs&) { return absl::OkStatus(); });
    return absl::OkStatus();
  }
  auto state = std::make_shared<ConstantState>(ConstantState{{}, StridedCopy(type)});
  if (one) {
    const auto put = [&](auto value) { std::memcpy(state->bytes, &value, sizeof value); };
    if (type == DataType::kFloat || type == DataType::kComplex64) {
      put(1.0f);
    } else if (type == DataType::kDouble || type == DataType::kComplex128) {
      put(1.0);
    } else if (type == DataType::kHalf) {
      put(uint16_t{0x3c00});
    } else if (type == DataType::kBfloat16) {
      put(uint16_t{0x3f80});
    } else {
      put(int64_t{1});
    }
  }
  state->copy.AddDim(shape.num_elements(), 0, static_cast<int64_t>(DataTypeSize(type)));
  state->copy.Finish();
  p.set_run(&RunConstant, std::move(state));
  return absl::OkStatus();
}

absl::Status PrepareZerosLike(Prepare& p) { return SetConstant(p, p.input_shape(0), false); }
absl::Status PrepareOnesLike(Prepare& p) { return SetConstant(p, p.input_shape(0), true); }

// Contents undefined, or the type's default value with `init`; always the default, so that runs are
// alike.
absl::Status PrepareEmpty(Prepare& p) {
  if (p.input_shape(0).rank() != 1) {
    return p.Invalid(
        absl::StrCat("shape must be a vector of int32, got shape ", p.input_shape(0).ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p, dims));
  return SetConstant(p, shape, false);
}

// What a branch gives in place of a value that the other branch alone has: nobody reads it. Lengths
// that are not known are 0, and a shape of which nothing is known is a scalar's, as in TensorFlow.
absl::Status PrepareFakeParam(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, p.AttrShape("shape"));
  Dims dims;
  for (const int64_t d : shape.dims()) dims.push_back(std::max<int64_t>(d, 0));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  return SetConstant(p, out, false);
}

// What TensorFlow begins a ParallelConcat with.
absl::Status PrepareParallelConcatStart(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, p.AttrShape("shape"));
  if (!shape.fully_defined())
    return p.Invalid(absl::StrCat("attribute 'shape' must be known, it is ", shape.ToString()));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, shape.dims()));
  return SetConstant(p, out, false);
}

}  // namespace

absl::Span<const CpuKernelSpec> RepeatKernels() {
  static const CpuKernelSpec specs[] = {
      {"BroadcastTo", {{"T", kEveryType}}, PrepareBroadcastTo, 0b10},
      {"Fill", {{"T", kEveryType}}, PrepareFill, 0b1},
      {"Tile", {}, PrepareTile, 0b10},
      {"ZerosLike", {{"T", kCopyTypes}}, PrepareZerosLike},
      {"OnesLike", {{"T", kEveryType}}, PrepareOnesLike},
      {"Empty", {{"dtype", kCopyTypes}}, PrepareEmpty, 0b1},
      {"FakeParam", {{"dtype", kEveryType}}, PrepareFakeParam},
      {"_ParallelConcatStart", {{"dtype", kCopyTypes}}, PrepareParallelConcatStart},
  };
  return specs;
}

}  // namespace tenon::cpu
