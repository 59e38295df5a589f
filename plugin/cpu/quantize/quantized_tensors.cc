// QuantizedConcat(V2), QuantizedBatchNormWithGlobalNormalization, QuantizedInstanceNorm.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// --- QuantizedConcat: n tensors, before (in V2, behind) them the axis; their minima, their maxima.

struct Concat {
  DataType type;
  int first = 0;           // of the tensors
  bool from_zero = false;  // ranges of bytes begin there
  int64_t outer;
  std::vector<int64_t> widths;  // elements of each tensor in one row of the result
};

ValueRange RangeOfAll(const Concat& s, const StepArgs& args) {
  const int n = static_cast<int>(s.widths.size());
  ValueRange all{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  for (int i = 0; i < n; ++i) {
    all.min = std::min(all.min, *static_cast<const float*>(args.in[1 + n + i]));
    all.max = std::max(all.max, *static_cast<const float*>(args.in[1 + 2 * n + i]));
  }
  // Ranges of signed types are made symmetric about 0, as in TensorFlow.
  if (!QuantizedTypeOf(s.type).is_signed()) return {s.from_zero ? 0 : all.min, all.max};
  const float most = std::max(std::abs(all.min), std::abs(all.max));
  return {-most, most};
}

// The part of the result's rows that one tensor becomes.
struct ConcatPart {
  const void* from;
  ValueRange range;  // of the tensor
  int64_t width;     // of its rows
  int64_t to;        // its first element in a row of the result
};

// Writes the part of these rows of `out`, which are `row` elements long and have this range.
template <typename Element>
void WritePart(Element element, QuantizedType type, const ConcatPart& part, ValueRange range,
               int64_t row, int64_t begin, int64_t end, void* out) {
  const Dequantizer dequantize(type, part.range.min, part.range.max);
  const Quantizer quantize(type, range.min, range.max);
  // A tensor whose range is the result's is copied: dequantizing and quantizing could round.
  const bool unchanged = part.range.min == range.min && part.range.max == range.max;
  for (int64_t r = begin; r < end; ++r) {
    for (int64_t k = 0; k < part.width; ++k) {
      const auto q = element.template As<int32_t>(part.from, r * part.width + k);
      element.Put(out, r * row + part.to + k, unchanged ? q : quantize(dequantize(q)));
    }
  }
}

absl::Status RunConcat(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Concat*>(state);
  const int n = static_cast<int>(s.widths.size());
  const QuantizedType type = QuantizedTypeOf(s.type);
  const ValueRange out = RangeOfAll(s, args);
  int64_t row = 0;
  for (int64_t width : s.widths) row += width;
  VisitQuantized(s.type, [&](auto element) {
    args.workers->ParallelFor(s.outer, GrainFor(row * 8), [&](int64_t begin, int64_t end) {
      int64_t to = 0;
      for (int i = 0; i < n; to += s.widths[i++]) {
        const ValueRange range = {*static_cast<const float*>(args.in[1 + n + i]),
                                  *static_cast<const float*>(args.in[1 + 2 * n + i])};
        WritePart(element, type, {args.in[s.first + i], range, s.widths[i], to}, out, row, begin,
                  end, args.out[0]);
      }
    });
  });
  StoreRange(args, 1, out);
  return absl::OkStatus();
}

// Fills `s` for tensors of these shapes, and returns the shape of the result. Errors are without
// the op's name.
absl::StatusOr<Shape> PlanConcat(absl::Span<const Shape> shapes, int axis, Concat& s) {
  const Shape& first = shapes[0];
  s.outer = DimProduct(first, 0, axis);
  Dims dims(first.dims().begin(), first.dims().end());
  dims[axis] = 0;
  for (const Shape& shape : shapes) {
    bool fits = shape.rank() == first.rank();
    for (int d = 0; fits && d < shape.rank(); ++d) fits = d == axis || shape.dim(d) == first.dim(d);
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat("the shapes ", first.ToString(), " and ",
                                                     shape.ToString(),
                                                     " must agree but in dimension ", axis));
    }
    s.widths.push_back(DimProduct(shape, axis, shape.rank()));
    if (__builtin_add_overflow(dims[axis], shape.dim(axis), &dims[axis]))
      return absl::InvalidArgumentError("the result is too long");
  }
  return Shape::Make(dims);
}

