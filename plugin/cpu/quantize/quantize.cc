// QuantizeV2 and Dequantize.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/slices.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum class Mode { kMinCombined, kMinFirst, kScaled };

struct Quantization {
  DataType type;  // the quantized one
  DataType float_type = DataType::kFloat;
  Mode mode;
  Slices slices;
  bool narrow_range = false;  // leaves out the lowest value
  bool half_to_even = false;
  float least_range = 0;  // relative to the greatest absolute value
};

float LowestOf(const Quantization& s, const QuantizedType& type) {
  return static_cast<float>(type.lowest + (s.narrow_range ? 1 : 0));
}

// Halves of the range of a signed type, 0 for others.
float HalfOf(const QuantizedType& type) {
  return type.is_signed() ? static_cast<float>(type.steps() / 2) : 0.0f;
}

// --- QuantizeV2.

// The range that a slice's values are quantized in, and how many steps there are to 1.
struct SliceRange {
  float min, max, scale;
};

SliceRange AdjustRange(const Quantization& s, const QuantizedType& type, float min, float max) {
  const float greatest = std::max(1.0f, std::max(std::abs(min), std::abs(max)));
  SliceRange range;
  range.min = std::min(0.0f, min);
  range.max = std::max(0.0f, std::max(max, range.min + greatest * s.least_range));
  range.scale = static_cast<float>((type.steps() - 1) / (range.max - range.min));
  if (s.mode != Mode::kScaled) return range;
  // An end of the range on the other side of 0 than the type's integers does not limit the scale.
  constexpr float kNone = std::numeric_limits<float>::max();
  const float lowest = LowestOf(s, type), highest = static_cast<float>(type.highest);
  range.scale = std::min(lowest * range.min > 0 ? lowest / range.min : kNone,
                         highest * range.max > 0 ? highest / range.max : kNone);
  // The range reported is the one that the integers span: the end that did not limit the scale
  // moves outwards.
  range.min = lowest / range.scale;
  range.max = highest / range.scale;
  return range;
}

float RoundTo(const Quantization& s, float x) {
  return s.half_to_even ? std::nearbyint(x) : std::round(x);
}

template <typename Element>
void QuantizePiece(const Quantization& s, const QuantizedType& type, const SliceRange& range,
                   const float* in, void* out, int64_t begin, int64_t end, Element element) {
  // No clamp behind the conversion: `clamped` has limited the value to the range.
  const auto put = [&](int64_t i, float x) { element.Put(out, i, TruncateToInt32(x)); };
  const auto clamped = [&](int64_t i) { return std::max(std::min(in[i], range.max), range.min); };
  // MIN_FIRST rounds x and the minimum to steps separately, so that 0 is one of the values.
  // MIN_COMBINED rounds the distance from the minimum once.
  if (s.mode == Mode::kMinFirst) {
    const Quantizer quantizer(type, range.min, range.max);
    for (int64_t i = begin; i < end; ++i) element.Put(out, i, quantizer(in[i]));
  } else if (s.mode == Mode::kScaled) {
    for (int64_t i = begin; i < end; ++i) put(i, RoundTo(s, clamped(i) * range.scale));
  } else if (type.is_signed()) {
    // The distance counts from the minimum, which the lowest integer, -half, stands for.
    const float half = HalfOf(type);
    for (int64_t i = begin; i < end; ++i)
      put(i, std::round((clamped(i) - range.min) * range.scale - half));
  } else {
    // Truncation then rounds the distance, which is not negative, to nearest.
    for (int64_t i = begin; i < end; ++i) put(i, (clamped(i) - range.min) * range.scale + 0.5f);
  }
}

absl::Status RunQuantize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Quantization*>(state);
  const QuantizedType type = QuantizedTypeOf(s.type);
  const auto* const in = static_cast<const float*>(args.in[0]);
  const auto* const mins = static_cast<const float*>(args.in[1]);
  const auto* const maxes = static_cast<const float*>(args.in[2]);
  auto* const ranges = static_cast<SliceRange*>(args.scratch);
  for (int64_t i = 0; i < s.slices.count; ++i) {
    if (maxes[i] < mins[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("max_range must not be below min_range: ", maxes[i], " and ", mins[i]));
    }
    ranges[i] = AdjustRange(s, type, mins[i], maxes[i]);
    static_cast<float*>(args.out[1])[i] = ranges[i].min;
    static_cast<float*>(args.out[2])[i] = ranges[i].max;
  }
  VisitQuantized(s.type, [&](auto element) {
    ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
      QuantizePiece(s, type, ranges[slice], in, args.out[0], begin, end, element);
    });
  });
  return absl::OkStatus();
}

// --- Dequantize.

// value = (q + offset) * scale + min
struct SliceValues {
  float offset, scale, min;
};

