// Tensors with a border: Pad, PadV2, MirrorPad and its gradient.
#include "plugin/cpu/arrays/pad.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {

absl::StatusOr<Dims> ReadPaddings(const Prepare& p, int i, int64_t count) {
  TENON_RETURN_IF_ERROR(CheckInputShape(p, i, Shape({count, 2})));
  TENON_ASSIGN_OR_RETURN(Dims pads, InputIntsOfAnyRank(p, i));
  for (int64_t pad : pads) {
    if (pad < 0)
      return p.Invalid(absl::StrCat("input ", i, " must hold no negative numbers, not ", pad));
  }
  return pads;
}

absl::StatusOr<Mirror> Mirror::Read(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("mode"));
  return Mirror{mode == "REFLECT" ? 1 : 0};
}

absl::Status Mirror::Check(const Prepare& p, int64_t before, int64_t after, int64_t size) const {
  if (std::max(before, after) <= size - skip) return absl::OkStatus();
  return p.Invalid(absl::StrCat("paddings of ", before, " and ", after, " around ", size,
                                " elements must not exceed ", size - skip));
}

namespace {

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

// Dimensions after the last padded one are joined to it: then a row of the output is [padding, a
// run of the input, padding].
struct PadState {
  ElementCopy copy;
  Dims out_size = {}, in_size = {}, before = {};  // outer dimensions; rows come last, in elements
  int value_input = -1;                           // of the padding; without one it is zero
  int64_t rows = 1;
};

absl::Status RunPad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PadState*>(state);
  const int outer = static_cast<int>(s.out_size.size()) - 1;
  const int64_t row = s.out_size[outer], run = s.in_size[outer], left = s.before[outer];
  const auto fill = [&](int64_t at, int64_t count) {
    if (s.value_input < 0) {
      s.copy.Zero(args.out[0], at, count);
    } else {
      s.copy.Repeat(args.in[s.value_input], 0, args.out[0], at, count);
    }
  };
  const int64_t grain = GrainFor(row * s.copy.bytes() * 2);
  args.workers->ParallelFor(s.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
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
        fill(r * row, row);
        continue;
      }
      fill(r * row, left);
      s.copy(args.in[0], from * run, args.out[0], r * row + left, run);
      fill(r * row + left + run, row - left - run);
    }
  });
  return absl::OkStatus();
}

absl::Status PreparePad(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p, 1, in.rank()));
  TENON_ASSIGN_OR_RETURN(const Shape out, PaddedShape(p, pads));
  const bool has_value = p.num_inputs() > 2;
  if (has_value && p.input_shape(2).rank() != 0)
    return p.Invalid("'constant_values' must be a scalar");
  p.set_output_shape(0, out);
  if (out == in) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  // The last padded dimension; the ones behind it are joined to it as `inner` elements.
  int last = in.rank() - 1;
  while (last > 0 && in.dim(last) == out.dim(last)) --last;
  auto s = std::make_shared<PadState>(PadState{ElementCopy(p.input_type(0))});
  for (int d = 0; d <= last; ++d) {
    const int64_t inner = d == last ? DimProduct(in, last + 1, in.rank()) : 1;
    s->out_size.push_back(out.dim(d) * inner);
    s->in_size.push_back(in.dim(d) * inner);
    s->before.push_back(pads[2 * d] * inner);
    if (d < last) s->rows *= out.dim(d);
  }
  if (out.num_elements() == 0) s->rows = 0;
  if (has_value) s->value_input = 2;
  p.set_run(&RunPad, std::move(s));
  return absl::OkStatus();
}

// Where each element along each dimension comes from.
struct MirrorState {
  ElementCopy copy;
  std::vector<std::vector<int64_t>> source = {};
  Dims stride = {};  // of the input, in elements
};