std::vector<Shape> TensorShapes(const Prepare& p, int first) {
  std::vector<Shape> shapes;
  for (int i = 0; i < (p.num_inputs() - 1) / 3; ++i) shapes.push_back(p.input_shape(first + i));
  return shapes;
}

absl::Status PrepareConcatOf(Prepare& p, std::shared_ptr<Concat> s, int axis) {
  const std::vector<Shape> shapes = TensorShapes(p, s->first);
  s->type = p.input_type(s->first);
  const absl::StatusOr<Shape> output = PlanConcat(shapes, axis, *s);
  if (!output.ok()) return p.Invalid(output.status().message());
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 1 + static_cast<int>(shapes.size()), p.num_inputs()));
  SetQuantizedOutput(p, *output);
  p.set_run(&RunConcat, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareConcat(Prepare& p) {
  auto s = std::make_shared<Concat>();
  s->first = 1;
  const int rank = p.input_shape(s->first).rank();
  TENON_ASSIGN_OR_RETURN(const int64_t axis, InputInt(p, 0));
  if (axis < 0 || axis >= rank)
    return p.Invalid(absl::StrCat("concat_dim ", axis, " is outside of [0, ", rank, ")"));
  return PrepareConcatOf(p, std::move(s), static_cast<int>(axis));
}

// The axis is known only when the step runs.
struct LateConcat {
  std::vector<Shape> shapes;
  DataType type;
  bool axis64;
};

absl::Status RunLateConcat(const void* state, const StepArgs& args) {
  const auto& late = *static_cast<const LateConcat*>(state);
  const int rank = late.shapes[0].rank();
  int64_t axis = LoadIndex(args.in[late.shapes.size()], late.axis64, 0);
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside of [", -rank, ", ", rank, ")"));
  }
  if (axis < 0) axis += rank;
  Concat s;
  s.type = late.type;
  s.from_zero = true;
  TENON_ASSIGN_OR_RETURN(const Shape shape, PlanConcat(late.shapes, static_cast<int>(axis), s));
  TENON_ASSIGN_OR_RETURN(void* const data, args.run_state->AllocateOutput(0, shape));
  void* const out[] = {data, args.out[1], args.out[2]};
  StepArgs inner = args;
  inner.out = out;
  return RunConcat(&s, inner);
}

absl::Status PrepareConcatV2(Prepare& p) {
  const int axis_input = (p.num_inputs() - 1) / 3;
  if (p.input_value(axis_input) == nullptr) {
    if (p.input_shape(axis_input).rank() != 0) return p.Invalid("the axis must be a scalar");
    TENON_RETURN_IF_ERROR(CheckSingleValues(p, 1 + axis_input, p.num_inputs()));
    SetQuantizedOutput(p, Shape());
    p.set_dynamic_output(0);
    p.set_run(&RunLateConcat, std::make_shared<const LateConcat>(
                                  LateConcat{TensorShapes(p, 0), p.input_type(0),
                                             p.input_type(axis_input) == DataType::kInt64}));
    return absl::OkStatus();
  }
  auto s = std::make_shared<Concat>();
  s->from_zero = true;
  TENON_ASSIGN_OR_RETURN(const int64_t axis, InputInt(p, axis_input));
  TENON_ASSIGN_OR_RETURN(const int dim, NormalizeAxis(p, axis, p.input_shape(0).rank()));
  return PrepareConcatOf(p, std::move(s), dim);
}

// --- Batch normalization: tensor, mean, variance, beta and gamma, each followed by its range.

