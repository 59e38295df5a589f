// Shape functions of ops on images: [batch, height, width, channels], or without the batch. Where
// TensorFlow's function overlooks an error that its kernel finds, the error is AtRunTime.

#include "graph/shapes/shapes.h"
#include "graph/shapes/window_shapes.h"

namespace tenon::ops {
namespace {

// [height, width] in a constant vector of two.
absl::StatusOr<PartialShape> SizeOf(InferenceContext& c, int input) {
  TENON_ASSIGN_OR_RETURN(const PartialShape vector, c.WithRank(c.input(input), 1));
  TENON_RETURN_IF_ERROR(c.WithSize(vector.dim(0), 2).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape size, AtRunTime(c.input_as_shape(input)));
  return c.WithRank(size, 2);
}

absl::Status CheckBoxes(InferenceContext& c, const PartialShape& boxes) {
  return c.WithSize(boxes.dim(-1), 4).status();
}

// boxes [n, 4] and scores [n].
absl::Status CheckScoredBoxes(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape boxes, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape scores, c.WithRank(c.input(1), 1));
  for (int i = 2; i < c.num_inputs(); ++i)
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 0).status());
  TENON_RETURN_IF_ERROR(c.MergeDim(boxes.dim(0), scores.dim(0)).status());
  return CheckBoxes(c, boxes);
}

}  // namespace

absl::Status ResizeShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const PartialShape size, SizeOf(c, 1));
  c.set_output(0, PartialShape({in.dim(0), size.dim(0), size.dim(1), in.dim(3)}));
  return absl::OkStatus();
}

// The gradient has the shape of the original image.
absl::Status LikeInput1Shape(InferenceContext& c) {
  c.set_output(0, c.input(1));
  return absl::OkStatus();
}

absl::Status AtLeastImageShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(c.input(0), 3));
  const absl::Status scalar = RequireRanks(c, {-1, 0});
  // TensorFlow's functions of AdjustHue and AdjustSaturation do not look at the factor.
  if (!scalar.ok()) return c.op().name.starts_with("AdjustContrast") ? scalar : AtRunTime(scalar);
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

absl::Status AdjustContrastShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 0, 0, 0}));
  return AtLeastImageShape(c);
}

absl::Status ColorSpaceShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(c.input(0), 1));
  if (s.known_rank()) {
    TENON_ASSIGN_OR_RETURN(const int64_t channels, c.WithSize(s.dim(-1), 3));
    s = ReplaceDim(std::move(s), -1, channels);
  }
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

absl::Status DrawBoundingBoxesShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRankAtLeast(c.input(0), 3));
  const absl::Status fits = [&]() -> absl::Status {
    TENON_ASSIGN_OR_RETURN(s, c.WithRank(s, 4));
    if (const int64_t depth = s.dim(3);
        c.op().name == "DrawBoundingBoxes" && depth >= 0 && depth != 1 && depth != 3 && depth != 4)
      return Invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
    TENON_ASSIGN_OR_RETURN(const PartialShape boxes, c.WithRank(c.input(1), 3));
    return CheckBoxes(c, boxes);
  }();
  // TensorFlow's function of the second version looks at no more than the image's rank.
  if (!fits.ok()) return c.op().name == "DrawBoundingBoxes" ? fits : AtRunTime(fits);
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// image, boxes [n, 4], box index [n], crop size -> [n, height, width, channels].
absl::Status CropAndResizeShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape image, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const PartialShape boxes, c.WithRank(c.input(1), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape index, c.WithRank(c.input(2), 1));
  TENON_ASSIGN_OR_RETURN(const int64_t count, c.MergeDim(boxes.dim(0), index.dim(0)));
  TENON_RETURN_IF_ERROR(CheckBoxes(c, boxes));
  TENON_ASSIGN_OR_RETURN(const PartialShape size, SizeOf(c, 3));
  c.set_output(0, PartialShape({count, size.dim(0), size.dim(1), image.dim(3)}));
  return absl::OkStatus();
}

