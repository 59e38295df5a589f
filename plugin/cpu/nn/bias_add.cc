// BiasAdd: one value per channel, the last dimension or (NCHW) the second; and its gradient.
#include <complex>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/channel_pieces.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct BiasAdd {
  AxisSplit split;  // around the channels
  ElementRowsLoop add_rows;
  ElementLoop widen = nullptr, narrow = nullptr;  // of half and bfloat16
};

struct BiasGrad {
  DataType type;
  AxisSplit split;
};

// Native arithmetic on T; 16-bit floats go through float.
template <typename Element, typename A>
void AddBias(const BiasAdd& s, const StepArgs& args) {
  const Element element;
  const auto [outer, channels, inner] = s.split;
  args.workers->ParallelFor(
      outer, GrainFor(channels * inner * sizeof(A)), [&](int64_t begin, int64_t end) {
        int64_t at = begin * channels * inner;
        for (int64_t o = begin; o < end; ++o) {
          // Channels last: the channel changes with each element. Otherwise one bias serves a whole
          // plane.
          if (inner == 1) {
            for (int64_t c = 0; c < channels; ++c, ++at) {
              element.template Put<A>(
                  args.out[0], at,
                  element.template As<A>(args.in[0], at) + element.template As<A>(args.in[1], c));
            }
            continue;
          }
          for (int64_t c = 0; c < channels; ++c) {
            const A bias = element.template As<A>(args.in[1], c);
            for (int64_t i = 0; i < inner; ++i, ++at) {
              element.template Put<A>(args.out[0], at,
                                      element.template As<A>(args.in[0], at) + bias);
            }
          }
        }
      });
}

// Sums of signed integers wrap, as unsigned ones do.
template <typename Element, typename A>
absl::Status RunBiasAdd(const void* state, const StepArgs& args) {
  AddBias<Element, A>(*static_cast<const BiasAdd*>(state), args);
  return absl::OkStatus();
}

absl::Status RunFloatRows(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BiasAdd*>(state);
  const int64_t channels = s.split.size;
  args.workers->ParallelFor(
      s.split.outer, GrainFor(channels * sizeof(float)), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * channels;
        const void* in[] = {static_cast<const float*>(args.in[0]) + at, args.in[1]};
        s.add_rows(in, static_cast<float*>(args.out[0]) + at,
                   {end - begin, channels, {channels, 0}, {false, false}});
      });
  return absl::OkStatus();
}

// Half and bfloat16 become floats in pieces.
absl::Status RunWidenedBiasAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BiasAdd*>(state);
  constexpr int64_t kPiece = 2048, kBytes = 2;  // elements; of an element
  const auto add = [&](const ChannelPiece& piece) {
    alignas(64) float x[kPiece], bias[kPiece];
    const auto widen = [&](int input, int64_t from, int64_t n, float* to) {
      const void* const in[] = {static_cast<const char*>(args.in[input]) + from * kBytes};
      s.widen(in, to, n, 0);
    };
    widen(0, piece.at, piece.elements(), x);
    widen(1, piece.channel, piece.channels, bias);
    if (piece.inner == 1) {
      const void* const rows[] = {x, bias};
      s.add_rows(rows, x, {piece.rows, piece.channels, {piece.channels, 0}, {false, false}});
    } else {
      for (int64_t r = 0; r < piece.rows; ++r) {
        float* const row = x + r * piece.channels * piece.inner;
        const void* const planes[] = {row, bias};
        s.add_rows(planes, row, {piece.channels, piece.inner, {piece.inner, 1}, {false, true}});
      }
    }
    const void* const in[] = {x};
    s.narrow(in, static_cast<char*>(args.out[0]) + piece.at * kBytes, piece.elements(), 0);
  };
  const auto [outer, channels, inner] = s.split;
  args.workers->ParallelFor(outer, GrainFor(channels * inner * kBytes),
                            [&, c = channels, i = inner](int64_t begin, int64_t end) {
                              ForEachChannelPiece(begin, end, c, i, kPiece, add);
                            });
  return absl::OkStatus();
}

