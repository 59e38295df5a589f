#include "plugin/cpu/training/optimizer_rules.h"

#include <algorithm>
#include <cmath>

namespace tenon::cpu {
namespace {

using enum HyperName;

template <typename C>
C Sign(C x) {
  return static_cast<C>((x > 0) - (x < 0));
}
// What l1 leaves of x: soft thresholding, the proximal operator of l1 * |x|. Without l1 x stays as
// it is.
template <typename C>
C Shrink(C x, C l1) {
  return l1 > 0 ? Sign(x) * std::max(std::abs(x) - l1, C(0)) : x;
}

// Each rule changes elements v[0][i], v[1][i] … by gradient g[i]. The hyperparameters are a copy,
// which no element can be a part of.
#define TENON_RULE(Name)                                                     \
  struct Name {                                                              \
    template <typename C>                                                    \
    static void Run(const Hyper<C>& h, C* const* v, const C* g, int64_t n) { \
      Step<C>(h, v, g, n);                                                   \
    }                                                                        \
    template <typename C>                                                    \
    static void Step(Hyper<C> h, C* const* v, const C* g, int64_t n);        \
  };                                                                         \
  template <typename C>                                                      \
  void Name::Step(Hyper<C> h, C* const* v, const C* g, int64_t n)

TENON_RULE(GradientDescent) {
  const C alpha = h[kAlpha];
  for (int64_t i = 0; i < n; ++i) v[0][i] -= alpha * g[i];
}

// Forward-backward splitting (Duchi and Singer 2009): a step along the gradient, then the proximal
// step of l1 and l2.
TENON_RULE(ProximalGradientDescent) {
  const C rate = h[kAlpha], l1 = h[kL1] * rate, scale = C(1) + h[kL2] * rate;
  for (int64_t i = 0; i < n; ++i) v[0][i] = Shrink(v[0][i] - rate * g[i], l1) / scale;
}

// Polyak's heavy ball; with Nesterov, the step looks ahead by one more multiple of the momentum.
// The slot holds a sum of gradients, without the rate, so a change of the rate applies to the past
// too.
TENON_RULE(Momentum) {
  const C rate = h[kLr], momentum = h[kMomentum];
  for (int64_t i = 0; i < n; ++i) {
    const C accum = v[1][i] = v[1][i] * momentum + g[i];
    v[0][i] -= h.use_nesterov ? g[i] * rate + accum * momentum * rate : accum * rate;
  }
}

// The same methods, but the slot holds the last step, with its sign and the rate of its time.
TENON_RULE(KerasMomentum) {
  const C rate = h[kLr], momentum = h[kMomentum];
  for (int64_t i = 0; i < n; ++i) {
    const C accum = v[1][i] = v[1][i] * momentum - g[i] * rate;
    v[0][i] += h.use_nesterov ? accum * momentum - g[i] * rate : accum;
  }
}

// Duchi, Hazan and Singer 2011. Nothing guards the root: the slot's initial value must be positive.
TENON_RULE(Adagrad) {
  const C rate = h[kLr];
  for (int64_t i = 0; i < n; ++i) {
    if (h.update_slots) v[1][i] += g[i] * g[i];
    v[0][i] -= g[i] * rate / std::sqrt(v[1][i]);
  }
}

// Adagrad with an epsilon beside the root, not below it.
TENON_RULE(AdagradV2) {
  const C rate = h[kLr], epsilon = h[kEpsilon];
  for (int64_t i = 0; i < n; ++i) {
    if (h.update_slots) v[1][i] += g[i] * g[i];
    v[0][i] -= g[i] * rate / (std::sqrt(v[1][i]) + epsilon);
  }
}

TENON_RULE(ProximalAdagrad) {
  const C l1 = h[kL1], l2 = h[kL2];
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += g[i] * g[i];
    const C rate = h[kLr] / std::sqrt(v[1][i]);
    v[0][i] = Shrink(v[0][i] - g[i] * rate, l1 * rate) / (C(1) + l2 * rate);
  }
}

// Adagrad by dual averaging: the variable is computed anew from the sum of all gradients, its old
// value does not enter. global_step, the count of steps, scales the penalties as the sum grows.
TENON_RULE(AdagradDA) {
  const C rate = h[kLr], l1 = h[kL1] * h[kGlobalStep], l2 = h[kL2] * h[kGlobalStep] * rate;
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += g[i];
    v[2][i] += g[i] * g[i];
    v[0][i] = -rate * Shrink(v[1][i], l1) / (l2 + std::sqrt(v[2][i]));
  }
}