enum BatchNormInput { kTensor = 0, kMean = 3, kVariance = 6, kBeta = 9, kGamma = 12 };

struct BatchNorm {
  int64_t rows, channels;
  float epsilon;
  bool scale;
};

// Fixed point with 11 binary places: 32 bits for the numbers between -2^20 and 2^20, as in
// TensorFlow.
constexpr ValueRange kFixed = {-0x1p20f, 0x1p20f};

absl::Status RunBatchNorm(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BatchNorm*>(state);
  const QuantizedType bytes = QuantizedTypeOf(DataType::kQuint8);
  const QuantizedType sums = QuantizedTypeOf(DataType::kQint32);
  const auto value = [&](int input, int64_t i) {
    const ValueRange range = InputRange(args, input + 1);
    return Dequantize(bytes, static_cast<const uint8_t*>(args.in[input])[i], range.min, range.max);
  };
  const auto fixed = [&](float x) { return Quantize(sums, x, kFixed.min, kFixed.max); };
  // What 1 is in fixed point: 2^11.
  const int32_t one = fixed(1);
  args.workers->ParallelFor(s.channels, GrainFor(s.rows * 16), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      float scale = 1.0f / std::sqrt(value(kVariance, c) + s.epsilon);
      if (s.scale) scale *= value(kGamma, c);
      const int32_t factor = fixed(scale);
      const int32_t offset = fixed(-value(kMean, c) * scale + value(kBeta, c));
      for (int64_t i = c; i < s.rows * s.channels; i += s.channels) {
        // 22 binary places; the division by `one` takes 11 off, and rounds towards 0. Products of
        // 2^9 and more wrap around.
        const int32_t product = WrappingMultiply(fixed(value(kTensor, i)), factor);
        static_cast<int32_t*>(args.out[0])[i] = WrappingAdd(product / one, offset);
      }
    }
  });
  StoreRange(args, 1, kFixed);
  return absl::OkStatus();
}

