#include "executor/values/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "executor/values/tensor_text.h"

namespace tenon::cli {
namespace {

// Half is computed in float, which has no denormals of its size: so are smaller types.
double SmallestNormal(DataType type) {
  switch (type) {
    case DataType::kDouble:
    case DataType::kComplex128:
      return std::numeric_limits<double>::min();
    case DataType::kFloat:
    case DataType::kComplex64:
    case DataType::kBfloat16:
      return std::numeric_limits<float>::min();
    default:
      return 0;
  }
}

bool IsInexact(DataType type) { return IsFloatLike(type) || IsComplex(type); }

double LargestOf(const Tensor& t) {
  double largest = 0;
  for (int64_t i = 0; IsInexact(t.dtype()) && i < t.num_elements(); ++i) {
    const double magnitude = std::abs(ElementAsComplex(t, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

class Comparer {
 public:
  Comparer(const Tensor& got, const Tensor& want, const Tolerance& tolerance)
      : got_(got),
        want_(want),
        tolerance_(tolerance),
        smallest_normal_(tolerance.flush_denormals ? SmallestNormal(want.dtype()) : 0) {
    if (tolerance.scale == Scale::kLargest) largest_ = LargestOf(want);
  }

  Comparison Run() {
    for (int64_t i = 0; i < got_.num_elements(); ++i) {
      const bool right = got_.dtype() == DataType::kString ? got_.StringAt(i) == want_.StringAt(i)
                         : IsComplex(got_.dtype())         ? Complex(i)
                         : IsFloatLike(got_.dtype())       ? Float(i)
                                                           : Integer(i);
      if (!right) Wrong(i);
    }
    return std::move(result_);
  }

 private:
  void Wrong(int64_t i) {
    if (result_.ok) {
      result_.problem =
          absl::StrCat("element ", IndexText(got_.shape(), i), " is ", ElementText(got_, i),
                       " where ", ElementText(want_, i), " is right", StepsText(i));
    }
    result_.ok = false;
    ++result_.mismatches;
  }

  std::string StepsText(int64_t i) const {
    const bool finite = IsFloatLike(got_.dtype()) && std::isfinite(ElementAsDouble(got_, i)) &&
                        std::isfinite(ElementAsDouble(want_, i));
    return finite ? absl::StrCat(", ", StepsBetween(got_, want_, i), " ulps away") : "";
  }

  void Note(double difference, double want) {
    if (std::isnan(difference) || difference > result_.max_abs) result_.max_abs = difference;
    const double relative =
        want == 0 ? (difference == 0 ? 0 : HUGE_VAL) : difference / std::fabs(want);
    if (std::isnan(relative) || relative > result_.max_rel) result_.max_rel = relative;
  }

  double Bound(double magnitude) const {
    return tolerance_.atol + tolerance_.rtol * largest_.value_or(magnitude);
  }

  bool IsFlushed(double v) const { return std::fabs(v) < smallest_normal_; }

  // One real part; `magnitude` is |want| of the whole element. An infinite difference of infinities
  // of other signs is noted as such, since inf - inf is NaN.
  bool Real(double got, double want, double magnitude) {
    if (std::isnan(got) || std::isnan(want)) {
      const bool both = std::isnan(got) && std::isnan(want);
      if (!both) Note(NAN, want);
      result_.nan_both_sides |= both && !tolerance_.equal_nan;
      return both && tolerance_.equal_nan;
    }
    if (std::isinf(got) || std::isinf(want)) {
      if (got != want) Note(HUGE_VAL, 1);
      return got == want;
    }
    const double difference = std::fabs(got - want);
    Note(difference, magnitude);
    if (got == want || (IsFlushed(got) && IsFlushed(want)))
      return !tolerance_.zero_signs || std::signbit(got) == std::signbit(want);
    return difference <= Bound(magnitude);
  }

  bool Float(int64_t i) {
    const double got = ElementAsDouble(got_, i), want = ElementAsDouble(want_, i);
    const bool close = Real(got, want, std::fabs(want));
    if (std::isnan(got) || std::isnan(want)) return close;
    const int64_t ulp = got == want ? 0 : StepsBetween(got_, want_, i);
    result_.max_ulp = std::max(result_.max_ulp, ulp);
    if (std::isinf(got) || std::isinf(want)) return close;
    return close || (tolerance_.max_ulp && ulp <= *tolerance_.max_ulp);
  }

  bool Complex(int64_t i) {
    const std::complex<double> got = ElementAsComplex(got_, i), want = ElementAsComplex(want_, i);
    const double magnitude =
        std::isfinite(want.real()) && std::isfinite(want.imag()) ? std::abs(want) : 0;
    const bool real = Real(got.real(), want.real(), magnitude);
    return Real(got.imag(), want.imag(), magnitude) && real;
  }

  bool Integer(int64_t i) {
    const int64_t got = ElementAsInt(got_, i), want = ElementAsInt(want_, i);
    if (got == want) return true;
    // Large integers that differ may be equal as doubles.
    const double difference =
        std::max(std::fabs(ElementAsDouble(got_, i) - ElementAsDouble(want_, i)), 1.0);
    const double magnitude = std::fabs(ElementAsDouble(want_, i));
    Note(difference, magnitude);
    if (!tolerance_.integers || got_.dtype() == DataType::kBool) return false;
    return difference <= Bound(magnitude);
  }

  const Tensor& got_;
  const Tensor& want_;
  const Tolerance& tolerance_;
  const double smallest_normal_;   // below it a number is like a zero
  std::optional<double> largest_;  // of Scale::kLargest
  Comparison result_;
};

// Without this a proof, most of whose answers have the same bits, would look at every element.
bool HaveSameBits(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DataType::kString) return false;
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

bool HaveSameTypes(const Tensor& a, const Tensor& b) {
  return a.initialized() && b.initialized() && a.dtype() == b.dtype() && a.shape() == b.shape();
}

bool IsLeftOut(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (!got.initialized() && !want.initialized()) return true;
  if (!tolerance.floats_only || !got.initialized() || !want.initialized()) return false;
  return got.dtype() == want.dtype() && got.shape().rank() == want.shape().rank() &&
         (got.shape() != want.shape() || !IsInexact(got.dtype()));
}

Comparison OtherTypes(const Tensor& got, const Tensor& want) {
  const auto size = [](const Tensor& t) { return t.initialized() ? t.num_elements() : 0; };
  const auto text = [](const Tensor& t) {
    return t.initialized() ? TypeText(t.dtype(), t.shape()) : std::string("nothing");
  };
  Comparison result;
  result.ok = result.comparable = false;
  result.mismatches = std::max(size(got), size(want));
  result.problem = absl::StrCat("is ", text(got), " where ", text(want), " is right");
  return result;
}

}  // namespace

Comparison Compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (IsLeftOut(got, want, tolerance)) return {};
  if (!HaveSameTypes(got, want)) return OtherTypes(got, want);
  const bool any_nan_is_wrong = !tolerance.equal_nan && IsInexact(got.dtype());
  if (!any_nan_is_wrong && HaveSameBits(got, want)) return {};
  return Comparer(got, want, tolerance).Run();
}

}  // namespace tenon::cli
