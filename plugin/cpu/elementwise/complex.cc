// Between complex numbers and their parts.
#include <cmath>
#include <complex>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct CountState {
  int64_t n;
};

template <typename T, T (*kOf)(std::complex<T>)>
absl::Status RunPart(const void* state, const StepArgs& args) {
  const int64_t n = static_cast<const CountState*>(state)->n;
  const auto* z = static_cast<const std::complex<T>*>(args.in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(args.out[0])[i] = kOf(z[i]);
  return absl::OkStatus();
}

template <typename T>
T RealOf(std::complex<T> z) {
  return z.real();
}
template <typename T>
T ImagOf(std::complex<T> z) {
  return z.imag();
}
template <typename T>
T AbsOf(std::complex<T> z) {
  // Squares could overflow or underflow where the absolute value does not.
  return std::hypot(z.real(), z.imag());
}
template <typename T>
T AngleOf(std::complex<T> z) {
  return std::atan2(z.imag(), z.real());
}

template <float (*kFloat)(std::complex<float>), double (*kDouble)(std::complex<double>)>
absl::Status PreparePart(Prepare& p) {
  p.set_output_shape(0, p.input_shape(0));
  auto state = std::make_shared<CountState>(CountState{p.input_shape(0).num_elements()});
  const DataType in = p.input_type(0), out = p.output_type(0);
  if (in == DataType::kComplex64 && out == DataType::kFloat) {
    p.set_run(&RunPart<float, kFloat>, std::move(state));
  } else if (in == DataType::kComplex128 && out == DataType::kDouble) {
    p.set_run(&RunPart<double, kDouble>, std::move(state));
  } else {  // ComplexAbs, which TensorFlow looks up by the type of its input alone
    return p.Invalid(absl::StrCat("Signature mismatch, have: ", DataTypeSpecName(in), "->",
                                  DataTypeSpecName(out), " expected: ", DataTypeSpecName(in), "->",
                                  in == DataType::kComplex64 ? "float" : "double"));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status RunConj(const void* state, const StepArgs& args) {
  const int64_t n = static_cast<const CountState*>(state)->n;
  const auto* z = static_cast<const std::complex<T>*>(args.in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<std::complex<T>*>(args.out[0])[i] = std::conj(z[i]);
  return absl::OkStatus();
}

absl::Status PrepareConj(Prepare& p) {
  p.set_output_shape(0, p.input_shape(0));
  auto state = std::make_shared<CountState>(CountState{p.input_shape(0).num_elements()});
  // A real number is its own conjugate. TensorFlow's op takes real types too.
  if (!IsComplex(p.input_type(0))) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  p.AllowInPlace(0, 0);
  p.set_run(p.input_type(0) == DataType::kComplex64 ? &RunConj<float> : &RunConj<double>,
            std::move(state));
  return absl::OkStatus();
}

// Goes through the driver for its broadcasting: two reals make one complex number of twice the
// size.
template <typename T>
void MakeComplex(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    static_cast<std::complex<T>*>(out)[i] = {static_cast<const T*>(in[0])[i],
                                             static_cast<const T*>(in[1])[i]};
  }
}

absl::Status RunComplex(const void* state, const StepArgs& args) {
  RunElementStep(*static_cast<const ElementStep*>(state), args.in, args.out[0], args.workers);
  return absl::OkStatus();
}

absl::Status PrepareComplex(Prepare& p) {
  const Shape shapes[] = {p.input_shape(0), p.input_shape(1)};
  std::optional<BroadcastPlan> plan = BroadcastPlan::Make(shapes);
  if (!plan.has_value()) return p.Invalid("Incompatible shapes");
  auto step = std::make_shared<ElementStep>();
  step->plan = *std::move(plan);
  step->loop = p.input_type(0) == DataType::kDouble ? &MakeComplex<double> : &MakeComplex<float>;
  step->operands = 2;
  step->n = step->plan.shape.num_elements();
  // By hand: MakeElementStep gives operands and result one type.
  step->in_size.fill(static_cast<int64_t>(DataTypeSize(p.input_type(0))));
  step->out_size = static_cast<int64_t>(DataTypeSize(p.output_type(0)));
  step->grain = GrainFor(step->out_size * 2);
  p.set_output_shape(0, step->plan.shape);
  p.set_run(&RunComplex, std::move(step));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ComplexKernels() {
  using Constraints = absl::InlinedVector<TypeConstraint, 2>;
  static const Constraints kSingle = {{"T", TypeBit(DataType::kComplex64)},
                                      {"Tout", TypeBit(DataType::kFloat)}};
  static const Constraints kDouble = {{"T", TypeBit(DataType::kComplex128)},
                                      {"Tout", TypeBit(DataType::kDouble)}};
  static const Constraints kOfFloats = {{"T", TypeBit(DataType::kFloat)},
                                        {"Tout", TypeBit(DataType::kComplex64)}};
  static const Constraints kOfDoubles = {{"T", TypeBit(DataType::kDouble)},
                                         {"Tout", TypeBit(DataType::kComplex128)}};
  static const CpuKernelSpec specs[] = {
      {"Complex", kOfFloats, PrepareComplex},
      {"Complex", kOfDoubles, PrepareComplex},
      {"Real", kSingle, PreparePart<RealOf<float>, RealOf<double>>},
      {"Real", kDouble, PreparePart<RealOf<float>, RealOf<double>>},
      {"Imag", kSingle, PreparePart<ImagOf<float>, ImagOf<double>>},
      {"Imag", kDouble, PreparePart<ImagOf<float>, ImagOf<double>>},
      {"ComplexAbs", {{"T", kComplexTypes}}, PreparePart<AbsOf<float>, AbsOf<double>>},
      {"Angle", kSingle, PreparePart<AngleOf<float>, AngleOf<double>>},
      {"Angle", kDouble, PreparePart<AngleOf<float>, AngleOf<double>>},
      {"Conj", {}, PrepareConj},
  };
  return specs;
}

}  // namespace tenon::cpu
