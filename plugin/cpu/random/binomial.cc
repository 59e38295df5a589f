// StatelessRandomBinomial, StatefulRandomBinomial: how many of `counts` trials succeed, each with
// probability `probs`.
#include <cmath>
#include <limits>
#include <optional>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/cpu/random/samples.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Counts geometric distances between successes (inversion).
double DrawFew(double count, double p, BackwardDraws& draws) {
  const double log_failure = std::log1p(-p);
  double successes = 0;
  for (double trials = 0;; ++successes) {
    trials += std::ceil(std::log(draws.Uniform()) / log_failure);
    if (trials > count) return successes;
  }
}

// What Stirling's formula leaves of log(k!).
double StirlingTail(double k) {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k >= 0 && k <= 9) return kFirst[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Transformed rejection with squeeze (Hörmann, "The generation of binomial random variates", 1993).
double DrawMany(double count, double p, BackwardDraws& draws) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = draws.Uniform() - 0.5;
    const double v = draws.Uniform();
    const double shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + c);
    if (shifted >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         StirlingTail(mode) + StirlingTail(count - mode) - StirlingTail(k) -
                         StirlingTail(count - k);
    if (std::log(v * alpha / (a / (shifted * shifted) + b)) <= bound) return k;
  }
}

// The parameters of one distribution, and which way to draw from it.
class Binomial {
 public:
  // `product` rounds a product of parameters as their type would.
  template <typename Round>
  Binomial(double count, double p, Round&& round)
      : count_(count), turned_(p > 0.5), p_(turned_ ? 1 - p : p) {
    if (std::isnan(count) || std::isnan(p)) {
      fixed_ = std::numeric_limits<double>::quiet_NaN();
    } else if (count <= 0 || p <= 0) {
      fixed_ = 0;
    } else if (p >= 1) {
      fixed_ = count;
    }
    // The rejection needs a mean of 10; below, few distances have to be counted.
    many_ = round(count_ * p_) >= 10;
  }

  double Draw(const Philox& philox, int64_t at) const {
    if (fixed_.has_value()) return *fixed_;
    // What TensorFlow sets aside for each output of either method.
    constexpr uint64_t kBlocksOfMany = 256, kBlocksOfFew = 42;
    BackwardDraws draws(philox, (many_ ? kBlocksOfMany : kBlocksOfFew) * static_cast<uint64_t>(at));
    const double drawn = many_ ? DrawMany(count_, p_, draws) : DrawFew(count_, p_, draws);
    return turned_ ? count_ - drawn : drawn;
  }

 private:
  double count_;
  bool turned_;  // failures are drawn
  double p_;
  bool many_;
  std::optional<double> fixed_;
};

struct BinomialState {
  PhiloxSource source;
  SampleLayout layout;
  BroadcastPlan plan;
  int counts;  // input; that of the probabilities follows
  DataType parameter_type, type;
};

double RoundTo(DataType type, double x) {
  double stored = 0;
  StoreSample(type, &stored, 0, x);
  return LoadParameter(type, &stored, 0);
}

absl::Status RunBinomial(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BinomialState*>(state);
  if (s.source.in_variable() && *static_cast<const int64_t*>(args.in[1]) != 1)
    return absl::InvalidArgumentError("'algorithm' must be 1 (Philox)");
  const auto outputs = static_cast<uint64_t>(s.layout.distributions) * 2 * 100 *
                       (static_cast<uint64_t>(s.layout.samples) + 3) / 4;
  TENON_ASSIGN_OR_RETURN(const Philox philox, s.source.Start(args, kBlocksPerOutput * outputs));
  const auto parameter = [&](int k, int64_t i) {
    int64_t offset = 0;
    for (int d = static_cast<int>(s.plan.size.size()) - 1; d >= 0; --d) {
      offset += i % s.plan.size[d] * s.plan.stride[k][d];
      i /= s.plan.size[d];
    }
    return LoadParameter(s.parameter_type, args.in[s.counts + k], offset);
  };
  ForSamples(s.layout, *args.workers,
             [&](int64_t distribution, int64_t first, int64_t last, int64_t at) {
               const Binomial binomial(parameter(0, distribution), parameter(1, distribution),
                                       [&](double x) { return RoundTo(s.parameter_type, x); });
               for (int64_t i = first; i < last; ++i, ++at) {
                 StoreSample(s.type, args.out[0], i * s.layout.distributions + distribution,
                             binomial.Draw(philox, at));
               }
             });
  return absl::OkStatus();
}

absl::Status PrepareBinomial(Prepare& p) {
  BinomialState s;
  TENON_ASSIGN_OR_RETURN(s.source, PhiloxSource::Of(p));
  s.counts = InputNamed(p.op(), "counts");
  const Shape shapes[] = {p.input_shape(s.counts), p.input_shape(s.counts + 1)};
  std::optional<BroadcastPlan> plan = BroadcastPlan::Make(shapes);
  if (!plan.has_value()) return p.Invalid("the shapes of 'counts' and 'probs' do not fit together");
  s.plan = *std::move(plan);
  s.parameter_type = p.input_type(s.counts);
  s.type = p.output_type(0);
  TENON_ASSIGN_OR_RETURN(s.layout, PrepareSamples(p, s.plan.shape, /*whole=*/true));
  p.set_run(&RunBinomial, std::make_shared<BinomialState>(std::move(s)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> BinomialKernels() {
  constexpr uint64_t kTypes = TypeBits(DataType::kHalf, DataType::kFloat, DataType::kDouble);
  static const CpuKernelSpec specs[] = {
      {"StatelessRandomBinomial",
       {{"T", kTypes}, {"dtype", kTypes | kIndexTypes}},
       PrepareBinomial,
       0b1},
      {"StatefulRandomBinomial",
       {{"T", kTypes}, {"dtype", kTypes | kIndexTypes}},
       PrepareBinomial,
       0b100,
       true,
       false,
       true},
  };
  return specs;
}

}  // namespace tenon::cpu