absl::Status PrepareBatchNorm(Prepare& p) {
  const Shape& input = p.input_shape(kTensor);
  if (input.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", input.ToString()));
  for (int i : {kMean, kVariance, kBeta, kGamma})
    TENON_RETURN_IF_ERROR(CheckInputShape(p, i, Shape({input.dim(3)})));
  for (int i : {kTensor, kMean, kVariance, kBeta, kGamma})
    TENON_RETURN_IF_ERROR(CheckSingleValues(p, i + 1, i + 3));
  auto s = std::make_shared<BatchNorm>();
  s->rows = DimProduct(input, 0, 3);
  s->channels = input.dim(3);
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(s->scale, p.AttrBool("scale_after_normalization"));
  SetQuantizedOutput(p, input);
  p.set_run(&RunBatchNorm, std::move(s));
  return absl::OkStatus();
}

// --- Instance normalization.

struct InstanceNorm {
  int64_t batch, pixels, channels;
  bool range_given;
  ValueRange given;
  float epsilon, least_width;
};

// The normalized value of byte q is (q - mean) * scale.
struct Channel {
  float mean, scale;
  ValueRange range;
};

Channel MeasureChannel(const InstanceNorm& s, const uint8_t* first, float step) {
  double sum = 0, squares = 0;
  uint8_t least = 255, most = 0;
  for (int64_t i = 0; i < s.pixels; ++i) {
    const uint8_t q = first[i * s.channels];
    sum += q;
    least = std::min(least, q);
    most = std::max(most, q);
  }
  // Two passes: the variance as a mean of squared distances does not cancel.
  const double mean = sum / static_cast<double>(s.pixels);
  for (int64_t i = 0; i < s.pixels; ++i) {
    const double distance = (first[i * s.channels] - mean) * step;
    squares += distance * distance;
  }
  const double variance = squares / static_cast<double>(s.pixels);
  Channel channel{
      static_cast<float>(mean), static_cast<float>(step / std::sqrt(variance + s.epsilon)), {}};
  // The scale is positive, so the least byte gives the least value.
  channel.range = {(static_cast<float>(least) - channel.mean) * channel.scale,
                   (static_cast<float>(most) - channel.mean) * channel.scale};
  return channel;
}

absl::Status RunInstanceNorm(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const InstanceNorm*>(state);
  const ValueRange in_range = InputRange(args, 1);
  TENON_RETURN_IF_ERROR(CheckRange(in_range, "x"));
  const float step = (in_range.max - in_range.min) / 255;
  const auto* const in = static_cast<const uint8_t*>(args.in[0]);
  auto* const channels = static_cast<Channel*>(args.scratch);
  // The first pass measures every channel, because all share one output range; the second
  // quantizes.
  const int64_t image = s.pixels * s.channels;
  args.workers->ParallelFor(
      s.batch * s.channels, GrainFor(s.pixels * 2), [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t)
          channels[t] = MeasureChannel(s, in + t / s.channels * image + t % s.channels, step);
      });
  ValueRange out_range{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  for (int64_t t = 0; t < s.batch * s.channels; ++t) {
    out_range.min = std::min(out_range.min, channels[t].range.min);
    out_range.max = std::max(out_range.max, channels[t].range.max);
  }
  if (s.range_given) out_range = s.given;
  // A constant image would otherwise have a range of no width, with which nothing can be quantized.
  out_range.max = std::max(out_range.max, out_range.min + s.least_width);
  const Quantizer quantize(QuantizedTypeOf(DataType::kQuint8), out_range.min, out_range.max);
  args.workers->ParallelFor(
      s.batch * s.pixels, GrainFor(s.channels), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * s.channels; i < end * s.channels; ++i) {
          const Channel& channel = channels[i / image * s.channels + i % s.channels];
          static_cast<uint8_t*>(args.out[0])[i] = static_cast<uint8_t>(
              quantize((static_cast<float>(in[i]) - channel.mean) * channel.scale));
        }
      });
  StoreRange(args, 1, out_range);
  return absl::OkStatus();
}

absl::Status PrepareInstanceNorm(Prepare& p) {
  const Shape& input = p.input_shape(0);
  if (input.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", input.ToString()));
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 1, 3));
  auto s = std::make_shared<InstanceNorm>();
  s->batch = input.dim(0);
  s->pixels = input.dim(1) * input.dim(2);
  s->channels = input.dim(3);
  TENON_ASSIGN_OR_RETURN(s->epsilon, p.AttrFloat("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(s->least_width, p.AttrFloat("min_separation"));
  TENON_ASSIGN_OR_RETURN(s->range_given, p.AttrBool("output_range_given"));
  TENON_ASSIGN_OR_RETURN(s->given.min, p.AttrFloat("given_y_min"));
  TENON_ASSIGN_OR_RETURN(s->given.max, p.AttrFloat("given_y_max"));
  if (s->range_given && !(s->given.min < s->given.max)) {
    return p.Invalid(absl::StrCat("given_y_min must be below given_y_max: ", s->given.min, " and ",
                                  s->given.max));
  }
  SetQuantizedOutput(p, input);
  p.set_scratch_bytes(s->batch * s->channels * sizeof(Channel));
  p.set_run(&RunInstanceNorm, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kQuantizedTensorKernels[] = {
    {"QuantizedConcat", {{"T", kQuint8 | kQint32}}, &PrepareConcat, 0b1},
    {"QuantizedConcatV2", {{"T", kQuint8 | TypeBit(DataType::kQint8)}}, &PrepareConcatV2},
    {"QuantizedBatchNormWithGlobalNormalization",
     {{"Tinput", kQuint8}, {"out_type", kQint32}},
     &PrepareBatchNorm},
    {"QuantizedInstanceNorm", {{"T", kQuint8}}, &PrepareInstanceNorm},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedTensorKernels() { return kQuantizedTensorKernels; }

}  // namespace tenon::cpu