RunFn ChooseRun(DataType t) {
  // Sums of integers wrap alike for signed and unsigned, so the size alone chooses among them.
  switch (DataTypeSize(t)) {
    case 1:
      return &RunBiasAdd<PlainElement<uint8_t>, uint8_t>;
    case 2:
      if (HasType(kHalfTypes, t)) return &RunWidenedBiasAdd;
      return &RunBiasAdd<PlainElement<uint16_t>, uint16_t>;
    case 4:
      if (t == DataType::kFloat) return &RunBiasAdd<PlainElement<float>, float>;
      return &RunBiasAdd<PlainElement<uint32_t>, uint32_t>;
    case 8:
      if (t == DataType::kDouble) return &RunBiasAdd<PlainElement<double>, double>;
      if (t == DataType::kComplex64)
        return &RunBiasAdd<PlainElement<std::complex<float>>, std::complex<float>>;
      return &RunBiasAdd<PlainElement<uint64_t>, uint64_t>;
    default:
      return &RunBiasAdd<PlainElement<std::complex<double>>, std::complex<double>>;
  }
}

int LeastRank(bool nchw) { return nchw ? 3 : 2; }

absl::Status PrepareBiasAdd(Prepare& p) {
  const Shape& value = p.input_shape(0);
  const Shape& bias = p.input_shape(1);
  bool nchw = false;
  // BiasAddV1 has no such attribute: its channels are last.
  if (p.op().FindAttr("data_format") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
    nchw = format == "NCHW";
  }
  if (value.rank() < LeastRank(nchw))
    return p.Invalid(absl::StrCat("the value must have at least rank ", LeastRank(nchw), ", not ",
                                  value.ToString()));
  if (bias.rank() != 1)
    return p.Invalid(absl::StrCat("the bias must be a vector, not ", bias.ToString()));
  const int channel = nchw ? 1 : value.rank() - 1;
  if (bias.dim(0) != value.dim(channel)) {
    return p.Invalid(absl::StrCat("the bias has ", bias.dim(0), " values for ", value.dim(channel),
                                  " channels"));
  }
  p.set_output_shape(0, value);
  p.AllowInPlace(0, 0);
  if (value.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<BiasAdd>();
  *s = {SplitAt(value, channel), FindElementRowsLoop(ElementOp::kAdd, DataType::kFloat)};
  if (HasType(kHalfTypes, p.input_type(0))) {
    s->widen = FindCastLoop(p.input_type(0), DataType::kFloat);
    s->narrow = FindCastLoop(DataType::kFloat, p.input_type(0));
  }
  const bool float_rows = p.input_type(0) == DataType::kFloat && s->split.inner == 1;
  p.set_run(float_rows ? &RunFloatRows : ChooseRun(p.input_type(0)), std::move(s));
  return absl::OkStatus();
}

// The sum over everything but the channels, in an accumulator that is wider than the type or wraps
// as it does.
template <typename A>
absl::Status RunBiasGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BiasGrad*>(state);
  const auto [outer, channels, inner] = s.split;
  // Threads share channels, never a sum: the result does not depend on their number.
  args.workers->ParallelFor(channels, GrainFor(outer * inner * 8), [&](int64_t begin, int64_t end) {
    VisitElement(s.type, [&](auto element) {
      for (int64_t c = begin; c < end; ++c) {
        A sum = A();
        for (int64_t o = 0; o < outer; ++o) {
          const int64_t at = (o * channels + c) * inner;
          for (int64_t i = 0; i < inner; ++i) sum += element.template As<A>(args.in[0], at + i);
        }
        element.Put(args.out[0], c, sum);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareBiasGrad(Prepare& p) {
  const Shape& gradient = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("data_format"));
  const bool nchw = format == "NCHW";
  if (gradient.rank() < LeastRank(nchw))
    return p.Invalid(absl::StrCat("the gradient must have at least rank ", LeastRank(nchw),
                                  ", not ", gradient.ToString()));
  const int channel = nchw ? 1 : gradient.rank() - 1;
  auto s = std::make_shared<BiasGrad>();
  s->type = p.input_type(0);
  s->split = SplitAt(gradient, channel);
  p.set_output_shape(0, Shape({s->split.size}));
  const RunFn run = IsComplex(s->type)    ? &RunBiasGrad<std::complex<double>>
                    : IsFloating(s->type) ? &RunBiasGrad<double>
                                          : &RunBiasGrad<uint64_t>;
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kBiasAddKernels[] = {
    {"BiasAdd", {{"T", kNumberTypes}}, &PrepareBiasAdd},
    {"BiasAddGrad", {{"T", kNumberTypes}}, &PrepareBiasGrad},
    {"BiasAddV1", {{"T", kNumberTypes}}, &PrepareBiasAdd},
};

}  // namespace

absl::Span<const CpuKernelSpec> BiasAddKernels() { return kBiasAddKernels; }

}  // namespace tenon::cpu