absl::Status RunMirror(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MirrorState*>(state);
  const int rank = static_cast<int>(s.source.size());
  const auto& inner = s.source[rank - 1];
  const int64_t row = static_cast<int64_t>(inner.size());
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; ++d) rows *= static_cast<int64_t>(s.source[d].size());
  const int64_t grain = GrainFor(row * s.copy.bytes() * 2);
  args.workers->ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, from = 0;
      for (int d = rank - 2; d >= 0; --d) {
        const int64_t n = static_cast<int64_t>(s.source[d].size());
        from += s.source[d][rest % n] * s.stride[d];
        rest /= n;
      }
      for (int64_t i = 0; i < row; ++i)
        s.copy(args.in[0], from + inner[i], args.out[0], r * row + i);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareMirrorPad(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p, 1, in.rank()));
  TENON_ASSIGN_OR_RETURN(const Mirror mirror, Mirror::Read(p));
  for (int d = 0; d < in.rank(); ++d)
    TENON_RETURN_IF_ERROR(mirror.Check(p, pads[2 * d], pads[2 * d + 1], in.dim(d)));
  TENON_ASSIGN_OR_RETURN(const Shape out, PaddedShape(p, pads));
  p.set_output_shape(0, out);
  if (out == in) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  if (out.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<MirrorState>(MirrorState{ElementCopy(p.input_type(0))});
  s->stride = DenseStrides(in, 1);
  for (int d = 0; d < in.rank(); ++d) {
    std::vector<int64_t> source(out.dim(d));
    for (int64_t i = 0; i < out.dim(d); ++i) source[i] = mirror.Source(i, pads[2 * d], in.dim(d));
    s->source.push_back(std::move(source));
  }
  p.set_run(&RunMirror, std::move(s));
  return absl::OkStatus();
}

// Along each dimension, the places of the padded tensor (in its elements) that show element i.
struct MirrorGradState {
  DataType type;
  Shape out;
  std::vector<std::vector<absl::InlinedVector<int64_t, 3>>> places;
};

// The sum over all combinations of the places of one element, one from each dimension.
template <typename Element>
auto SumOfPlaces(const MirrorGradState& s, Element element, const void* in, const Dims& index,
                 Dims* choice) {
  using A = typename Element::Wide;
  A sum{};
  std::fill(choice->begin(), choice->end(), 0);
  for (;;) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += s.places[d][index[d]][(*choice)[d]];
    sum += element.template As<A>(in, at);
    int d = static_cast<int>(index.size()) - 1;
    for (; d >= 0; --d) {
      if (++(*choice)[d] < static_cast<int64_t>(s.places[d][index[d]].size())) break;
      (*choice)[d] = 0;
    }
    if (d < 0) return sum;
  }
}

absl::Status RunMirrorGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MirrorGradState*>(state);
  const int rank = s.out.rank();
  VisitElement(s.type, [&](auto element) {
    const auto part = [&](int64_t begin, int64_t end) {
      Dims index(rank), choice(rank);
      for (int64_t i = begin; i < end; ++i) {
        int64_t rest = i;
        for (int d = rank - 1; d >= 0; --d) {
          index[d] = rest % s.out.dim(d);
          rest /= s.out.dim(d);
        }
        element.Put(args.out[0], i, SumOfPlaces(s, element, args.in[0], index, &choice));
      }
    };
    args.workers->ParallelFor(s.out.num_elements(), GrainFor(64), part);
  });
  return absl::OkStatus();
}

absl::Status PrepareMirrorPadGrad(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims pads, ReadPaddings(p, 1, in.rank()));
  TENON_ASSIGN_OR_RETURN(const Mirror mirror, Mirror::Read(p));
  auto s = std::make_shared<MirrorGradState>();
  s->type = p.input_type(0);
  const Dims stride = DenseStrides(in, 1);
  for (int d = 0; d < in.rank(); ++d) {
    const int64_t before = pads[2 * d], after = pads[2 * d + 1];
    // Written without before + after, which could overflow.
    if (before >= in.dim(d) || after >= in.dim(d) - before) {
      return p.Invalid(absl::StrCat("paddings of dimension ", d, ", ", before, " and ", after,
                                    ", must together be less than its size, ", in.dim(d)));
    }
    const int64_t size = in.dim(d) - before - after;
    TENON_RETURN_IF_ERROR(mirror.Check(p, before, after, size));
    // An element shows at most three times: itself and one mirror image at each side.
    std::vector<absl::InlinedVector<int64_t, 3>> places(size);
    for (int64_t i = 0; i < in.dim(d); ++i)
      places[mirror.Source(i, before, size)].push_back(i * stride[d]);
    s->places.push_back(std::move(places));
    s->out.push_back(size);
  }
  p.set_output_shape(0, s->out);
  if (s->out == in) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  p.set_run(&RunMirrorGrad, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> PadKernels() {
  static const CpuKernelSpec specs[] = {
      {"Pad", {{"T", kCopyTypes}}, PreparePad, 0b10},
      {"PadV2", {{"T", kCopyTypes}}, PreparePad, 0b10},
      {"MirrorPad", {{"T", kCopyTypes}}, PrepareMirrorPad, 0b10},
      {"MirrorPadGrad", {{"T", kNumberTypes}}, PrepareMirrorPadGrad, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
