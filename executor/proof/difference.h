// How two answers that should be the same differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/values/compare.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// What must be the same in two answers.
enum class Sameness : uint8_t {
  // Every bit, except that any NaN equals any other (an addition of two NaNs gives one of them, and
  // the processor chooses which), and that zeros and denormals of one sign are equal (arithmetic
  // flushes denormals, moving data does not). Of half and smaller types nothing is flushed.
  kBits,
  // Finite floats up to kMaxSteps or kMaxStepsSmall steps of their type at the largest magnitude of
  // the right tensor; which elements are NaN, and which infinity; all other types exactly.
  kBound,
  // Types and ranks; of tensors of one shape also floats as kBound has them, but up to
  // kMaxStepsSmall steps of bfloat16 (of the type, if it is coarser). Sizes of dimensions and
  // elements of other types are not compared: a rounded value may decide them.
  kRounded,
};
inline constexpr int64_t kMaxSteps = 1024;     // float, double, complex numbers
inline constexpr int64_t kMaxStepsSmall = 16;  // half, bfloat16 and smaller

// The tolerance for tensors of a type.
cli::Tolerance ToleranceOf(Sameness sameness, DataType type);

// How `is` differs from `was` by more than ToleranceOf: "element [0] is 1 where 2 is right, 8388608
// ulps away", "it is f32[2] where f32[3] is right". Nothing if it does not.
std::optional<std::string> FindDifference(const Tensor& was, const Tensor& is, Sameness sameness);

// What a graph answers to some inputs: for each fetch its value, or the error of the run.
using Answer = std::vector<absl::StatusOr<Tensor>>;
// The answer of one run of `fetches` fetches. If the run failed, each fetch has its error.
Answer AnswerOf(const absl::StatusOr<std::vector<Tensor>>& values, size_t fetches);
using RunFetches =
    absl::FunctionRef<absl::StatusOr<std::vector<Tensor>>(const std::vector<std::string>& fetches)>;
// Runs all fetches at once. If the run fails, runs each half by itself, and so on, so that every
// fetch that can have a value gets it. The fetches of a run that fails with RESOURCE_EXHAUSTED (out
// of memory or of passes of loops) are not run apart: they all have its error. So do those of each
// run that fails after 100 runs of several fetches have failed.
Answer AnswerApart(absl::Span<const std::string> fetches, RunFetches run);
// Whether one fetch at least has a value.
bool HasValue(const Answer& answer);

// How an answer differs from the right one.
struct AnswerDifference {
  std::string what;        // "of output y element [0] is 1 where 2 is right", "output y fails: …"
  bool of_values = false;  // two values differ; false: one side has an error
};
// The first fetch that differs; nothing if none does. Both answers are those of `fetches`. `judge`
// says how the values of fetch i differ; it is called only if both sides have a value. A fetch
// whose right answer is an error may fail. It may also have a value, as long as another fetch
// fails: then the run of all fetches fails as it should. A right answer that is RESOURCE_EXHAUSTED
// is compared with nothing.
std::optional<AnswerDifference> CompareAnswers(
    const Answer& right, const Answer& is, absl::Span<const std::string> fetches,
    absl::FunctionRef<std::optional<std::string>(size_t i)> judge);

}  // namespace tenon
