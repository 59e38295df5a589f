// Quantized values one by one: QuantizedRelu, QuantizedRelu6, QuantizedBiasAdd, QuantizedAdd,
// QuantizedMul.
#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/type_sets.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// --- Activations.

struct Clamp {
  int64_t n;
  DataType type;
  float most;
};

absl::Status RunClamp(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Clamp*>(state);
  const QuantizedType type = QuantizedTypeOf(s.type);
  const ValueRange range = InputRange(args, 1);
  // Order is kept by quantization, so the integers are clamped to those of 0 and `most`, and the
  // range stays.
  const int32_t least = Quantize(type, 0, range.min, range.max);
  const int32_t most = s.most < std::numeric_limits<float>::infinity()
                           ? Quantize(type, s.most, range.min, range.max)
                           : static_cast<int32_t>(type.highest);
  VisitQuantized(s.type, [&](auto element) {
    args.workers->ParallelFor(s.n, GrainFor(4), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto x = element.template As<int32_t>(args.in[0], i);
        element.Put(args.out[0], i, std::min(std::max(x, least), most));
      }
    });
  });
  StoreRange(args, 1, range);
  return absl::OkStatus();
}

absl::Status PrepareClamp(Prepare& p, float most) {
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 1, 3));
  SetQuantizedOutput(p, p.input_shape(0));
  p.AllowInPlace(0, 0);
  p.set_run(&RunClamp,
            std::make_shared<Clamp>(Clamp{p.input_shape(0).num_elements(), p.input_type(0), most}));
  return absl::OkStatus();
}
absl::Status PrepareRelu(Prepare& p) {
  return PrepareClamp(p, std::numeric_limits<float>::infinity());
}
absl::Status PrepareRelu6(Prepare& p) { return PrepareClamp(p, 6); }

// --- Sums and products of two tensors, the smaller of which is repeated over the other.

struct Pair {
  int64_t n, small;  // elements of the larger and of the smaller
  DataType type;
  bool swapped;  // the larger is input 1
};

// A range symmetrical around 0 with 14 bits to spare, in which values of 8 bits keep theirs.
ValueRange SumRange(const ValueRange& a, const ValueRange& b, int bits) {
  const float most =
      std::max(std::max(a.max, -a.min), std::max(b.max, -b.min)) * static_cast<float>(1 << bits);
  return {-most, most};
}

// Calls f(large, small, result's number) for all pairs of elements.
template <typename F>
void ForEachPair(const Pair& s, const StepArgs& args, F f) {
  const void* const large = args.in[s.swapped ? 1 : 0];
  const void* const small = args.in[s.swapped ? 0 : 1];
  VisitQuantized(s.type, [&](auto element) {
    args.workers->ParallelFor(s.n, GrainFor(6), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        static_cast<int32_t*>(args.out[0])[i] = f(element.template As<int32_t>(large, i),
                                                  element.template As<int32_t>(small, i % s.small));
      }
    });
  });
}

absl::Status RunBiasAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pair*>(state);
  const QuantizedType type = QuantizedTypeOf(s.type), sums = QuantizedTypeOf(DataType::kQint32);
  const ValueRange in = InputRange(args, 2), bias = InputRange(args, 4),
                   out = SumRange(in, bias, 17);
  const Dequantizer from_in(type, in.min, in.max), from_bias(type, bias.min, bias.max);
  const Quantizer to_out(sums, out.min, out.max);
  const int32_t zero = Quantize(sums, 0, out.min, out.max);
  ForEachPair(s, args, [&](int32_t x, int32_t b) {
    // As in TensorFlow, which adds the integer of 0. In a symmetric range this integer is 0 or next
    // to 0.
    return WrappingAdd(to_out(from_in(x)), WrappingAdd(to_out(from_bias(b)), zero));
  });
  StoreRange(args, 1, out);
  return absl::OkStatus();
}

// Quantized values of another range are a line: where 0 lies, and by how much 1 is more.
class Line {
 public:
  Line(const QuantizedType& type, const ValueRange& from, const ValueRange& to)
      : zero_(Place(type, 0, from, to)),
        step_(static_cast<int32_t>(Place(type, 1, from, to) - zero_)) {}
  int32_t operator()(int32_t q) const {
    return static_cast<int32_t>(std::clamp<int64_t>(zero_ + static_cast<int64_t>(q) * step_,
                                                    std::numeric_limits<int32_t>::min(),
                                                    std::numeric_limits<int32_t>::max()));
  }

 private:
  static int64_t Place(const QuantizedType& type, int32_t q, const ValueRange& from,
                       const ValueRange& to) {
    return QuantizeUnclamped(QuantizedTypeOf(DataType::kQint32),
                             Dequantize(type, q, from.min, from.max), to.min, to.max);
  }
  int64_t zero_;
  int32_t step_;
};