// Zeiler 2012. v[1] and v[2] are running means of the squares of gradients and of updates; the
// update takes v[2] of the step before.
TENON_RULE(Adadelta) {
  const C rate = h[kLr], rho = h[kRho], epsilon = h[kEpsilon], rest = C(1) - rho;
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] = v[1][i] * rho + g[i] * g[i] * rest;
    const C update = std::sqrt(v[2][i] + epsilon) / std::sqrt(v[1][i] + epsilon) * g[i];
    v[2][i] = v[2][i] * rho + update * update * rest;
    v[0][i] -= update * rate;
  }
}

// Hinton's, with a momentum on the scaled gradient; epsilon is under the root.
TENON_RULE(RMSProp) {
  const C rate = h[kLr], momentum = h[kMomentum], epsilon = h[kEpsilon], rest = C(1) - h[kRho];
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += (g[i] * g[i] - v[1][i]) * rest;
    v[2][i] = v[2][i] * momentum + g[i] * rate / std::sqrt(v[1][i] + epsilon);
    v[0][i] -= v[2][i];
  }
}

// Graves 2013: divides by the deviation from the running mean. v[1] is that mean, v[2] the mean of
// the squares; rounding can make their variance negative, and the root NaN, if epsilon is too
// small.
TENON_RULE(CenteredRMSProp) {
  const C rate = h[kLr], momentum = h[kMomentum], epsilon = h[kEpsilon], rest = C(1) - h[kRho];
  for (int64_t i = 0; i < n; ++i) {
    v[2][i] += (g[i] * g[i] - v[2][i]) * rest;
    v[1][i] += (g[i] - v[1][i]) * rest;
    const C variance = v[2][i] - v[1][i] * v[1][i] + epsilon;
    v[3][i] = v[3][i] * momentum + g[i] * rate / std::sqrt(variance);
    v[0][i] -= v[3][i];
  }
}

// Kingma and Ba 2015. Both bias corrections are in the rate, so epsilon is added to the root that
// is not corrected, the paper's "epsilon hat". beta1_power and beta2_power are inputs that the
// caller's graph multiplies after the step.
TENON_RULE(Adam) {
  const C beta1 = h[kBeta1], rest1 = C(1) - beta1, rest2 = C(1) - h[kBeta2];
  const C rate = h[kLr] * std::sqrt(C(1) - h[kBeta2Power]) / (C(1) - h[kBeta1Power]);
  for (int64_t i = 0; i < n; ++i) {
    const C m = v[1][i] += (g[i] - v[1][i]) * rest1;
    v[2][i] += (g[i] * g[i] - v[2][i]) * rest2;
    const C step = h.use_nesterov ? g[i] * rest1 + beta1 * m : m;
    v[0][i] -= step * rate / (std::sqrt(v[2][i]) + h[kEpsilon]);
  }
}

// Reddi, Kale and Kumar 2018: divides by the greatest second moment that there has been, so a step
// never grows because gradients have become small.
TENON_RULE(AdamWithAmsgrad) {
  const C rest1 = C(1) - h[kBeta1], rest2 = C(1) - h[kBeta2];
  const C rate = h[kLr] * std::sqrt(C(1) - h[kBeta2Power]) / (C(1) - h[kBeta1Power]);
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += (g[i] - v[1][i]) * rest1;
    v[2][i] += (g[i] * g[i] - v[2][i]) * rest2;
    v[3][i] = std::max(v[3][i], v[2][i]);
    v[0][i] -= v[1][i] * rate / (std::sqrt(v[3][i]) + h[kEpsilon]);
  }
}

// From Adam's paper: the greatest absolute value, decayed, in place of the second moment; it needs
// no bias correction.
TENON_RULE(AdaMax) {
  const C rest = C(1) - h[kBeta1], rate = h[kLr] / (C(1) - h[kBeta1Power]);
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += (g[i] - v[1][i]) * rest;
    v[2][i] = std::max(h[kBeta2] * v[2][i], std::abs(g[i]));
    v[0][i] -= rate * (v[1][i] / (v[2][i] + h[kEpsilon]));
  }
}

