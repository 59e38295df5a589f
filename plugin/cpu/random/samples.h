// Shared code of the ops that draw many samples from each of many distributions: the layout of the
// samples, the first random word of each sample, and the order of the words.
#pragma once

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Output 0 is [samples, distributions], both of any rank.
struct SampleLayout {
  int64_t samples = 0, distributions = 0;
};

// Sets output 0's shape. Input `shape`, a value input, is the whole of it, which must end with
// `parameters`; or, if not `whole`, only the dimensions of the samples.
absl::StatusOr<SampleLayout> PrepareSamples(Prepare& p, const Shape& parameters, bool whole);

// Calls draw(distribution, first, last, at) for runs of samples of one distribution, on all
// threads: sample i is the generator's value number `at` + i - first.
void ForSamples(
    const SampleLayout& layout, Workers& workers,
    absl::FunctionRef<void(int64_t distribution, int64_t first, int64_t last, int64_t at)> draw);

// Doubles of one generator: two a block, the second one first. Uniform and normal ones do not share
// blocks.
class BackwardDraws {
 public:
  // Starts `blocks` blocks into `philox`.
  BackwardDraws(const Philox& philox, uint64_t blocks) : philox_(philox) { philox_.Skip(blocks); }

  double Uniform() {
    if (uniforms_left_ == 0) {
      const PhiloxWords w = philox_.Next();
      uniforms_ = {UniformDouble(w[0], w[1]), UniformDouble(w[2], w[3])};
      uniforms_left_ = 2;
    }
    return uniforms_[--uniforms_left_];
  }
  double Normal() {
    if (normals_left_ == 0) {
      const PhiloxWords w = philox_.Next();
      normals_ = BoxMuller(UniformDouble(w[0], w[1]), UniformDouble(w[2], w[3]));
      normals_left_ = 2;
    }
    return normals_[--normals_left_];
  }

 private:
  Philox philox_;
  std::array<double, 2> uniforms_ = {}, normals_ = {};
  int uniforms_left_ = 0, normals_left_ = 0;
};

// Writes x to element i of `out`. Integers saturate; NaN becomes the lowest integer.
void StoreSample(DataType type, void* out, int64_t i, double x);

// Returns element i of a tensor of type float, double, half, bfloat16, int32 or int64.
double LoadParameter(DataType type, const void* data, int64_t i);

}  // namespace tenon::cpu
