// convolution: for each place of the window one product, over all positions at once.
#include <complex>

#include "checks.h"
#include "elementwise.h"
#include "families.h"
#include "product.h"
#include "strided.h"
#include "window.h"

namespace pjref {
namespace {

// The op's attributes. Axes are positions in the operands.
struct Convolving {
  Dims input, kernel, output;  // batch, spatial axes, feature; of the kernel: spatial axes, in, out
  std::vector<WindowAxis> windows;
  std::vector<bool> reversed;
  int64_t groups = 1, batch_groups = 1;
};

Dims Numbers(const Op& op, const char* first, const char* list, const char* last) {
  Op holder;
  holder.name = op.name;
  holder.place = op.place;
  holder.attributes = *op.Find("dimension_numbers");
  Dims axes;
  if (first) axes.push_back(holder.Integer(first, -1));
  const Dims spatial = holder.Integers(list);
  axes.insert(axes.end(), spatial.begin(), spatial.end());
  if (last) axes.push_back(holder.Integer(last, -1));
  return axes;
}

Convolving Read(const Op& op) {
  CheckThat(op, op.Find("dimension_numbers") != nullptr, "requires attribute 'dimension_numbers'");
  Convolving made;
  made.input =
      Numbers(op, "input_batch_dimension", "input_spatial_dimensions", "input_feature_dimension");
  made.output = Numbers(op, "output_batch_dimension", "output_spatial_dimensions",
                        "output_feature_dimension");
  made.kernel = Numbers(op, nullptr, "kernel_spatial_dimensions", "kernel_input_feature_dimension");
  made.kernel.push_back(Numbers(op, nullptr, "none", "kernel_output_feature_dimension")[0]);
  made.groups = op.Integer("feature_group_count", 1);
  made.batch_groups = op.Integer("batch_group_count", 1);
  const Type& input = op.operand_types[0];
  const Type& kernel = op.operand_types[1];
  const int64_t rank = input.rank();
  CheckThat(op, rank >= 2 && kernel.rank() == rank && op.result_types[0].rank() == rank,
            "expects operands and result of one rank, 2 or more");
  for (const Dims* axes : {&made.input, &made.kernel, &made.output}) {
    CheckSize(op, "dimension numbers", *axes, rank);
    CheckAxes(op, "dimension numbers", *axes, rank);
  }
  const auto spatial = static_cast<size_t>(rank - 2);
  const Dims ones(spatial, 1);
  const Dims strides = op.Integers("window_strides", ones),
             left = op.Integers("lhs_dilation", ones), right = op.Integers("rhs_dilation", ones),
             padding = op.Integers("padding", Dims(2 * spatial, 0)),
             reversal = op.Integers("window_reversal", Dims(spatial, 0));
  CheckSize(op, "window_strides", strides, rank - 2);
  CheckSize(op, "lhs_dilation", left, rank - 2);
  CheckSize(op, "rhs_dilation", right, rank - 2);
  CheckSize(op, "padding", padding, 2 * (rank - 2));
  CheckSize(op, "window_reversal", reversal, rank - 2);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t window = kernel.dims[made.kernel[i]];
    WindowAxis axis = {input.dims[made.input[i + 1]],
                       std::max<int64_t>(window, 1),
                       strides[i],
                       left[i],
                       right[i],
                       padding[2 * i],
                       padding[2 * i + 1],
                       0};
    SetOutput(op, &axis);
    axis.window = window;
    made.windows.push_back(axis);
    made.reversed.push_back(reversal[i] != 0);
  }
  return made;
}

void CheckConvolution(const Op& op) {
  CheckCounts(op, 2, 1);
  CheckKind(op, op.operand_types[0], kAll);
  CheckKind(op, op.operand_types[1], kAll);
  const Convolving how = Read(op);
  const Type& input = op.operand_types[0];
  const Type& kernel = op.operand_types[1];
  const Type& out = op.result_types[0];
  CheckThat(op,
            IsComplex(input.element) == IsComplex(kernel.element) &&
                IsFloat(input.element) == IsFloat(kernel.element) &&
                IsComplex(out.element) == IsComplex(input.element) &&
                (!IsFloat(input.element) || IsFloat(out.element)),
            "does not convolve '" + ToString(input) + "' and '" + ToString(kernel) + "' to '" +
                ToString(out) + "'");
  CheckThat(
      op, how.groups >= 1 && how.batch_groups >= 1 && (how.groups == 1 || how.batch_groups == 1),
      "expects feature_group_count and batch_group_count to be positive, and one of them to be 1");
  const int64_t batch = input.dims[how.input.front()], in = input.dims[how.input.back()];
  const int64_t kernel_in = kernel.dims[how.kernel[how.kernel.size() - 2]],
                features = kernel.dims[how.kernel.back()];
  CheckThat(op, in == kernel_in * how.groups,
            "expects input feature dimension (" + std::to_string(in) + ") to be the kernel's (" +
                std::to_string(kernel_in) + ") by feature_group_count");
  CheckThat(op,
            features % how.groups == 0 && features % how.batch_groups == 0 &&
                batch % how.batch_groups == 0,
            "expects output features and batch to be divisible by the group counts");
  Dims dims(out.dims.size());
  dims[how.output.front()] = batch / how.batch_groups;
  dims[how.output.back()] = features;
  for (size_t i = 0; i < how.windows.size(); ++i) dims[how.output[i + 1]] = how.windows[i].out;
  CheckResult(op, 0, {out.element, dims});
}

// Elements as the type in which they are multiplied, so that a product needs no conversion.
template <typename T>
Array Loaded(const Array& in) {
  constexpr Element kElement = std::is_same_v<T, float>    ? Element::kF32
                               : std::is_same_v<T, double> ? Element::kF64
                               : kIsComplex<T>             ? Element::kC128
                                                           : Element::kU64;
  if (in.element() == kElement) return in;
  Array out({kElement, in.dims()});
  Load<T>(in, 0, in.count(), out.data<T>());
  return out;
}

// One group: input [batch, spatial..., in], kernel [window..., in, out], result [batch, spatial...,
// out], added to.
template <typename T>
void AddGroup(const Convolving& how, const Array& input, const Array& kernel, const Array& out) {
  std::vector<WindowAxis> axes = how.windows;
  WindowAxis whole;
  whole.in = whole.out = input.dims().front();
  axes.insert(axes.begin(), whole);
  whole.in = whole.out = input.dims().back();
  axes.push_back(whole);
  const int64_t depth = input.dims().back(), features = kernel.dims().back();
  const int64_t positions = features == 0 ? 0 : out.count() / features;
  Array zero({input.element(), {}});
  *zero.data<T>() = T(0);
  Dims places;
  for (const WindowAxis& axis : axes) places.push_back(axis.window);
  for (int64_t place : places) {
    if (place == 0) return;
  }
  Dims place(places.size(), 0);
  do {
    const Array rows = ElementsAt(input, zero, axes, place);
    int64_t at = 0;
    for (size_t i = 0; i < how.windows.size(); ++i) {
      const int64_t window = how.windows[i].window;
      at = at * window + (how.reversed[i] ? window - 1 - place[i + 1] : place[i + 1]);
    }
    MultiplyAdd<T>(positions, features, depth, rows.data<T>(),
                   kernel.data<T>() + at * depth * features, out.data<T>());
  } while (Advance(places, &place));
}

// Elements `index` * `size` to + `size` along `axis`.
Array Part(const Array& in, size_t axis, int64_t index, int64_t size) {
  Dims dims = in.dims();
  if (dims[axis] == size) return in;
  dims[axis] = size;
  Array out({in.element(), dims});
  const Dims strides = StridesOf(in.dims());
  const size_t bytes = ByteSize(in.element());
  CopyStrided(in.data() + index * size * strides[axis] * bytes, strides, out.data(),
              StridesOf(dims), dims, bytes);
  return out;
}

template <typename T>
void Convolve(Frame* frame, const Op& op) {
  const Convolving how = Read(op);
  const Array input = Loaded<T>(Transposed(frame->In(op, 0), how.input));
  const Array kernel = Loaded<T>(Transposed(frame->In(op, 1), how.kernel));
  const int64_t groups = how.groups * how.batch_groups, last = input.type().rank() - 1;
  const int64_t features = kernel.dims().back() / groups;
  Dims dims;
  for (int64_t axis : how.output) dims.push_back(op.result_types[0].dims[axis]);
  Array out({input.element(), dims});
  std::fill_n(out.data<T>(), out.count(), T(0));
  Dims part_dims = dims;
  part_dims.back() = features;
  for (int64_t group = 0; group < groups; ++group) {
    const size_t axis = how.groups > 1 ? static_cast<size_t>(last) : 0;
    const Array from = Part(input, axis, group, input.dims()[axis] / groups);
    const Array with = Part(kernel, static_cast<size_t>(last), group, features);
    Array part({input.element(), part_dims});
    std::fill_n(part.data<T>(), part.count(), T(0));
    AddGroup<T>(how, from, with, part);
    CopyStrided(part.data(), StridesOf(part_dims), out.data() + group * features * sizeof(T),
                StridesOf(dims), part_dims, sizeof(T));
  }
  Array stored({op.result_types[0].element, dims});
  Store(out.data<T>(), 0, out.count(), stored);
  Dims back(dims.size());
  for (size_t i = 0; i < back.size(); ++i) back[how.output[i]] = static_cast<int64_t>(i);
  frame->Out(op, Transposed(stored, back));
}

void Convolution(Frame* frame, const Op& op) {
  const Element in = op.operand_types[0].element, out = op.result_types[0].element;
  if (IsComplex(in)) return Convolve<std::complex<double>>(frame, op);
  if (in == Element::kF64 || op.operand_types[1].element == Element::kF64 || out == Element::kF64 ||
      (!IsFloat(in) && IsFloat(out))) {
    return Convolve<double>(frame, op);
  }
  if (IsFloat(in)) return Convolve<float>(frame, op);
  Convolve<uint64_t>(frame, op);
}

}  // namespace

const std::vector<OpRow>& ConvolutionRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.convolution", &CheckConvolution, &Convolution, nullptr},
  };
  return kRows;
}

}  // namespace pjref
