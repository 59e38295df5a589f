// Shared code of the ops that draw many samples from each of many distributions: the layout of the
// samples, the first random word of each sample, and the order of the words.
#pragma once

#include <array>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/random/philox.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Output 0 is [samples, distributions], both of any rank.
struct SampleLayout {
  int64_t samples = 0, distributions = 0;
};

// Sets output 0's shape from the value of the op's input named `shape`, a vector. The op must have
// that input. If `whole`, the value gives all dimensions of the output, and must end with
// `parameters`, the shape of the distributions. Otherwise the value gives the dimensions of the
// samples, and `parameters` is put behind them. INVALID_ARGUMENT for any other value, or for an
// output that CheckedShape refuses. INTERNAL if the value of `shape` is not known.
absl::StatusOr<SampleLayout> PrepareSamples(Prepare& p, const Shape& parameters, bool whole);

// Calls draw(distribution, first, last, at) for samples [first, last) of one distribution, split
// over `workers`, at the same time. Sample i of the distribution is element [i, distribution] of
// output 0. Samples are numbered distribution by distribution, so not in the order of the output:
// sample i has number at + i - first. `draw` takes the random words of a sample by its number
// alone, so that the result does not depend on the number of threads.
void ForSamples(
    const SampleLayout& layout, Workers& workers,
    absl::FunctionRef<void(int64_t distribution, int64_t first, int64_t last, int64_t at)> draw);

// Doubles of one generator. A block of four words gives two doubles, and the second comes out
// first, as in TensorFlow. Uniform() and Normal() take blocks in turn, and never share one.
class BackwardDraws {
 public:
  // Begins `blocks` blocks behind the current block of `philox`.
  BackwardDraws(const Philox& philox, uint64_t blocks) : philox_(philox) { philox_.Skip(blocks); }

  // In [0, 1).
  double Uniform() {
    if (uniforms_left_ == 0) {
      const PhiloxWords w = philox_.Next();
      uniforms_ = {UniformDouble(w[0], w[1]), UniformDouble(w[2], w[3])};
      uniforms_left_ = 2;
    }
    return uniforms_[--uniforms_left_];
  }
  // Of mean 0 and standard deviation 1.
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

// Stores x as element i of `out`: int32, int64, half, bfloat16, float or double; nothing for any
// other type. Integers lose the fraction and saturate; NaN becomes the lowest integer.
void StoreSample(DataType type, void* out, int64_t i, double x);

// Returns element i of a tensor of type float, double, half, bfloat16, int32 or int64. 0 for any
// other type.
double LoadParameter(DataType type, const void* data, int64_t i);

}  // namespace tenon::cpu
