#include "executor/proof/difference.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

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

}  // namespace

cli::Tolerance ToleranceOf(Sameness sameness, DataType type) {
  cli::Tolerance tolerance{.rtol = 0,
                           .atol = 0,
                           .scale = cli::Scale::kLargest,
                           .equal_nan = true,
                           .zero_signs = sameness == Sameness::kBits,
                           .flush_denormals = true,
                           .floats_only = sameness == Sameness::kRounded};
  if (sameness == Sameness::kBits) return tolerance;
  double step = StepAtOne(type);
  if (sameness == Sameness::kRounded) step = std::max(step, StepAtOne(DataType::kBfloat16));
  const bool is_small = step >= StepAtOne(DataType::kHalf);
  tolerance.rtol = step * static_cast<double>(is_small ? kMaxStepsSmall : kMaxSteps);
  return tolerance;
}

std::optional<std::string> FindDifference(const Tensor& was, const Tensor& is, Sameness sameness) {
  const cli::Comparison comparison = cli::Compare(is, was, ToleranceOf(sameness, was.dtype()));
  if (comparison.ok) return std::nullopt;
  return absl::StrCat(comparison.comparable ? "" : "it ", comparison.problem);
}

Answer AnswerOf(const absl::StatusOr<std::vector<Tensor>>& values, size_t fetches) {
  if (!values.ok()) return Answer(fetches, values.status());
  return Answer(values->begin(), values->end());
}

namespace {

// Failing fetches are few and neighbours often fail together, so halves find them in a few runs.
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
  int runs_left = 100;  // enough for some ten fetches that fail among a thousand
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