absl::Status CropAndResizeGradImageShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, c.input_as_shape(3));
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.WithRank(asked, 4));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status CropAndResizeGradBoxesShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape boxes, AtRunTime(c.WithRank(c.input(2), 2)));
  TENON_RETURN_IF_ERROR(AtRunTime(CheckBoxes(c, boxes)));
  c.set_output(0, std::move(boxes));
  return absl::OkStatus();
}

absl::Status NonMaxSuppressionShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckScoredBoxes(c));
  c.set_output(0, Vector(kUnknownDim));
  return absl::OkStatus();
}

// Padded to max_output_size if asked for: indices, (scores,) number of valid ones.
absl::Status NonMaxSuppressionPaddedShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckScoredBoxes(c));
  TENON_ASSIGN_OR_RETURN(const bool pad, c.AttrBool("pad_to_max_output_size"));
  int64_t count = kUnknownDim;
  if (pad) {
    TENON_ASSIGN_OR_RETURN(count, DimFromScalar(c, 2));
  }
  for (int i = 0; i + 1 < c.num_outputs(); ++i) c.set_output(i, Vector(count));
  c.set_output(c.num_outputs() - 1, Shape());
  return absl::OkStatus();
}

absl::Status NonMaxSuppressionOverlapsShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape overlaps, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const PartialShape scores, c.WithRank(c.input(1), 1));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 0, 0, 0}));
  TENON_RETURN_IF_ERROR(c.MergeDim(overlaps.dim(0), scores.dim(0)).status());
  TENON_RETURN_IF_ERROR(c.MergeDim(overlaps.dim(0), overlaps.dim(1)).status());
  c.set_output(0, Vector(kUnknownDim));
  return absl::OkStatus();
}

// boxes [batch, n, classes or 1, 4], scores [batch, n, classes].
absl::Status CombinedNonMaxSuppressionShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {4, 3, 0, 0, 0, 0}));
  const PartialShape& boxes = c.input(0);
  const PartialShape& scores = c.input(1);
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(boxes.dim(0), scores.dim(0)));
  TENON_RETURN_IF_ERROR(c.MergeDim(boxes.dim(1), scores.dim(1)).status());
  if (boxes.dim(2) >= 0 && boxes.dim(2) != 1 && !c.MergeDim(boxes.dim(2), scores.dim(2)).ok()) {
    return Invalid(
        "third dimension of boxes must be either 1 or equal to the third dimension of scores");
  }
  TENON_RETURN_IF_ERROR(CheckBoxes(c, boxes));
  TENON_ASSIGN_OR_RETURN(const bool pad_per_class, c.AttrBool("pad_per_class"));
  TENON_ASSIGN_OR_RETURN(const int64_t per_class, DimFromScalar(c, 2));
  TENON_ASSIGN_OR_RETURN(int64_t total, DimFromScalar(c, 3));
  if (c.input_value(3) != nullptr && total <= 0) {
    return Invalid("max_total_size should be > 0 ");
  }
  if (pad_per_class) {
    if (per_class == 0)
      return Invalid("max_output_size_per_class must be > 0 if pad_per_class is set to true ");
    TENON_ASSIGN_OR_RETURN(const int64_t all, MultiplyDims(per_class, scores.dim(2)));
    total = total < 0 || all < 0 ? kUnknownDim : std::min(total, all);
  }
  return SetOutputs(c, {PartialShape({batch, total, 4}), Matrix(batch, total), Matrix(batch, total),
                        Vector(batch)});
}

