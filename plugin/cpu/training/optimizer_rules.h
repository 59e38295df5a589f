// The rules by which optimizers change a variable and its slots, element by element. A rule
// computes in the type of its function; the caller converts half and bfloat16, and checks shapes.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace tenon::cpu {

// The scalar inputs of all optimizers, by their names in the ops.
enum class HyperName : uint8_t {
  kAlpha,
  kBeta,
  kBeta1,
  kBeta1Power,
  kBeta2,
  kBeta2Power,
  kEpsilon,
  kGlobalStep,
  kL1,
  kL2,
  kL2Shrinkage,
  kLogbase,
  kLr,
  kLrPower,
  kMomentum,
  kRho,
  kSignDecay,
  kCount,  // the number of names; no name itself
};
// Returns the input's name in OpDefs, e.g. "beta1_power". `name` must not be kCount.
std::string_view NameOf(HyperName name);

// The hyperparameters of one update. A scalar that the op does not have is 0. The flags are the
// op's attributes of the same names.
template <typename C>
struct Hyper {
  C values[static_cast<int>(HyperName::kCount)] = {};
  bool use_nesterov = false;
  bool update_slots = true;
  bool multiply_linear_by_lr = false;

  C operator[](HyperName name) const { return values[static_cast<int>(name)]; }
};

// Updates n elements, in the calling thread. v[0] is the variable, v[1], v[2] … are its slots in
// the order of the op's inputs. `gradient` must not overlap any of these arrays. A rule has no
// errors: a division by 0 gives infinity or NaN, as in TensorFlow.
template <typename C>
using RuleFn = void (*)(const Hyper<C>& h, C* const* v, const C* gradient, int64_t n);

struct OptimizerRule {
  std::string_view name;   // "Adam": the op's name without Apply, ResourceApply …
  RuleFn<float> of_float;  // also for half and bfloat16
  RuleFn<double> of_double;
  RuleFn<std::complex<float>> of_complex64;  // both null if the rule compares numbers
  RuleFn<std::complex<double>> of_complex128;
  // If true, the caller refuses these scalars with INVALID_ARGUMENT before it calls the rule: NaN,
  // an lr_power above 0, any other scalar below 0 and, unless multiply_linear_by_lr, an lr of 0.
  bool checks_hyper = false;
};

// Returns all rules, each under another name. Thread-safe.
absl::Span<const OptimizerRule> OptimizerRules();

}  // namespace tenon::cpu