absl::Status RunAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pair*>(state);
  const ValueRange x = InputRange(args, 2), y = InputRange(args, 4), out = SumRange(x, y, 14);
  TENON_RETURN_IF_ERROR(CheckRange(x, "x"));
  TENON_RETURN_IF_ERROR(CheckRange(y, "y"));
  const QuantizedType type = QuantizedTypeOf(s.type);
  const ValueRange &large = s.swapped ? y : x, &small = s.swapped ? x : y;
  const Line from_large(type, large, out), from_small(type, small, out);
  // A scalar is not approximated by a line.
  const auto from_scalar = [&](int32_t q) {
    return Quantize(QuantizedTypeOf(DataType::kQint32), Dequantize(type, q, small.min, small.max),
                    out.min, out.max);
  };
  ForEachPair(s, args, [&](int32_t a, int32_t b) {
    return WrappingAdd(from_large(a), s.small == 1 ? from_scalar(b) : from_small(b));
  });
  StoreRange(args, 1, out);
  return absl::OkStatus();
}

absl::Status RunMultiply(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pair*>(state);
  const ValueRange x = InputRange(args, 2), y = InputRange(args, 4);
  TENON_RETURN_IF_ERROR(CheckRange(x, "x"));
  TENON_RETURN_IF_ERROR(CheckRange(y, "y"));
  const QuantizedType type = QuantizedTypeOf(s.type);
  const int32_t zero_x = ZeroOf(type, x), zero_y = ZeroOf(type, y);
  const int32_t large = s.swapped ? zero_y : zero_x, small = s.swapped ? zero_x : zero_y;
  ForEachPair(s, args, [&](int32_t a, int32_t b) {
    return WrappingMultiply(WrappingSubtract(a, large), WrappingSubtract(b, small));
  });
  StoreRange(args, 1, ProductRange(type, x, type, y));
  return absl::OkStatus();
}

absl::Status PrepareBiasAdd(Prepare& p) {
  const Shape &in = p.input_shape(0), &bias = p.input_shape(1);
  if (in.rank() < 2 || bias.rank() != 1 || bias.dim(0) != in.dim(in.rank() - 1)) {
    return p.Invalid(absl::StrCat("the bias ", bias.ToString(),
                                  " must be a vector as long as the last of 2 dimensions at "
                                  "least of the input ",
                                  in.ToString()));
  }
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 6));
  SetQuantizedOutput(p, in);
  p.set_run(&RunBiasAdd, std::make_shared<Pair>(
                             Pair{in.num_elements(), bias.num_elements(), p.input_type(0), false}));
  return absl::OkStatus();
}

// Whether `small`, without leading dimensions of 1, ends `large`.
bool Repeats(const Shape& small, const Shape& large) {
  absl::Span<const int64_t> dims = small.dims();
  while (!dims.empty() && dims.front() == 1) dims.remove_prefix(1);
  const int rest = large.rank() - static_cast<int>(dims.size());
  return rest >= 0 && large.dims().subspan(rest) == dims;
}

// TensorFlow repeats a tensor along leading dimensions only.
template <RunFn kRun>
absl::Status PreparePair(Prepare& p) {
  const Shape &x = p.input_shape(0), &y = p.input_shape(1);
  const std::optional<Dims> dims = BroadcastDims(x.dims(), y.dims());
  if (!dims.has_value()) {
    return p.Invalid(
        absl::StrCat("shapes ", x.ToString(), " and ", y.ToString(), " do not broadcast"));
  }
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, *dims));
  const bool swapped = x.num_elements() == 1 || !Repeats(y, x);
  if (swapped && !Repeats(x, y))
    return p.Unimplemented("a broadcast along other than leading dimensions is not built");
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 6));
  const int64_t small = (swapped ? x : y).num_elements();
  SetQuantizedOutput(p, output);
  p.set_run(kRun,
            std::make_shared<Pair>(Pair{output.num_elements(), small, p.input_type(0), swapped}));
  return absl::OkStatus();
}

const CpuKernelSpec kQuantizedElementKernels[] = {
    {"QuantizedRelu", {{"Tinput", kQuint8}, {"out_type", kQuint8}}, &PrepareRelu},
    {"QuantizedRelu", {{"Tinput", kQint32}, {"out_type", kQint32}}, &PrepareRelu},
    {"QuantizedRelu6", {{"Tinput", kQuint8}, {"out_type", kQuint8}}, &PrepareRelu6},
    {"QuantizedRelu6", {{"Tinput", kQint32}, {"out_type", kQint32}}, &PrepareRelu6},
    {"QuantizedBiasAdd",
     {{"T1", kQuint8}, {"T2", kQuint8}, {"out_type", kQint32}},
     &PrepareBiasAdd},
    {"QuantizedBiasAdd", {{"T1", kQint8}, {"T2", kQint8}, {"out_type", kQint32}}, &PrepareBiasAdd},
    {"QuantizedAdd",
     {{"T1", kQuint8}, {"T2", kQuint8}, {"Toutput", kQint32}},
     &PreparePair<&RunAdd>},
    {"QuantizedMul",
     {{"T1", kQuint8}, {"T2", kQuint8}, {"Toutput", kQint32}},
     &PreparePair<&RunMultiply>},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedElementKernels() { return kQuantizedElementKernels; }

}  // namespace tenon::cpu
