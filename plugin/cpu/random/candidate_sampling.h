// Shared code of the candidate samplers. A sampler draws classes by their probabilities, for
// comparison with the true classes, and computes the expected count of each class.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The facts of one node. Classes are numbers in [0, range). A run draws `sampled` classes.
// `true_classes` is the number of elements of input 0.
struct Sampler {
  std::shared_ptr<GeneratorState> generator;
  int64_t range, sampled, true_classes;
  bool unique;  // the drawn classes differ from each other
};

// Fills every member of `s` from the node's attributes and from the shape of input 0. Without
// attribute range_max, `range` is `sampled`. Leaves the run function to the caller. Sets the shapes
// of the outputs:
//   0: the drawn classes, [sampled];
//   1: the expected counts of input 0's classes, in its shape;
//   2: the expected counts of the drawn classes, [sampled].
// INVALID_ARGUMENT if an attribute is missing, if input 0 is no matrix of num_true columns, if
// `range` is below 1, if `sampled` is negative or above 2^31 - 1, or if `unique` and `sampled` is
// above `range`.
absl::Status PrepareCandidates(Prepare& p, Sampler& s);

// Returns INVALID_ARGUMENT unless each of the s.true_classes numbers at `classes` lies in
// [0, s.range).
absl::Status CheckTrueClasses(const Sampler& s, const int64_t* classes);

// Returns the expected count of a class, after `tries` draws gave `sampled` classes. `probability`,
// p below, is that of the class in one draw. If tries == sampled, the result is p * sampled, as in
// TensorFlow: either the classes may repeat, or the draws happened to differ. Else draws were
// repeated until `sampled` different classes were found, and the result is the probability that the
// class is one of these classes: 1 - (1 - p)^tries.
inline float ExpectedCount(float probability, int64_t sampled, int64_t tries) {
  if (tries == sampled) return probability * static_cast<float>(sampled);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-probability));
}

// Fills `out` with s.sampled classes, all different if s.unique. Returns the number of draws.
// RESOURCE_EXHAUSTED if s.unique and s.sampled different classes would take 2^31 - 1 draws or more;
// `out` is then filled in part. SampleCandidates says what Classes is.
template <typename Classes>
absl::StatusOr<int64_t> DrawClasses(const Sampler& s, const Classes& classes, PhiloxStream& words,
                                    int64_t* out) {
  if (!s.unique) {
    for (int64_t i = 0; i < s.sampled; ++i) out[i] = classes.Draw(words);
    return s.sampled;
  }
  absl::flat_hash_set<int64_t> seen;
  seen.reserve(s.sampled);
  int64_t tries = 0;
  for (int64_t i = 0; i < s.sampled;) {
    if (++tries == INT32_MAX) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "only ", i, " of ", s.sampled, " different classes were found in ", tries, " draws"));
    }
    const int64_t drawn = classes.Draw(words);
    if (seen.insert(drawn).second) out[i++] = drawn;
  }
  return tries;
}

// Runs a sampler that draws from `classes`. Classes has two members. Draw(words) returns a class.
// Probability(class) returns the probability that one draw gives that class. Input 0 and output 0
// are int64, outputs 1 and 2 float. INVALID_ARGUMENT for a true class outside of the range; nothing
// is then drawn, and the generator stays where it was. Other errors are those of DrawClasses; the
// generator has then moved on, and output 0 is filled in part.
template <typename Classes>
absl::Status SampleCandidates(const Sampler& s, const Classes& classes, const StepArgs& args) {
  const auto* const true_classes = static_cast<const int64_t*>(args.in[0]);
  TENON_RETURN_IF_ERROR(CheckTrueClasses(s, true_classes));
  // As many blocks as TensorFlow reserves. The next run's words begin behind the reserved blocks,
  // however many draws this run takes.
  constexpr uint64_t kBlocksPerClass = 512;
  PhiloxStream words(s.generator->Reserve(kBlocksPerClass * static_cast<uint64_t>(s.sampled)));
  auto* const sampled = static_cast<int64_t*>(args.out[0]);
  TENON_ASSIGN_OR_RETURN(const int64_t tries, DrawClasses(s, classes, words, sampled));
  const auto expect = [&](const int64_t* of, int64_t n, void* out) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<float*>(out)[i] = ExpectedCount(classes.Probability(of[i]), s.sampled, tries);
    }
  };
  expect(true_classes, s.true_classes, args.out[1]);
  expect(sampled, s.sampled, args.out[2]);
  return absl::OkStatus();
}

}  // namespace tenon::cpu
