// Shape functions of random ops: the shape is mostly the value of an input.

#include "absl/strings/str_join.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

absl::Status FromShapeInput(InferenceContext& c, int i) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_shape(i));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Seeds of stateless ops: two numbers.
absl::Status CheckSeed(InferenceContext& c, int i) {
  TENON_ASSIGN_OR_RETURN(const PartialShape seed, c.WithRank(c.input(i), 1));
  return c.WithSize(seed.dim(0), 2).status();
}

// The least and the largest value, inputs i and i + 1.
absl::Status CheckLimits(InferenceContext& c, int i) {
  for (const std::string_view name : {"minval", "maxval"}) {
    const PartialShape& limit = c.input(i++);
    if (limit.known_rank() && limit.rank() != 0)
      return Invalid(name, " must be a scalar; got a tensor of shape ", limit.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

// Input 0 is the shape.
absl::Status ShapeInputShape(InferenceContext& c) { return FromShapeInput(c, 0); }

absl::Status TruncatedNormalShape(InferenceContext& c) {
  for (int i = 1; i < 5; ++i) TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(i), 1).status());
  return FromShapeInput(c, 0);
}

absl::Status RandomUniformIntShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckLimits(c, 1));
  return FromShapeInput(c, 0);
}

absl::Status StatelessRandomShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckSeed(c, 1));
  return FromShapeInput(c, 0);
}

absl::Status StatelessRandomIntShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckLimits(c, 2));
  return StatelessRandomShape(c);
}

// shape, key [1], counter, algorithm.
absl::Status StatelessRandomV2Shape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1, 0}));
  TENON_RETURN_IF_ERROR(c.WithSize(c.input(1).dim(0), 1).status());
  return FromShapeInput(c, 0);
}

absl::Status StatelessRandomIntV2Shape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckLimits(c, 4));
  return StatelessRandomV2Shape(c);
}

// The input, key [1], counter, algorithm.
absl::Status StochasticCastShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1, 1, 0}));
  TENON_RETURN_IF_ERROR(c.WithSize(c.input(1).dim(0), 1).status());
  return UnchangedShape(c);
}

// Resource, algorithm, shape, then parameters of the distribution.
absl::Status StatefulRandomShape(InferenceContext& c) {
  absl::Status algorithm = RequireRanks(c, {-1, 0});
  // TensorFlow's function of this op alone does not look at the algorithm.
  if (c.op().name == "StatefulRandomBinomial") algorithm = AtRunTime(std::move(algorithm));
  if (!algorithm.ok() && !IsAtRunTime(algorithm)) return algorithm;
  if (c.op().name == "StatefulUniformInt")
    TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, -1, 0, 0}));
  TENON_RETURN_IF_ERROR(FromShapeInput(c, 2));
  return algorithm;
}

// The algorithm stands in the resource.
absl::Status StatefulStandardNormalShape(InferenceContext& c) { return FromShapeInput(c, 1); }

absl::Status RngSkipShape(InferenceContext& c) { return RequireRanks(c, {-1, 0, 0}); }

// What the generator's state was.
absl::Status RngReadAndSkipShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 0, 0}));
  c.set_output(0, Vector(3));
  return absl::OkStatus();
}

// As many samples as the shape input says, of each of the distributions.
absl::Status SamplesOfEachShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape samples, c.input_as_shape(0));
  c.set_output(0, Concatenate(samples, c.input(1)));
  return absl::OkStatus();
}

absl::Status MultinomialShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape logits, c.WithRank(c.input(0), 2));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 0}));
  TENON_ASSIGN_OR_RETURN(const int64_t samples, DimFromScalar(c, 1));
  c.set_output(0, Matrix(logits.dim(0), samples));
  return absl::OkStatus();
}

absl::Status StatelessMultinomialShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckSeed(c, 2));
  return MultinomialShape(c);
}

// A key and a counter of the Philox generator from a seed.
absl::Status KeyCounterShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckSeed(c, 0));
  return SetOutputs(c, {Vector(1), Vector(2), Shape()});
}

absl::Status IndexShuffleShape(InferenceContext& c) {
  const PartialShape& seed = c.input(1);
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(seed, 1).status());
  TENON_RETURN_IF_ERROR(c.WithRankAtMost(seed, 2).status());
  if (const int64_t last = seed.dim(-1); seed.known_rank() && last >= 0 && last != 3) {
    return Invalid("Seed must have shape [3] or [n, 3] but got [", absl::StrJoin(seed.dims(), ", "),
                   "].");
  }
  // The others may be scalars or vectors; vectors have one length. One that is known to be a vector
  // makes the result one.
  PartialShape out = seed.known_rank() ? PartialShape(Shape()) : PartialShape();
  for (int i : {0, 2}) {
    TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(i), 1).status());
    if (!c.input(i).known_rank() && out.rank() == 0) out = PartialShape();
  }
  for (int i : {0, 2}) {
    if (c.input(i).rank() == 1) out = c.input(i);
  }
  if (seed.rank() == 2) out = Vector(seed.dim(0));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// true classes [batch, n] -> sampled [num_sampled], expected counts of both.
absl::Status CandidateSamplerShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t sampled, c.AttrInt("num_sampled"));
  TENON_ASSIGN_OR_RETURN(const int64_t classes, c.AttrInt("num_true"));
  TENON_ASSIGN_OR_RETURN(const PartialShape labels, c.WithRank(c.input(0), 2));
  return SetOutputs(c, {Vector(sampled), Matrix(labels.dim(0), classes), Vector(sampled)});
}

absl::Status SobolSampleShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0, 0, 0}));
  TENON_ASSIGN_OR_RETURN(const int64_t dim, AtRunTime(DimFromScalar(c, 0)));
  TENON_ASSIGN_OR_RETURN(const int64_t count, AtRunTime(DimFromScalar(c, 1)));
  c.set_output(0, Matrix(count, dim));
  return absl::OkStatus();
}

}  // namespace tenon::ops
