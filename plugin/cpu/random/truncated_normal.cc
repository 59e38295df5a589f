// ParameterizedTruncatedNormal and its stateless form: normal numbers between bounds, with
// parameters for each row.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/cpu/random/samples.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int kMaxAttempts = 1000;  // at one number

// A block of words as numbers: four, or two for double.
template <typename T>
struct Draws {
  std::array<T, 4> value;
  int count;
};

template <typename T>
Draws<T> Uniforms(Philox& philox, bool half) {
  const PhiloxWords w = philox.Next();
  if constexpr (sizeof(T) == 8) {
    return {{UniformDouble(w[0], w[1]), UniformDouble(w[2], w[3])}, 2};
  } else {
    Draws<T> draws{{}, 4};
    for (int i = 0; i < 4; ++i) draws.value[i] = half ? UniformHalf(w[i]) : UniformFloat(w[i]);
    return draws;
  }
}

template <typename T>
Draws<T> Normals(Philox& philox) {
  const Draws<T> u = Uniforms<T>(philox, false);
  Draws<T> draws{{}, u.count};
  for (int i = 0; i < u.count; i += 2) {
    const auto pair = BoxMuller(u.value[i], u.value[i + 1]);
    std::copy(pair.begin(), pair.end(), draws.value.begin() + i);
  }
  return draws;
}

// One row's distribution, in units of its deviation from its mean.
template <typename T>
struct Bounds {
  T mean, deviation, low, high;

  // Keeps the open side, if any, above.
  Bounds(T mean, T deviation, T low, T high) : mean(mean), deviation(deviation) {
    if ((std::isinf(low) && low < 0) || high < mean) {
      std::swap(low, high);
      this->deviation = -deviation;
    }
    this->low = (low - mean) / this->deviation;
    this->high = (high - mean) / this->deviation;
  }
};

// Gives accepted numbers to a row and counts the refused ones between them.
template <typename T, typename Put>
class Row {
 public:
  Row(const Bounds<T>& bounds, int64_t wanted, const Put& put)
      : bounds_(bounds), wanted_(wanted), put_(put) {}

  bool full() const { return done_ == wanted_; }
  bool hopeless() const { return refused_ >= kMaxAttempts; }
  bool open() const { return !full() && !hopeless(); }
  void Offer(T z, bool accepted) {
    if (!accepted) {
      ++refused_;
      return;
    }
    put_(done_++, z * bounds_.deviation + bounds_.mean);
    refused_ = 0;
  }

 private:
  const Bounds<T>& bounds_;
  int64_t wanted_, done_ = 0;
  int refused_ = 0;
  const Put& put_;
};

// Each of the three fills the row by rejection, from another distribution: C. P. Robert,
// "Simulation of truncated normal variables", 1995. Which one is taken, and the order of words, are
// TensorFlow's.
template <typename T, typename R>
void FillFromNormal(const Bounds<T>& b, Philox& philox, R& row) {
  while (row.open()) {
    const Draws<T> z = Normals<T>(philox);
    for (int i = 0; i < z.count && row.open(); ++i)
      row.Offer(z.value[i], z.value[i] >= b.low && z.value[i] <= b.high);
  }
}

template <typename T, typename R>
void FillFromUniform(const Bounds<T>& b, Philox& philox, bool half, R& row) {
  // The square of the place where the density is greatest, so that the greatest chance is 1.
  const T most = b.low < 0 ? T(0) : b.low * b.low;
  while (row.open()) {
    const Draws<T> place = Uniforms<T>(philox, half);
    const Draws<T> u = Uniforms<T>(philox, half);
    for (int i = 0; i < u.count && row.open(); ++i) {
      const T z = place.value[i] * (b.high - b.low) + b.low;
      row.Offer(z, u.value[i] <= std::exp((most - z * z) / 2));
    }
  }
}

template <typename T, typename R>
void FillFromExponential(const Bounds<T>& b, Philox& philox, bool half, R& row) {
  // The rate that accepts most.
  const T alpha = (b.low + std::sqrt(b.low * b.low + 4)) / 2;
  while (row.open()) {
    const Draws<T> u = Uniforms<T>(philox, half);
    for (int i = 0; i + 1 < u.count && row.open(); i += 2) {
      const T z = -std::log(u.value[i]) / alpha + b.low;
      const T x = b.low < alpha ? alpha - z : b.low - alpha;
      row.Offer(z, u.value[i + 1] <= std::exp(-x * x / 2) && z < b.high);
    }
  }
}

template <typename T, typename Put>
absl::Status FillRow(const Bounds<T>& b, Philox& philox, bool half, int64_t n, const Put& put) {
  Row row(b, n, put);
  // If the bounds reach so many deviations to one side and the mean lies between them, the normal
  // distribution itself is accepted often enough.
  constexpr T kFar = static_cast<T>(1.3);
  const T root = std::sqrt(b.low * b.low + 4);
  const T cutoff = 2 * std::exp(static_cast<T>(0.5) + b.low * (b.low - root) / 4) / (b.low + root);
  if ((b.low < -kFar && b.high >= 0) || (b.high > kFar && b.low <= 0)) {
    FillFromNormal(b, philox, row);
  } else if (b.high - b.low < cutoff) {
    FillFromUniform(b, philox, half, row);
  } else {
    FillFromExponential(b, philox, half, row);
  }
  if (row.full()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("no number between the bounds in ", kMaxAttempts, " attempts"));
}

struct TruncatedState {
  PhiloxSource source;
  DataType type;
  int64_t n, rows, row_size;
  int parameters;              // first of the inputs mean, deviation, least, most
  Dims dims;                   // of the rows
  std::array<Dims, 4> stride;  // of each parameter along them
  bool samples_first = false;  // the output is [row_size, rows], else [rows, row_size]