// This and PowerSign are from Bello et al. 2017: steps grow where the gradient agrees in sign with
// its running mean, and shrink where it does not.
TENON_RULE(AddSign) {
  const C rate = h[kLr], alpha = h[kAlpha], decay = h[kSignDecay], beta = h[kBeta];
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] = v[1][i] * beta + g[i] * (C(1) - beta);
    v[0][i] -= rate * (alpha + decay * Sign(g[i]) * Sign(v[1][i])) * g[i];
  }
}

TENON_RULE(PowerSign) {
  const C rate = h[kLr], power = h[kLogbase] * h[kSignDecay], beta = h[kBeta];
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] = v[1][i] * beta + g[i] * (C(1) - beta);
    v[0][i] -= rate * std::exp(power * Sign(g[i]) * Sign(v[1][i])) * g[i];
  }
}

// McMahan et al. 2013, "follow the regularised leader": v[1] is the sum of squares, v[2] the linear
// term, and the variable follows from both alone. The second version's shrinkage is 0 in the first;
// it goes to the linear term only, not to the sum of squares. With multiply_linear_by_lr, `linear`
// is kept times the rate. The usual power, -0.5, is taken as a root, which is faster than pow and
// rounded better.
TENON_RULE(Ftrl) {
  const C rate = h[kLr], power = -h[kLrPower];
  const C outer = h.multiply_linear_by_lr ? rate : C(1),
          inner = h.multiply_linear_by_lr ? C(1) : rate;
  const C l1 = h[kL1] * outer, l2 = C(2) * h[kL2] * outer;
  const bool root = power == C(0.5);
  for (int64_t i = 0; i < n; ++i) {
    const C accum = v[1][i] + g[i] * g[i];
    const C after = root ? std::sqrt(accum) : std::pow(accum, power);
    const C before = root ? std::sqrt(v[1][i]) : std::pow(v[1][i], power);
    const C gradient = g[i] + C(2) * h[kL2Shrinkage] * v[0][i];
    v[2][i] += gradient * outer - (after - before) / inner * v[0][i];
    v[0][i] = (std::min(std::max(v[2][i], -l1), l1) - v[2][i]) / (after / inner + l2);
    v[1][i] = accum;
  }
}

#undef TENON_RULE

template <typename R>
constexpr OptimizerRule Ordered(std::string_view name, bool checks_hyper = false) {
  return {name, &R::template Run<float>, &R::template Run<double>, nullptr, nullptr, checks_hyper};
}
template <typename R>
constexpr OptimizerRule AnyNumber(std::string_view name) {
  return {name, &R::template Run<float>, &R::template Run<double>,
          &R::template Run<std::complex<float>>, &R::template Run<std::complex<double>>};
}

}  // namespace

std::string_view NameOf(HyperName name) {
  static constexpr std::string_view kNames[] = {
      "alpha",   "beta",        "beta1",    "beta1_power", "beta2",        "beta2_power",
      "epsilon", "global_step", "l1",       "l2",          "l2_shrinkage", "logbase",
      "lr",      "lr_power",    "momentum", "rho",         "sign_decay"};
  static_assert(std::size(kNames) == static_cast<size_t>(HyperName::kCount));
  return kNames[static_cast<int>(name)];
}

absl::Span<const OptimizerRule> OptimizerRules() {
  static constexpr OptimizerRule kRules[] = {
      AnyNumber<GradientDescent>("GradientDescent"),
      Ordered<ProximalGradientDescent>("ProximalGradientDescent"),
      AnyNumber<Momentum>("Momentum"),
      AnyNumber<KerasMomentum>("KerasMomentum"),
      AnyNumber<Adagrad>("Adagrad"),
      AnyNumber<AdagradV2>("AdagradV2"),
      Ordered<ProximalAdagrad>("ProximalAdagrad", true),
      Ordered<AdagradDA>("AdagradDA"),
      AnyNumber<Adadelta>("Adadelta"),
      AnyNumber<RMSProp>("RMSProp"),
      AnyNumber<CenteredRMSProp>("CenteredRMSProp"),
      AnyNumber<Adam>("Adam"),
      Ordered<AdamWithAmsgrad>("AdamWithAmsgrad"),
      Ordered<AdaMax>("AdaMax"),
      Ordered<AddSign>("AddSign"),
      Ordered<PowerSign>("PowerSign"),
      Ordered<Ftrl>("Ftrl", true),
      Ordered<Ftrl>("FtrlV2", true),
  };
  return kRules;
}

}  // namespace tenon::cpu
