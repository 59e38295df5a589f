// Differences of answers in numbers that do not depend on zeros among them: by the largest
// magnitude and by the root mean square.

#include "executor/cli/bench/accuracy.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/values/element.h"

namespace tenon::cli {
namespace {

bool IsNan(std::complex<double> x) { return std::isnan(x.real()) || std::isnan(x.imag()); }

// Whether both are NaN, or have the same value.
bool SameNumber(std::complex<double> x, std::complex<double> y) {
  return x == y || (IsNan(x) && IsNan(y));
}

double Fraction(double part, double whole) {
  if (part == 0) return 0;
  return whole > 0 ? part / whole : std::numeric_limits<double>::infinity();
}

}  // namespace

FetchDifference DifferenceOf(std::string_view name, const Tensor& a, const Tensor& b) {
  FetchDifference d{.name = std::string(name)};
  if (a.dtype() == DataType::kInvalid && b.dtype() == DataType::kInvalid) return d;
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    d.problem = absl::StrCat("is ", DataTypeName(b.dtype()), b.shape().ToString(), " in b, ",
                             DataTypeName(a.dtype()), a.shape().ToString(), " in a");
    return d;
  }
  d.elements = a.num_elements();
  if (!IsNumber(a.dtype())) {
    d.problem = absl::StrCat(DataTypeName(a.dtype()), " is no number");
    return d;
  }
  double largest = 0, squares = 0, squared_differences = 0;
  for (int64_t i = 0; i < d.elements; ++i) {
    const std::complex<double> x = ElementAsComplex(a, i), y = ElementAsComplex(b, i);
    const double magnitude = std::abs(x);
    if (std::isfinite(magnitude)) {
      largest = std::max(largest, magnitude);
      squares += magnitude * magnitude;
    }
    if (SameNumber(x, y)) continue;
    const double difference = std::abs(y - x);
    ++d.differing;
    squared_differences += difference * difference;
    if (!(difference <= d.max_abs)) d.max_abs = std::isnan(d.max_abs) ? d.max_abs : difference;
  }
  d.of_largest = Fraction(d.max_abs, largest);
  d.of_rms = Fraction(std::sqrt(squared_differences), std::sqrt(squares));
  return d;
}

Json DifferencesJson(const std::vector<FetchDifference>& differences) {
  Json array = Json::Array();
  for (const FetchDifference& d : differences) {
    Json json = Json::Object();
    json.Set("name", d.name)
        .Set("elements", d.elements)
        .Set("differing", d.differing)
        .Set("max_abs", d.max_abs)
        .Set("of_largest", d.of_largest)
        .Set("of_rms", d.of_rms);
    if (!d.problem.empty()) json.Set("problem", d.problem);
    array.Push(std::move(json));
  }
  return array;
}

std::string DifferencesText(const std::vector<FetchDifference>& differences, const Style& style) {
  std::string text;
  for (const FetchDifference& d : differences) {
    if (!d.problem.empty()) {
      absl::StrAppend(&text, style.Bold(d.name), "  not compared: ", d.problem, "\n");
    } else if (d.differing > 0) {
      absl::StrAppend(
          &text, style.Bold(d.name),
          absl::StrFormat("  b differs from a by at most %.3g, %.3g of the largest value; by root "
                          "mean square %.3g; in %d of %s\n",
                          d.max_abs, d.of_largest, d.of_rms, d.differing,
                          Plural(d.elements, "element")));
    }
  }
  return text.empty() ? "both answer the same\n" : text;
}

}  // namespace tenon::cli