  // Parameter k of row r.
  double Parameter(const StepArgs& args, int k, int64_t r) const {
    int64_t at = 0;
    for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
      at += r % dims[d] * stride[k][d];
      r /= dims[d];
    }
    return LoadParameter(type, args.in[parameters + k], at);
  }
};

template <typename T>
absl::Status RunTruncated(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TruncatedState*>(state);
  // TensorFlow's bound on the words: the next run of a stateful node begins behind them.
  const auto blocks = static_cast<uint64_t>(s.rows) * 2 * kMaxAttempts *
                      ((static_cast<uint64_t>(s.row_size) + 3) / 4);
  TENON_ASSIGN_OR_RETURN(Philox philox, s.source.Start(args, blocks));
  for (int64_t r = 0; r < s.rows && s.n > 0; ++r) {
    const auto parameter = [&](int k) { return static_cast<T>(s.Parameter(args, k, r)); };
    const T mean = parameter(0), deviation = parameter(1), low = parameter(2), high = parameter(3);
    if (!(deviation > 0) || !(low < high) || !(std::isfinite(low) || std::isfinite(high))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the deviation must be positive and the bounds in order, one of them finite: ", deviation,
          " and [", low, ", ", high, "]"));
    }
    const int64_t first = s.samples_first ? r : r * s.row_size;
    const int64_t step = s.samples_first ? s.rows : 1;
    const int64_t count = s.samples_first ? s.row_size : std::min(s.row_size, s.n - first);
    TENON_RETURN_IF_ERROR(FillRow(Bounds<T>(mean, deviation, low, high), philox,
                                  s.type == DataType::kHalf, count, [&](int64_t i, T x) {
                                    StoreSample(s.type, args.out[0], first + i * step,
                                                static_cast<double>(x));
                                  }));
  }
  return absl::OkStatus();
}

void SetTruncatedRun(Prepare& p, TruncatedState s) {
  const RunFn run = s.type == DataType::kDouble ? &RunTruncated<double> : &RunTruncated<float>;
  p.set_run(run, std::make_shared<TruncatedState>(std::move(s)));
}

absl::Status PrepareTruncated(Prepare& p) {
  if (p.input_shape(0).rank() != 1 || p.input_shape(0).dim(0) == 0)
    return p.Invalid("'shape' must be a vector and must not be empty");
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  TruncatedState s;
  TENON_ASSIGN_OR_RETURN(s.source, PhiloxSource::Of(p));
  s.type = p.output_type(0);
  s.parameters = 1;
  s.n = out.num_elements();
  s.rows = s.n == 0 ? 0 : out.dim(0);
  s.row_size = DimProduct(out, 1, out.rank());
  for (int k = 0; k < 4; ++k) {
    const Shape& shape = p.input_shape(1 + k);
    const bool repeats = shape.rank() == 0 || (shape.rank() == 1 && shape.dim(0) == 1);
    s.stride[k] = {repeats ? 0 : 1};
    if (!repeats && !(shape == Shape({out.dim(0)}))) {
      return p.Invalid(absl::StrCat("'", p.op().inputs[1 + k].name, "' must have 1 or ", out.dim(0),
                                    " elements"));
    }
  }
  if (s.stride[0][0] == 0 && s.stride[1][0] == 0 && p.input_shape(3).rank() == 0 &&
      p.input_shape(4).rank() == 0) {
    constexpr int64_t kRowOfEqual = 100;  // as rows do not differ, they have TensorFlow's length
    s.rows = (s.n + kRowOfEqual - 1) / kRowOfEqual;
    s.row_size = kRowOfEqual;
  }
  s.dims = {s.rows};
  p.set_output_shape(0, out);
  SetTruncatedRun(p, std::move(s));
  return absl::OkStatus();
}

// The parameters broadcast to what the output's shape ends with.
absl::Status PrepareStatelessTruncated(Prepare& p) {
  TruncatedState s;
  TENON_ASSIGN_OR_RETURN(s.source, PhiloxSource::Of(p));
  s.type = p.output_type(0);
  s.parameters = 2;
  s.samples_first = true;
  for (int k = 0; k < 4; ++k) {
    const std::optional<Dims> common = BroadcastDims(s.dims, p.input_shape(2 + k).dims());
    if (!common.has_value()) return p.Invalid("the shapes of the parameters do not fit together");
    s.dims = *common;
  }
  for (int k = 0; k < 4; ++k) {
    const Shape& shape = p.input_shape(2 + k);
    const Dims own = DenseStrides(shape, 1);
    const size_t missing = s.dims.size() - own.size();
    s.stride[k] = Dims(s.dims.size(), 0);
    for (size_t d = 0; d < own.size(); ++d) {
      if (shape.dim(static_cast<int>(d)) != 1) s.stride[k][missing + d] = own[d];
    }
  }
  TENON_ASSIGN_OR_RETURN(const Shape parameters, CheckedShape(p, s.dims));
  TENON_ASSIGN_OR_RETURN(const SampleLayout layout, PrepareSamples(p, parameters, /*whole=*/true));
  s.rows = layout.distributions;
  s.row_size = layout.samples;
  s.n = s.rows * s.row_size;
  SetTruncatedRun(p, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ParameterizedTruncatedNormalKernels() {
  constexpr uint64_t kTypes = TypeBits(DataType::kHalf, DataType::kFloat, DataType::kDouble);
  static const CpuKernelSpec specs[] = {
      {"ParameterizedTruncatedNormal", {{"dtype", kTypes}}, PrepareTruncated, 0b1, true},
      {"StatelessParameterizedTruncatedNormal",
       {{"dtype", kTypes}},
       PrepareStatelessTruncated,
       0b1},
  };
  return specs;
}

}  // namespace tenon::cpu
