// Outputs larger than their inputs: BroadcastTo, Tile, Fill, padding, and tensors of one value.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

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

absl::Status PrepareFill(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  if (p.input_shape(0).rank() != 1) return p.Invalid("'dims' must be a vector");
  if (p.input_shape(1).rank() != 0) return p.Invalid("'value' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  p.set_output_shape(0, out);
  StridedCopy copy(p.output_type(0));
  copy.AddDim(out.num_elements(), 0, static_cast<int64_t>(DataTypeSize(p.output_type(0))));
  return SetCopy(p, 1, std::move(copy));
}

// [m0, d0, m1, d1 …]: the source stands still along each m.
absl::Status PrepareTile(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims multiples, p.InputInts(1));
  if (static_cast<int>(multiples.size()) != in.rank())
    return p.Invalid(absl::StrCat("'multiples' must have ", in.rank(), " elements"));
  Dims dims(in.rank());
  for (int d = 0; d < in.rank(); ++d) {
    if (multiples[d] < 0 || __builtin_mul_overflow(in.dim(d), multiples[d], &dims[d])) {
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
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p, dims));
  return SetConstant(p, shape, false);
}

// Dimensions after the last padded one are joined to it: then a row of the output is [padding, a
// run of the input, padding].
struct PadState {
  Dims out_size, in_size, before;  // outer dimensions; rows come last, in elements
  int64_t bytes = 0;
  alignas(16) char zero[16] = {};
  int value_input = -1;
  int64_t rows = 1;
};

struct PadRow {
  const PadState& s;
  const char* value;

  void Fill(char* to, int64_t count) const {
    switch (s.bytes) {
      case 1:
        std::memset(to, *value, count);
        return;
      case 4: {
        uint32_t bits;
        std::memcpy(&bits, value, 4);
        std::fill_n(reinterpret_cast<uint32_t*>(to), count, bits);
        return;
      }
      default:
        for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * s.bytes, value, s.bytes);
    }
  }
};

absl::Status RunPad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PadState*>(state);
  const PadRow fill{s,
                    s.value_input < 0 ? s.zero : static_cast<const char*>(args.in[s.value_input])};
  const int outer = static_cast<int>(s.out_size.size()) - 1;
  const int64_t row = s.out_size[outer];
  args.workers->ParallelFor(s.rows, GrainFor(row * s.bytes * 2), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      char* to = static_cast<char*>(args.out[0]) + r * row * s.bytes;
      int64_t rest = r, from = 0, stride = 1;
      bool inside = true;
      for (int d = outer - 1; d >= 0; --d) {
        const int64_t at = rest % s.out_size[d] - s.before[d];
        rest /= s.out_size[d];
        inside = inside && at >= 0 && at < s.in_size[d];
        from += at * stride;
        stride *= s.in_size[d];
      }
      if (!inside) {
        fill.Fill(to, row);
        continue;
      }
      const int64_t run = s.in_size[outer], left = s.before[outer];
      fill.Fill(to, left);
      std::memcpy(to + left * s.bytes, static_cast<const char*>(args.in[0]) + from * run * s.bytes,
                  run * s.bytes);
      fill.Fill(to + (left + run) * s.bytes, row - left - run);
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<Dims> ReadPaddings(const Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims pads, InputIntsOfAnyRank(p, 1));
  if (!(p.input_shape(1) == Shape({in.rank(), 2}))) {
    return p.Invalid(absl::StrCat("'paddings' must have shape [", in.rank(), ",2]"));
  }
  for (int64_t pad : pads) {
    if (pad < 0) return p.Invalid(absl::StrCat("paddings must not be negative: ", pad));
  }
  return pads;
}

absl::StatusOr<Shape> PaddedShape(const Prepare& p, const Dims& pads) {
  Dims dims(p.input_shape(0).rank());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (__builtin_add_overflow(p.input_shape(0).dim(static_cast<int>(d)), pads[2 * d], &dims[d]) ||
        __builtin_add_overflow(dims[d], pads[2 * d + 1], &dims[d])) {
      return p.Invalid("the padded shape is too large");
    }
  }
  return CheckedShape(p, dims);
}

