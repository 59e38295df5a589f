// RandomGamma, RandomPoissonV2 and their stateless forms: samples of each of the distributions that
// a tensor of parameters describes, drawn in double.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/cpu/random/samples.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// One value's draw, with what depends on the parameter alone computed before.
class Gamma {
 public:
  explicit Gamma(double alpha)
      : alpha_(alpha), d_(alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3)), c_(1.0 / 3 / std::sqrt(d_)) {}
  static bool Accepts(double alpha) { return alpha >= 0; }

  // Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. A shape below 1 is
  // drawn as shape + 1, times a uniform number to the power of 1 / shape. The first test, a
  // squeeze, saves most of the logarithms.
  double operator()(BackwardDraws& draws) const {
    if (alpha_ == 1) return -std::log1p(-draws.Uniform());
    for (;;) {
      const double x = draws.Normal();
      double v = 1 + c_ * x;
      if (v <= 0) continue;
      v = v * v * v;
      const double u = draws.Uniform();
      if (u >= 1 - 0.0331 * (x * x) * (x * x) &&
          std::log(u) >= 0.5 * x * x + d_ * (1 - v + std::log(v))) {
        continue;
      }
      return alpha_ < 1 ? d_ * v * std::pow(draws.Uniform(), 1 / alpha_) : d_ * v;
    }
  }

 private:
  double alpha_, d_, c_;
};

class Poisson {
 public:
  explicit Poisson(double rate)
      : rate_(rate),
        log_rate_(std::log(rate)),
        b_(0.931 + 2.53 * std::sqrt(rate)),
        a_(-0.059 + 0.02483 * b_) {}
  static bool Accepts(double rate) { return std::isfinite(rate); }

  double operator()(BackwardDraws& draws) const { return rate_ < 10 ? Few(draws) : Many(draws); }

 private:
  // Counts events until their exponential distances exceed the rate (Knuth).
  double Few(BackwardDraws& draws) const {
    const double stop = std::exp(-rate_);
    double product = draws.Uniform();
    int count = 0;
    while (product > stop) {
      product *= draws.Uniform();
      ++count;
    }
    return count;
  }

  // Transformed rejection (Hörmann, "The transformed rejection method for generating Poisson random
  // variables", 1993).
  double Many(BackwardDraws& draws) const {
    const double inverse_alpha = 1.1239 + 1.1328 / (b_ - 3.4);
    for (;;) {
      const double u = draws.Uniform() - 0.5;
      const double v = draws.Uniform();
      const double shifted = 0.5 - std::abs(u);
      const double k = std::floor((2 * a_ / shifted + b_) * u + rate_ + 0.43);
      if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
      if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
      int sign;
      if (std::log(v * inverse_alpha / (a_ / (shifted * shifted) + b_)) <=
          -rate_ + k * log_rate_ - lgamma_r(k + 1, &sign)) {
        return k;
      }
    }
  }

  double rate_, log_rate_, b_, a_;
};

struct SampleState {
  PhiloxSource source;
  SampleLayout layout;
  int parameter;  // input
  DataType parameter_type, type;
};

template <typename Distribution>
absl::Status RunSamples(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SampleState*>(state);
  const void* parameters = args.in[s.parameter];
  for (int64_t i = 0; i < s.layout.distributions; ++i) {
    const double parameter = LoadParameter(s.parameter_type, parameters, i);
    if (!Distribution::Accepts(parameter)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i, " must be finite and not negative: ", parameter));
    }
  }
  const auto outputs = static_cast<uint64_t>(s.layout.samples * s.layout.distributions);
  TENON_ASSIGN_OR_RETURN(const Philox philox, s.source.Start(args, kBlocksPerOutput * outputs));
  ForSamples(
      s.layout, *args.workers, [&](int64_t distribution, int64_t first, int64_t last, int64_t at) {
        const Distribution draw(LoadParameter(s.parameter_type, parameters, distribution));
        for (int64_t i = first; i < last; ++i, ++at) {
          BackwardDraws draws(philox, kBlocksPerOutput * static_cast<uint64_t>(at));
          StoreSample(s.type, args.out[0], i * s.layout.distributions + distribution, draw(draws));
        }
      });
  return absl::OkStatus();
}

template <typename Distribution>
absl::Status PrepareDraws(Prepare& p) {
  SampleState s;
  TENON_ASSIGN_OR_RETURN(s.source, PhiloxSource::Of(p));
  s.parameter = p.num_inputs() - 1;
  s.parameter_type = p.input_type(s.parameter);
  s.type = p.output_type(0);
  TENON_ASSIGN_OR_RETURN(
      s.layout, PrepareSamples(p, p.input_shape(s.parameter), /*whole=*/!p.op().is_stateful));
  p.set_run(&RunSamples<Distribution>, std::make_shared<SampleState>(std::move(s)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> GammaPoissonKernels() {
  constexpr uint64_t kTypes = TypeBits(DataType::kHalf, DataType::kFloat, DataType::kDouble);
  constexpr uint64_t kCountTypes = kTypes | kIndexTypes;
  static const CpuKernelSpec specs[] = {
      {"RandomGamma", {{"T", kTypes}}, PrepareDraws<Gamma>, 0b1, true},
      {"StatelessRandomGammaV2", {{"dtype", kTypes}}, PrepareDraws<Gamma>, 0b1},
      {"StatelessRandomGammaV3", {{"dtype", kTypes}}, PrepareDraws<Gamma>, 0b1},
      {"RandomPoisson", {{"dtype", kTypes}}, PrepareDraws<Poisson>, 0b1, true},
      {"RandomPoissonV2", {{"dtype", kCountTypes}}, PrepareDraws<Poisson>, 0b1, true},
      {"StatelessRandomPoisson", {{"dtype", kCountTypes}}, PrepareDraws<Poisson>, 0b1},
  };
  return specs;
}

}  // namespace tenon::cpu
