// QuantizeAndDequantize, its versions and the gradient: what is left of floats after quantization.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/slices.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct RoundTrip {
  Slices slices;
  bool signed_input, range_given, narrow_range = false, half_up = false;
  bool per_slice = false;
  int64_t lanes = 1;
  int64_t num_bits = 0;         // 0: input 3
  float given[2] = {0, 0};      // the first version's range
  bool range_is_input = false;  // inputs 1 and 2
};

absl::Status CheckBits(int64_t num_bits, bool signed_input) {
  // The highest integer, 2^num_bits - 1, is computed in int64.
  if (num_bits > 0 && num_bits < (signed_input ? 62 : 63)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("num_bits must be in [1, ", signed_input ? 61 : 62, "], not ", num_bits));
}

template <typename T>
struct SliceSteps {
  T min, max, scale, step;
};

// The range that keeps 0 where it is and one end of [min, max].
template <typename T>
SliceSteps<T> RangeOf(const RoundTrip& s, int64_t num_bits, T min, T max) {
  const int64_t lowest =
      s.signed_input ? -(int64_t{1} << (num_bits - 1)) + (s.narrow_range ? 1 : 0) : 0;
  const int64_t highest = (int64_t{1} << (s.signed_input ? num_bits - 1 : num_bits)) - 1;
  const T low = static_cast<T>(lowest), high = static_cast<T>(highest);
  constexpr T kNone = std::numeric_limits<T>::max();
  // The smaller of the two scales fits both ends. An end that lies on the other side of 0 than its
  // integer sets no limit.
  const T by_min = low * min > 0 ? low / min : kNone;
  const T by_max = high * max > 0 ? high / max : kNone;
  if (by_min < by_max) {
    const T step = min / low;
    return {min, high * step, by_min, step};
  }
  const T step = max / high;
  return {low * step, max, by_max, step};
}

// NaN counts as it does in a reduction (LanesOf).
template <typename T>
void MeasureSlice(const Slices& slices, int64_t lanes, const T* in, int64_t slice, T* min, T* max) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  // Written out, because operand order decides which one remains beside a NaN.
  const auto least = [](T a, T b) { return a < b ? a : b; };
  const auto most = [](T a, T b) { return a > b ? a : b; };
  // TensorFlow reduces whole vectors first and the rest one by one, with the operands the other way
  // round. That shows only where there are NaNs.
  int64_t in_lanes = slices.outer * slices.inner / lanes * lanes;
  T rest_min = kInfinity, rest_max = -kInfinity;
  *min = kInfinity;
  *max = -kInfinity;
  ForEachRun(slices, slice, [&](int64_t begin, int64_t end) {
    const int64_t middle = std::min(end, begin + in_lanes);
    in_lanes -= middle - begin;
    for (int64_t i = begin; i < middle; ++i) {
      *min = least(in[i], *min);
      *max = most(in[i], *max);
    }
    for (int64_t i = middle; i < end; ++i) {
      rest_min = least(rest_min, in[i]);
      rest_max = most(rest_max, in[i]);
    }
  });
  *min = least(*min, rest_min);
  *max = most(*max, rest_max);
}

template <typename T>
absl::Status RunRoundTrip(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const RoundTrip*>(state);
  const int64_t num_bits = s.num_bits > 0 ? s.num_bits : *static_cast<const int32_t*>(args.in[3]);
  TENON_RETURN_IF_ERROR(CheckBits(num_bits, s.signed_input));
  const auto* const in = static_cast<const T*>(args.in[0]);
  auto* const out = static_cast<T*>(args.out[0]);
  auto* const ranges = static_cast<SliceSteps<T>*>(args.scratch);
  const auto given = [&](int input, int64_t slice) {
    return s.range_is_input ? static_cast<const T*>(args.in[input])[slice]
                            : static_cast<T>(s.given[input - 1]);
  };
  if (s.range_given && !s.per_slice && given(1, 0) > given(2, 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("input_min must not be above input_max: ", given(1, 0), " and ", given(2, 0)));
  }
  args.workers->ParallelFor(
      s.slices.count, GrainFor(s.slices.outer * s.slices.inner * static_cast<int64_t>(sizeof(T))),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          T min = 0, max = 0;
          if (s.range_given) {
            min = given(1, i), max = given(2, i);
          } else {
            MeasureSlice(s.slices, s.lanes, in, i, &min, &max);
          }
          ranges[i] = RangeOf(s, num_bits, min, max);
        }
      });
  ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
    const SliceSteps<T> r = ranges[slice];
    for (int64_t i = begin; i < end; ++i) {
      // A measured range holds all values, so it needs no clamp.
      const T x = s.range_given ? std::max(std::min(in[i], r.max), r.min) : in[i];
      const T q = s.half_up ? std::floor(x * r.scale + T{0.5}) : std::nearbyint(x * r.scale);
      out[i] = q * r.step;
    }
  });
  return absl::OkStatus();
}