// Patches laid out along the last dimension.
absl::Status ExtractPatchesShape(InferenceContext& c) {
  const bool volumes = c.op().name == "ExtractVolumePatches";
  const int rank = volumes ? 5 : 4;
  TENON_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(c.input(0), rank));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> ksizes, c.AttrIntList("ksizes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.AttrIntList("strides"));
  std::vector<int64_t> rates(rank, 1);
  if (!volumes) {
    TENON_ASSIGN_OR_RETURN(rates, c.AttrIntList("rates"));
  }
  for (const auto& [name, values] :
       {std::pair("ksizes", &ksizes), {"stride", &strides}, {"rates", &rates}}) {
    if (static_cast<int>(values->size()) == rank) continue;
    return Invalid(c.op().name, " requires the ", name, " attribute to contain ", rank,
                   " values, but got: ", values->size());
  }
  TENON_ASSIGN_OR_RETURN(const WindowPadding padding, WindowPaddingOf(c, rank));
  int64_t depth = s.dim(rank - 1);
  bool known = true;
  for (int i = 1; i < rank - 1; ++i) known &= s.dim(i) >= 0;
  for (int i = 1; i < rank - 1; ++i) {
    TENON_ASSIGN_OR_RETURN(depth, MultiplyDims(depth, ksizes[i]));
    const absl::StatusOr<int64_t> d =
        DilatedDim(s.dim(i), ksizes[i], rates[i], strides[i], padding, i);
    if (!d.ok()) return known ? d.status() : AtRunTime(d.status());
    s.set_dim(i, *d);
  }
  s.set_dim(rank - 1, depth);
  c.set_output(0, std::move(s));
  return absl::OkStatus();
}

// Input 2 is the new height and width.
absl::Status ResizeLikeShape(InferenceContext& c) {
  const int size_input = c.op().name == "ScaleAndTranslate" ? 1 : 2;
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const PartialShape size, SizeOf(c, size_input));
  c.set_output(0, PartialShape({in.dim(0), size.dim(0), size.dim(1), in.dim(3)}));
  return absl::OkStatus();
}

absl::Status ProjectiveTransformShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(ResizeLikeShape(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape transforms, AtRunTime(c.WithRank(c.input(1), 2)));
  return AtRunTime(c.WithSize(transforms.dim(1), 8).status());
}

// image, glimpse size, offsets [batch, 2].
absl::Status ExtractGlimpseShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const PartialShape offsets, c.WithRank(c.input(2), 2));
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(in.dim(0), offsets.dim(0)));
  TENON_RETURN_IF_ERROR(c.WithSize(offsets.dim(1), 2).status());
  TENON_ASSIGN_OR_RETURN(const bool uniform, c.AttrBool("uniform_noise"));
  TENON_ASSIGN_OR_RETURN(const std::string_view noise, c.AttrString("noise"));
  if (uniform && !noise.empty() && noise != "uniform")
    return Invalid("The uniform_noise should not be True when noise is not uniform");
  TENON_ASSIGN_OR_RETURN(const PartialShape size, SizeOf(c, 1));
  c.set_output(0, PartialShape({batch, size.dim(0), size.dim(1), in.dim(3)}));
  return absl::OkStatus();
}

absl::Status SampleDistortedBoundingBoxShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 3, 0}));
  TENON_RETURN_IF_ERROR(c.WithSize(c.input(0).dim(0), 3).status());
  TENON_RETURN_IF_ERROR(CheckBoxes(c, c.input(1)));
  if (c.num_inputs() > 3) {  // a seed
    TENON_ASSIGN_OR_RETURN(const PartialShape seed, c.WithRank(c.input(3), 1));
    TENON_RETURN_IF_ERROR(c.WithSize(seed.dim(0), 2).status());
  }
  return SetOutputs(c, {Vector(3), Vector(3), PartialShape({1, 1, 4})});
}

absl::Status RandomCropShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape image, c.WithRank(c.input(0), 3));
  TENON_ASSIGN_OR_RETURN(const PartialShape size, SizeOf(c, 1));
  c.set_output(0, PartialShape({size.dim(0), size.dim(1), image.dim(2)}));
  return absl::OkStatus();
}

}  // namespace tenon::ops
