#include "executor/cli/tensors/expect.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "executor/values/tensor_text.h"

namespace tenon::cli {
namespace {

class Comparer {
 public:
  Comparer(const Tensor& got, const Tensor& want, const Tolerance& tolerance)
      : got_(got), want_(want), tolerance_(tolerance) {}

  Comparison Run() {
    const bool ints = IsIntegerLike(got_.dtype()) || got_.dtype() == DataType::kBool;
    for (int64_t i = 0; i < got_.num_elements(); ++i) {
      const bool right = got_.dtype() == DataType::kString ? got_.StringAt(i) == want_.StringAt(i)
                         : ints                            ? Integer(i)
                         : IsComplex(got_.dtype())         ? Complex(i)
                                                           : Float(i);
      if (!right) Wrong(i);
    }
    return std::move(result_);
  }

 private:
  void Wrong(int64_t i) {
    if (result_.ok) {
      result_.problem =
          absl::StrCat("element ", IndexText(got_.shape(), i), " is ", ElementText(got_, i),
                       " where ", ElementText(want_, i), " is right");
    }
    result_.ok = false;
    ++result_.mismatches;
  }

  void Note(double difference, double want) {
    if (std::isnan(difference) || difference > result_.max_abs) result_.max_abs = difference;
    const double relative =
        want == 0 ? (difference == 0 ? 0 : HUGE_VAL) : difference / std::fabs(want);
    if (std::isnan(relative) || relative > result_.max_rel) result_.max_rel = relative;
  }

  // Compares one real part; `scale` is |want| of the whole element.
  bool Real(double got, double want, double scale) {
    if (std::isnan(got) || std::isnan(want)) {
      const bool both = std::isnan(got) && std::isnan(want);
      if (!both) Note(NAN, want);
      result_.nan_both_sides |= both && !tolerance_.equal_nan;
      return both && tolerance_.equal_nan;
    }
    if (std::isinf(got) || std::isinf(want)) {
      // A difference of infinities would be NaN and hide that a sign or a number is wrong.
      if (got != want) Note(HUGE_VAL, 1);
      return got == want;
    }
    const double difference = std::fabs(got - want);
    Note(difference, scale);
    return difference <= tolerance_.atol + tolerance_.rtol * scale;
  }

  bool Float(int64_t i) {
    const double got = ElementAsDouble(got_, i), want = ElementAsDouble(want_, i);
    const bool close = Real(got, want, std::fabs(want));
    if (std::isnan(got) || std::isnan(want)) return close;
    const int64_t ulp = got == want ? 0 : StepsBetween(got_, want_, i);
    result_.max_ulp = std::max(result_.max_ulp, ulp);
    return close || (tolerance_.max_ulp && ulp <= *tolerance_.max_ulp);
  }

  bool Complex(int64_t i) {
    const std::complex<double> got = ElementAsComplex(got_, i), want = ElementAsComplex(want_, i);
    const double scale =
        std::isfinite(want.real()) && std::isfinite(want.imag()) ? std::abs(want) : 0;
    const bool real = Real(got.real(), want.real(), scale);
    return Real(got.imag(), want.imag(), scale) && real;
  }

  bool Integer(int64_t i) {
    const int64_t got = ElementAsInt(got_, i), want = ElementAsInt(want_, i);
    if (got == want) return true;
    const double difference = std::fabs(ElementAsDouble(got_, i) - ElementAsDouble(want_, i));
    const double scale = std::fabs(ElementAsDouble(want_, i));
    // Large integers that differ may be equal as doubles.
    Note(std::max(difference, 1.0), scale);
    if (!tolerance_.integers || got_.dtype() == DataType::kBool) return false;
    return difference <= tolerance_.atol + tolerance_.rtol * scale;
  }

  const Tensor& got_;
  const Tensor& want_;
  const Tolerance& tolerance_;
  Comparison result_;
};

}  // namespace

Comparison Compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() == want.dtype() && got.shape() == want.shape()) {
    return Comparer(got, want, tolerance).Run();
  }
  Comparison result;
  result.ok = result.comparable = false;
  result.mismatches = std::max(got.num_elements(), want.num_elements());
  result.problem = absl::StrCat("is ", TypeText(got.dtype(), got.shape()), " where ",
                                TypeText(want.dtype(), want.shape()), " is right");
  return result;
}

}  // namespace tenon::cli