absl::Status PreparePad(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (!IsMemcpyable(p.input_type(0))) return p.Unimplemented("no CPU kernel for this type");
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p));
  TENON_ASSIGN_OR_RETURN(const Shape out, PaddedShape(p, pads));
  p.set_output_shape(0, out);
  if (out == in) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  int last = in.rank() - 1;
  while (last > 0 && in.dim(last) == out.dim(last)) --last;
  auto s = std::make_shared<PadState>();
  for (int d = 0; d <= last; ++d) {
    const int64_t inner = d == last ? DimProduct(in, last + 1, in.rank()) : 1;
    s->out_size.push_back(out.dim(d) * inner);
    s->in_size.push_back(in.dim(d) * inner);
    s->before.push_back(pads[2 * d] * inner);
    if (d < last) s->rows *= out.dim(d);
  }
  if (out.num_elements() == 0) s->rows = 0;
  s->bytes = static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  if (p.num_inputs() > 2) {
    if (p.input_shape(2).num_elements() != 1)
      return p.Invalid("'constant_values' must be a scalar");
    s->value_input = 2;
  }
  p.set_run(&RunPad, std::move(s));
  return absl::OkStatus();
}

// Where each element along each dimension comes from.
struct MirrorState {
  std::vector<std::vector<int64_t>> source;
  Dims stride;
  int64_t bytes = 0;
};

absl::Status RunMirror(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MirrorState*>(state);
  const int rank = static_cast<int>(s.source.size());
  const auto& inner = s.source[rank - 1];
  const int64_t row = static_cast<int64_t>(inner.size());
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; ++d) rows *= static_cast<int64_t>(s.source[d].size());
  args.workers->ParallelFor(rows, GrainFor(row * s.bytes * 2), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, from = 0;
      for (int d = rank - 2; d >= 0; --d) {
        const int64_t n = static_cast<int64_t>(s.source[d].size());
        from += s.source[d][rest % n] * s.stride[d];
        rest /= n;
      }
      const char* line = static_cast<const char*>(args.in[0]) + from;
      char* to = static_cast<char*>(args.out[0]) + r * row * s.bytes;
      for (int64_t i = 0; i < row; ++i)
        std::memcpy(to + i * s.bytes, line + inner[i] * s.bytes, s.bytes);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareMirrorPad(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (!IsMemcpyable(p.input_type(0))) return p.Unimplemented("no CPU kernel for this type");
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p));
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("mode"));
  const int64_t skip = mode == "REFLECT" ? 1 : 0;  // SYMMETRIC repeats the border itself
  TENON_ASSIGN_OR_RETURN(const Shape out, PaddedShape(p, pads));
  p.set_output_shape(0, out);
  if (out == in) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  auto s = std::make_shared<MirrorState>();
  s->bytes = static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  s->stride = DenseStrides(in, s->bytes);
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t n = in.dim(d);
    if (pads[2 * d] > n - skip || pads[2 * d + 1] > n - skip) {
      return p.Invalid(absl::StrCat("paddings of dimension ", d, " must not exceed ", n - skip));
    }
    std::vector<int64_t> source(out.dim(d));
    for (int64_t i = 0; i < out.dim(d); ++i) {
      int64_t at = i - pads[2 * d];
      if (at < 0) at = -at - 1 + skip;
      if (at >= n) at = 2 * n - 1 - skip - at;
      source[i] = at;
    }
    s->source.push_back(std::move(source));
  }
  p.set_run(&RunMirror, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> RepeatKernels() {
  static const CpuKernelSpec specs[] = {
      {"BroadcastTo", {}, PrepareBroadcastTo, 0b10},
      {"Fill", {}, PrepareFill, 0b1},
      {"Tile", {}, PrepareTile, 0b10},
      {"ZerosLike", {}, PrepareZerosLike},
      {"OnesLike", {}, PrepareOnesLike},
      {"Empty", {}, PrepareEmpty, 0b1},
      {"Pad", {}, PreparePad, 0b10},
      {"PadV2", {}, PreparePad, 0b10},
      {"MirrorPad", {}, PrepareMirrorPad, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
