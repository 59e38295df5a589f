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
// What l1 leaves of x.
template <typename C>
C Shrink(C x, C l1) {
  return l1 > 0 ? Sign(x) * std::max(std::abs(x) - l1, C(0)) : x;
}

// Each rule changes elements v[0][i], v[1][i] … by gradient g[i].
#define TENON_RULE(Name)                                                    \
  struct Name {                                                             \
    template <typename C>                                                   \
    static void Run(const Hyper<C>& h, C* const* v, const C* g, int64_t n); \
  };                                                                        \
  template <typename C>                                                     \
  void Name::Run(const Hyper<C>& h, C* const* v, const C* g, int64_t n)

TENON_RULE(GradientDescent) {
  const C alpha = h[kAlpha];
  for (int64_t i = 0; i < n; ++i) v[0][i] -= alpha * g[i];
}

TENON_RULE(ProximalGradientDescent) {
  const C rate = h[kAlpha], l1 = h[kL1] * rate, scale = C(1) + h[kL2] * rate;
  for (int64_t i = 0; i < n; ++i) v[0][i] = Shrink(v[0][i] - rate * g[i], l1) / scale;
}

TENON_RULE(Momentum) {
  const C rate = h[kLr], momentum = h[kMomentum];
  for (int64_t i = 0; i < n; ++i) {
    const C accum = v[1][i] = v[1][i] * momentum + g[i];
    v[0][i] -= h.use_nesterov ? g[i] * rate + accum * momentum * rate : accum * rate;
  }
}

TENON_RULE(KerasMomentum) {
  const C rate = h[kLr], momentum = h[kMomentum];
  for (int64_t i = 0; i < n; ++i) {
    const C accum = v[1][i] = v[1][i] * momentum - g[i] * rate;
    v[0][i] += h.use_nesterov ? accum * momentum - g[i] * rate : accum;
  }
}

TENON_RULE(Adagrad) {
  const C rate = h[kLr];
  for (int64_t i = 0; i < n; ++i) {
    if (h.update_slots) v[1][i] += g[i] * g[i];
    v[0][i] -= g[i] * rate / std::sqrt(v[1][i]);
  }
}

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

TENON_RULE(AdagradDA) {
  const C rate = h[kLr], l1 = h[kL1] * h[kGlobalStep], l2 = h[kL2] * h[kGlobalStep] * rate;
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += g[i];
    v[2][i] += g[i] * g[i];
    v[0][i] = -rate * Shrink(v[1][i], l1) / (l2 + std::sqrt(v[2][i]));
  }
}

TENON_RULE(Adadelta) {
  const C rate = h[kLr], rho = h[kRho], epsilon = h[kEpsilon], rest = C(1) - rho;
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] = v[1][i] * rho + g[i] * g[i] * rest;
    const C update = std::sqrt(v[2][i] + epsilon) / std::sqrt(v[1][i] + epsilon) * g[i];
    v[2][i] = v[2][i] * rho + update * update * rest;
    v[0][i] -= update * rate;
  }
}

TENON_RULE(RMSProp) {
  const C rate = h[kLr], momentum = h[kMomentum], epsilon = h[kEpsilon], rest = C(1) - h[kRho];
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += (g[i] * g[i] - v[1][i]) * rest;
    v[2][i] = v[2][i] * momentum + g[i] * rate / std::sqrt(v[1][i] + epsilon);
    v[0][i] -= v[2][i];
  }
}

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

TENON_RULE(AdaMax) {
  const C rest = C(1) - h[kBeta1], rate = h[kLr] / (C(1) - h[kBeta1Power]);
  for (int64_t i = 0; i < n; ++i) {
    v[1][i] += (g[i] - v[1][i]) * rest;
    v[2][i] = std::max(h[kBeta2] * v[2][i], std::abs(g[i]));
    v[0][i] -= rate * (v[1][i] / (v[2][i] + h[kEpsilon]));
  }
}

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

// The second version's shrinkage is 0 in the first. With multiply_linear_by_lr, `linear` is kept
// times the rate.
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