// Gradients pass where the input lies within its range; those of the range are 0.
template <typename T>
absl::Status RunGradient(const void* state, const StepArgs& args) {
  const auto& slices = *static_cast<const Slices*>(state);
  const auto* const gradients = static_cast<const T*>(args.in[0]);
  const auto* const in = static_cast<const T*>(args.in[1]);
  const auto* const mins = static_cast<const T*>(args.in[2]);
  const auto* const maxes = static_cast<const T*>(args.in[3]);
  ForEachPiece(slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const bool inside = in[i] >= mins[slice] && in[i] <= maxes[slice];
      static_cast<T*>(args.out[0])[i] = gradients[i] * static_cast<T>(inside);
    }
  });
  for (int k = 1; k < 3; ++k) {
    T* const out = static_cast<T*>(args.out[k]);
    std::fill(out, out + slices.count, T{0});
  }
  return absl::OkStatus();
}

// Inputs i and i + 1 are the range of all, or along an axis those of each slice.
absl::Status CheckRange(const Prepare& p, int64_t axis, const Slices& slices, int i) {
  if (axis == -1) return CheckScalars(p, i, i + 2);
  return CheckRanges(p, slices, i);
}

absl::Status PrepareRoundTrip(Prepare& p) {
  auto s = std::make_shared<RoundTrip>();
  TENON_ASSIGN_OR_RETURN(s->slices, ReadSlices(p, p.input_shape(0)));
  TENON_ASSIGN_OR_RETURN(s->signed_input, p.AttrBool("signed_input"));
  TENON_ASSIGN_OR_RETURN(s->range_given, p.AttrBool("range_given"));
  s->lanes = LanesOf(p.input_type(0));
  s->range_is_input = p.num_inputs() > 1;
  if (s->range_is_input) {
    TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt("axis"));
    s->per_slice = axis != -1;
    if (s->range_given) TENON_RETURN_IF_ERROR(CheckRange(p, axis, s->slices, 1));
    TENON_ASSIGN_OR_RETURN(s->narrow_range, p.AttrBool("narrow_range"));
  } else {
    TENON_ASSIGN_OR_RETURN(s->given[0], p.AttrFloat("input_min"));
    TENON_ASSIGN_OR_RETURN(s->given[1], p.AttrFloat("input_max"));
  }
  if (p.num_inputs() > 3) {
    if (p.input_shape(3).rank() != 0) return p.Invalid("num_bits must be a scalar");
  } else {
    TENON_ASSIGN_OR_RETURN(s->num_bits, p.AttrInt("num_bits"));
    if (const absl::Status status = CheckBits(s->num_bits, s->signed_input); !status.ok())
      return p.Invalid(status.message());
  }
  if (p.op().FindAttr("round_mode") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::string_view round_mode, p.AttrString("round_mode"));
    s->half_up = round_mode == "HALF_UP";
  }
  p.set_output_shape(0, p.input_shape(0));
  p.AllowInPlace(0, 0);
  const bool wide = p.input_type(0) == DataType::kDouble;
  p.set_scratch_bytes(s->slices.count *
                      (wide ? sizeof(SliceSteps<double>) : sizeof(SliceSteps<float>)));
  p.set_run(wide ? &RunRoundTrip<double> : &RunRoundTrip<float>, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareGradient(Prepare& p) {
  const Shape& shape = p.input_shape(0);
  TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, shape));
  TENON_ASSIGN_OR_RETURN(const Slices slices, ReadSlices(p, shape));
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt("axis"));
  TENON_RETURN_IF_ERROR(CheckRange(p, axis, slices, 2));
  p.set_output_shape(0, shape);
  p.set_output_shape(1, p.input_shape(2));
  p.set_output_shape(2, p.input_shape(3));
  p.set_run(p.input_type(0) == DataType::kDouble ? &RunGradient<double> : &RunGradient<float>,
            std::make_shared<Slices>(slices));
  return absl::OkStatus();
}

constexpr uint64_t kRoundTripTypes = TypeBits(DataType::kFloat, DataType::kDouble);

const CpuKernelSpec kQuantizeAndDequantizeKernels[] = {
    {"QuantizeAndDequantize", {{"T", kRoundTripTypes}}, &PrepareRoundTrip},
    {"QuantizeAndDequantizeV2", {{"T", kRoundTripTypes}}, &PrepareRoundTrip},
    {"QuantizeAndDequantizeV3", {{"T", kRoundTripTypes}}, &PrepareRoundTrip},
    {"QuantizeAndDequantizeV4", {{"T", kRoundTripTypes}}, &PrepareRoundTrip},
    {"QuantizeAndDequantizeV4Grad", {{"T", kRoundTripTypes}}, &PrepareGradient},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizeAndDequantizeKernels() {
  return kQuantizeAndDequantizeKernels;
}

}  // namespace tenon::cpu
