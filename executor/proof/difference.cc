#include "executor/proof/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "executor/values/tensor_text.h"

namespace tenon {
namespace {

// One ulp of a float at 1.
double StepAtOne(DataType type) {
  switch (type) {
    case DataType::kDouble:
    case DataType::kComplex128:
      return 0x1p-52;
    case DataType::kFloat:
    case DataType::kComplex64:
      return 0x1p-23;
    case DataType::kHalf:
      return 0x1p-10;
    case DataType::kBfloat16:
      return 0x1p-7;
    default:
      return 0x1p-2;
  }
}

// Below it a value of the type is a denormal that arithmetic flushes to zero. Half is computed in
// float, which has no denormals of its size.
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

bool SameButForSizes(const Tensor& a, const Tensor& b) {
  return a.initialized() && b.initialized() && a.dtype() == b.dtype() && a.shape() != b.shape() &&
         a.shape().rank() == b.shape().rank();
}

class Comparer {
 public:
  Comparer(const Tensor& was, const Tensor& is, Sameness sameness)
      : was_(was), is_(is), smallest_normal_(SmallestNormal(is.dtype())) {
    if (sameness == Sameness::kBits || !IsReal()) return;
    const double step = sameness == Sameness::kRounded
                            ? std::max(StepAtOne(is.dtype()), StepAtOne(DataType::kBfloat16))
                            : StepAtOne(is.dtype());
    bound_ = step * static_cast<double>(step < 0x1p-20 ? kMaxSteps : kMaxStepsSmall) * Largest();
  }

  std::optional<Difference> Run() {
    std::optional<Difference> found;
    int64_t worst = 0;
    for (int64_t i = 0; i < is_.num_elements(); ++i) {
      if (Same(i)) continue;
      const bool finite = cli::IsFloatLike(is_.dtype()) &&
                          std::isfinite(cli::ElementAsDouble(was_, i)) &&
                          std::isfinite(cli::ElementAsDouble(is_, i));
      const int64_t steps = finite ? cli::StepsBetween(was_, is_, i) : 0;
      worst = std::max(worst, steps);
      if (found) continue;
      found = Difference{
          0, absl::StrCat("element ", cli::IndexText(is_.shape(), i), " is ",
                          cli::ElementText(is_, i), " where ", cli::ElementText(was_, i), " was",
                          finite ? absl::StrCat(", ", steps, " ulps away") : "")};
    }
    if (found) found->ulps = worst;
    return found;
  }

 private:
  bool IsReal() const { return cli::IsFloatLike(is_.dtype()) || IsComplex(is_.dtype()); }

  double Largest() const {
    double largest = 0;
    for (int64_t i = 0; i < was_.num_elements(); ++i) {
      const double v = IsComplex(was_.dtype()) ? std::abs(cli::ElementAsComplex(was_, i))
                                               : std::fabs(cli::ElementAsDouble(was_, i));
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    return largest;
  }

  bool IsTiny(double v) const { return std::fabs(v) < smallest_normal_; }

  bool SameReal(double was, double is) const {
    if (std::isnan(was) || std::isnan(is)) return std::isnan(was) && std::isnan(is);
    if (bound_ && std::isfinite(was) && std::isfinite(is)) return std::fabs(was - is) <= *bound_;
    const bool equal = was == is || (IsTiny(was) && IsTiny(is));
    return equal && (bound_ || std::signbit(was) == std::signbit(is));
  }

  bool Same(int64_t i) const {
    const DataType type = is_.dtype();
    if (type == DataType::kString) return was_.StringAt(i) == is_.StringAt(i);
    if (cli::IsFloatLike(type))
      return SameReal(cli::ElementAsDouble(was_, i), cli::ElementAsDouble(is_, i));
    if (IsComplex(type)) {
      const auto was = cli::ElementAsComplex(was_, i), is = cli::ElementAsComplex(is_, i);
      return SameReal(was.real(), is.real()) && SameReal(was.imag(), is.imag());
    }
    return cli::ElementAsInt(was_, i) == cli::ElementAsInt(is_, i);
  }

  const Tensor& was_;
  const Tensor& is_;
  const double smallest_normal_;
  std::optional<double> bound_;  // absolute; none: every bit
};

}  // namespace

std::optional<Difference> FindDifference(const Tensor& was, const Tensor& is, Sameness sameness) {
  if (!was.initialized() && !is.initialized()) return std::nullopt;
  if (sameness == Sameness::kRounded && SameButForSizes(was, is)) return std::nullopt;
  if (was.initialized() != is.initialized() || was.dtype() != is.dtype() ||
      was.shape() != is.shape()) {
    const auto text = [](const Tensor& t) {
      return t.initialized() ? cli::TypeText(t.dtype(), t.shape()) : std::string("nothing");
    };
    return Difference{0, absl::StrCat("it is ", text(is), " where ", text(was), " was")};
  }
  if (sameness == Sameness::kRounded && !cli::IsFloatLike(is.dtype()) && !IsComplex(is.dtype()))
    return std::nullopt;
  if (is.dtype() != DataType::kString &&
      (is.bytes() == 0 || std::memcmp(was.data(), is.data(), is.bytes()) == 0))
    return std::nullopt;
  return Comparer(was, is, sameness).Run();
}

Answer AnswerOf(const absl::StatusOr<std::vector<Tensor>>& values, size_t fetches) {
  if (!values.ok()) return Answer(fetches, values.status());
  return Answer(values->begin(), values->end());
}

namespace {

Answer AskApart(absl::Span<const std::string> fetches, RunFetches run, int& runs_left) {
  const absl::StatusOr<std::vector<Tensor>> together = run({fetches.begin(), fetches.end()});
  if (together.ok() || absl::IsResourceExhausted(together.status()) || fetches.size() <= 1 ||
      --runs_left < 0)
    return AnswerOf(together, fetches.size());
  const size_t middle = fetches.size() / 2;
  Answer answer = AskApart(fetches.subspan(0, middle), run, runs_left);
  Answer rest = AskApart(fetches.subspan(middle), run, runs_left);
  std::move(rest.begin(), rest.end(), std::back_inserter(answer));
  return answer;
}

}  // namespace

Answer AnswerApart(absl::Span<const std::string> fetches, RunFetches run) {
  int runs_left = 100;
  return AskApart(fetches, run, runs_left);
}

bool HasValue(const Answer& answer) {
  return std::any_of(answer.begin(), answer.end(), [](const auto& value) { return value.ok(); });
}

std::optional<AnswerDifference> CompareAnswers(
    const Answer& right, const Answer& is, absl::Span<const std::string> fetches,
    absl::FunctionRef<std::optional<std::string>(size_t i)> judge) {
  // An error is that of the run of all outputs: while that fails, one that answers hides nothing.
  const bool fails =
      std::any_of(is.begin(), is.end(), [](const auto& value) { return !value.ok(); });
  for (size_t i = 0; i < fetches.size(); ++i) {
    if (!right[i].ok() && (fails || absl::IsResourceExhausted(right[i].status()))) continue;
    if (!right[i].ok()) {
      return AnswerDifference{absl::StrCat(
          "output ", fetches[i], " has a value where it failed: ", right[i].status().message())};
    }
    if (!is[i].ok()) {
      return AnswerDifference{
          absl::StrCat("output ", fetches[i], " fails: ", is[i].status().message())};
    }
    if (const auto difference = judge(i))
      return AnswerDifference{absl::StrCat("of output ", fetches[i], " ", *difference), true};
  }
  return std::nullopt;
}

}  // namespace tenon
