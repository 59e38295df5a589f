// How two answers that should be the same differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// What must be the same: kBits every bit, except that any NaN is like another (which one an
// addition of two gives is the processor's business) and a denormal like the zero of its sign (to
// which arithmetic flushes it and moving data does not); kBound finite values up to so many float
// steps at the largest magnitude of the tensor, and which elements are NaN or infinite; kRounded
// the same of floats as if they were bfloat16, and of nothing else: what is decided by values, be
// it how many there are, may fall the other way.
enum class Sameness : uint8_t { kBits, kBound, kRounded };
inline constexpr int64_t kMaxSteps = 1024;     // float, double
inline constexpr int64_t kMaxStepsSmall = 16;  // half, bfloat16 and smaller

struct Difference {
  int64_t ulps = 0;  // the most, of float types; 0 where only the sign of a zero differs
  std::string what;  // "element [1,2] is 3.5 where 3.25 was, 4194304 ulps away"
};

// The first element that differs too much, and how far the worst one is; nothing if none does.
// Values of nodes without outputs are all the same.
std::optional<Difference> FindDifference(const Tensor& was, const Tensor& is, Sameness sameness);

// What a graph answers to some inputs: of each fetch a value, or why there is none.
using Answer = std::vector<absl::StatusOr<Tensor>>;
// Where one run was for all of them.
Answer AnswerOf(const absl::StatusOr<std::vector<Tensor>>& values, size_t fetches);
// One run for all of them; if it fails, one for each half, so that those that have a value get it.
// After many runs, or one that runs out of memory or passes, those that are left fail together.
using RunFetches =
    absl::FunctionRef<absl::StatusOr<std::vector<Tensor>>(const std::vector<std::string>& fetches)>;
Answer AnswerApart(absl::Span<const std::string> fetches, RunFetches run);
bool HasValue(const Answer& answer);  // of one fetch at least

// How an answer differs from the right one.
struct AnswerDifference {
  std::string what;        // "of output y element [0] is 1 where 2 was", "output y fails: …"
  bool of_values = false;  // not of one that fails
};
// The first fetch that differs, where `judge` says how value i does. What failed may fail, and may
// have a value as long as another fails: the run of all of them does then. What ran out of memory
// or of passes of loops tells nothing.
std::optional<AnswerDifference> CompareAnswers(
    const Answer& right, const Answer& is, absl::Span<const std::string> fetches,
    absl::FunctionRef<std::optional<std::string>(size_t i)> judge);

}  // namespace tenon