SliceValues ValuesOf(const Quantization& s, const QuantizedType& type, float min, float max) {
  const auto highest = static_cast<float>(type.highest);
  if (s.mode == Mode::kMinCombined) {
    return {HalfOf(type), (max - min) / (highest - static_cast<float>(type.lowest)), min};
  }
  const float scale =
      // SCALED: 0 stands for 0, so the wider side gives the scale. An unsigned type has no lower
      // side.
      type.is_signed() ? std::max(min / LowestOf(s, type), max / highest) : max / highest;
  return {0, scale, 0};
}

absl::Status RunDequantize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Quantization*>(state);
  const QuantizedType type = QuantizedTypeOf(s.type);
  const auto* const mins = static_cast<const float*>(args.in[1]);
  const auto* const maxes = static_cast<const float*>(args.in[2]);
  const auto dequantize = [&](auto element, auto out) {
    ForEachPiece(s.slices, *args.workers, [&](int64_t slice, int64_t begin, int64_t end) {
      const auto each = [&](auto value_of) {
        for (int64_t i = begin; i < end; ++i)
          out.Put(args.out[0], i, value_of(element.template As<int32_t>(args.in[0], i)));
      };
      if (s.mode == Mode::kMinFirst) return each(Dequantizer(type, mins[slice], maxes[slice]));
      const SliceValues v = ValuesOf(s, type, mins[slice], maxes[slice]);
      each([&](int32_t q) { return (static_cast<float>(q) + v.offset) * v.scale + v.min; });
    });
  };
  VisitQuantized(s.type, [&](auto element) {
    s.float_type == DataType::kFloat ? dequantize(element, PlainElement<float>())
                                     : dequantize(element, Bfloat16Element());
  });
  return absl::OkStatus();
}

// --- Preparation.

absl::StatusOr<std::shared_ptr<Quantization>> ReadQuantization(const Prepare& p) {
  auto s = std::make_shared<Quantization>();
  TENON_ASSIGN_OR_RETURN(s->slices, ReadSlices(p, p.input_shape(0)));
  TENON_RETURN_IF_ERROR(CheckRanges(p, s->slices, 1));
  TENON_ASSIGN_OR_RETURN(s->narrow_range, p.AttrBool("narrow_range"));
  TENON_ASSIGN_OR_RETURN(const std::string_view mode, p.AttrString("mode"));
  if (mode != "MIN_COMBINED" && mode != "MIN_FIRST" && mode != "SCALED") {
    return p.Invalid(absl::StrCat("mode '", mode, "' is none of MIN_COMBINED, MIN_FIRST, SCALED"));
  }
  s->mode = mode == "SCALED"      ? Mode::kScaled
            : mode == "MIN_FIRST" ? Mode::kMinFirst
                                  : Mode::kMinCombined;
  if (s->mode == Mode::kMinFirst && s->slices.count != 1)
    return p.Unimplemented("mode MIN_FIRST along an axis is not built");
  return s;
}

absl::Status PrepareQuantize(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto s, ReadQuantization(p));
  s->type = p.output_type(0);
  TENON_ASSIGN_OR_RETURN(s->least_range, p.AttrFloat("ensure_minimum_range"));
  TENON_ASSIGN_OR_RETURN(const std::string_view round_mode, p.AttrString("round_mode"));
  s->half_to_even = round_mode == "HALF_TO_EVEN";
  if (!s->half_to_even && round_mode != "HALF_AWAY_FROM_ZERO") {
    return p.Invalid(absl::StrCat("round_mode '", round_mode,
                                  "' is neither HALF_AWAY_FROM_ZERO nor HALF_TO_EVEN"));
  }
  if (s->half_to_even && s->mode != Mode::kScaled)
    return p.Invalid("round_mode HALF_TO_EVEN is for mode SCALED only");
  p.set_output_shape(0, p.input_shape(0));
  const Shape range = s->slices.count == 1 ? Shape() : Shape({s->slices.count});
  p.set_output_shape(1, range);
  p.set_output_shape(2, range);
  p.set_scratch_bytes(s->slices.count * sizeof(SliceRange));
  p.set_run(&RunQuantize, s);
  return absl::OkStatus();
}

absl::Status PrepareDequantize(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto s, ReadQuantization(p));
  s->type = p.input_type(0);
  s->float_type = p.output_type(0);
  if (s->float_type == DataType::kBfloat16 && s->mode != Mode::kMinCombined)
    return p.Invalid("bfloat16 is for mode MIN_COMBINED only");
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(&RunDequantize, s);
  return absl::OkStatus();
}

constexpr uint64_t kFloats = TypeBits(DataType::kFloat, DataType::kBfloat16);

const CpuKernelSpec kQuantizeKernels[] = {
    {"QuantizeV2", {{"T", kQuantizedTypes}}, &PrepareQuantize},
    {"Dequantize", {{"T", kQuantizedTypes}, {"dtype", kFloats}}, &PrepareDequantize},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizeKernels() { return kQuantizeKernels; }

}  // namespace tenon::cpu
