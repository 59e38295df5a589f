// StochasticCastToInt: numbers rounded to one of the two integers beside them, the nearer the
// likelier.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct CastState {
  int64_t n;
  DataType from, to;
};

// The uniform numbers in one block, and how many elements TensorFlow casts to int32 at once: they
// share a block, again and again from its first number on. What is left over, and other integers,
// are cast one by one.
struct HalfDraws {
  static constexpr int kLanes = 1, kNumbers = 1;
  static float At(const PhiloxWords& w, int64_t) { return UniformHalf(w[0]); }
};
struct Bfloat16Draws {
  static constexpr int kLanes = 1, kNumbers = 1;
  static float At(const PhiloxWords& w, int64_t) { return UniformBfloat16(w[0]); }
};
struct FloatDraws {
  static constexpr int kLanes = 8, kNumbers = 4;
  static float At(const PhiloxWords& w, int64_t i) { return UniformFloat(w[i]); }
};
struct DoubleDraws {
  static constexpr int kLanes = 4, kNumbers = 2;
  static double At(const PhiloxWords& w, int64_t i) {
    return UniformDouble(w[2 * i], w[2 * i + 1]);
  }
};
HalfDraws DrawsOf(HalfElement) { return {}; }
Bfloat16Draws DrawsOf(Bfloat16Element) { return {}; }
FloatDraws DrawsOf(PlainElement<float>) { return {}; }
DoubleDraws DrawsOf(PlainElement<double>) { return {}; }

// x as the element type holds it.
template <typename Element, typename T = typename Element::Native>
T Rounded(Element element, T x) {
  char stored[sizeof(T)];
  element.Put(stored, 0, x);
  return element.template As<T>(stored, 0);
}

template <typename To, typename Element>
class Caster {
 public:
  using T = typename Element::Native;
  explicit Caster(Element element) : element_(element) {}

  // What lies at or beyond the integers' ends, integers, and NaN are cast without a random number.
  bool NeedsNumber(T x) const { return x < highest_ && x > lowest_ && std::floor(x) != x; }
  To Cast(T x, T random) const {
    if (std::isnan(x)) return 0;
    // Where the float type rounds the end up, TensorFlow casts what no integer can be.
    if (x >= highest_) return static_cast<double>(highest_) > kHighest ? kLowest : kHighest;
    if (x <= lowest_) return kLowest;
    if (std::floor(x) == x) return static_cast<To>(x);
    const T sum = x < 0 ? x + random : Rounded(element_, x + T(1)) - random;
    return static_cast<To>(std::floor(Rounded(element_, sum)));
  }

 private:
  static constexpr To kLowest = std::numeric_limits<To>::min(),
                      kHighest = std::numeric_limits<To>::max();
  const Element element_;
  const T lowest_ = Rounded(element_, static_cast<T>(kLowest)),
          highest_ = Rounded(element_, static_cast<T>(kHighest));
};

template <typename To, typename Element>
void CastAll(const CastState& s, Element element, Philox philox, const void* in, void* out) {
  using Draws = decltype(DrawsOf(element));
  using T = typename Element::Native;
  const Caster<To, Element> caster(element);
  To* y = static_cast<To*>(out);
  int64_t i = 0;
  const int64_t lanes = sizeof(To) == sizeof(int32_t) ? Draws::kLanes : 1;
  for (; lanes > 1 && i + lanes <= s.n; i += lanes) {
    const PhiloxWords block = philox.Next();
    for (int64_t k = 0; k < lanes; ++k)
      y[i + k] =
          caster.Cast(element.template As<T>(in, i + k), Draws::At(block, k % Draws::kNumbers));
  }
  for (; i < s.n; ++i) {
    const T x = element.template As<T>(in, i);
    y[i] = caster.Cast(x, caster.NeedsNumber(x) ? Draws::At(philox.Next(), 0) : T(0));
  }
}

// TensorFlow takes the counter for the generator's key, and the key for the counter's upper half.
Philox Start(uint64_t key, uint64_t counter) {
  Philox philox;
  philox.key = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32)};
  philox.counter = {0, 0, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  return philox;
}

absl::Status RunCast(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CastState*>(state);
  constexpr int32_t kPhilox = 1, kAuto = 3;
  const int32_t algorithm = *static_cast<const int32_t*>(args.in[3]);
  if (algorithm != kPhilox && algorithm != kAuto) {
    return absl::InvalidArgumentError(
        absl::StrCat("'alg' must be 1 (Philox) or 3 (to be chosen), not ", algorithm));
  }
  const Philox philox =
      Start(*static_cast<const uint64_t*>(args.in[1]), *static_cast<const uint64_t*>(args.in[2]));
  VisitFloat(s.from, [&](auto element) {
    if (s.to == DataType::kInt8) CastAll<int8_t>(s, element, philox, args.in[0], args.out[0]);
    if (s.to == DataType::kInt16) CastAll<int16_t>(s, element, philox, args.in[0], args.out[0]);
    if (s.to == DataType::kInt32) CastAll<int32_t>(s, element, philox, args.in[0], args.out[0]);
  });
  return absl::OkStatus();
}

absl::Status PrepareStochasticCast(Prepare& p) {
  if (!(p.input_shape(1) == Shape({1}))) return p.Invalid("'key' must hold one number");
  if (p.input_shape(2).rank() != 1 || p.input_shape(2).dim(0) < 1)
    return p.Invalid("'counter' must be a vector of numbers");
  TENON_RETURN_IF_ERROR(CheckScalars(p, 3, 4));
  const Shape& shape = p.input_shape(0);
  p.set_output_shape(0, shape);
  p.set_run(&RunCast, std::make_shared<CastState>(
                          CastState{shape.num_elements(), p.input_type(0), p.output_type(0)}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StochasticCastKernels() {
  static const CpuKernelSpec specs[] = {
      {"StochasticCastToInt", {{"Tin", kEveryType}}, PrepareStochasticCast}};
  return specs;
}

}  // namespace tenon::cpu
