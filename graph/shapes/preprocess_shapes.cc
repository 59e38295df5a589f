// Shape functions of ops that decode and encode images, audio and CSV. What a file holds is unknown
// until the run, so attributes alone tell sizes.

#include "graph/shapes/shapes.h"

namespace tenon::ops {

namespace {

// The last dimension of a decoded image; the contents must be a scalar.
absl::StatusOr<int64_t> DecodedChannels(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), 0).status());
  TENON_ASSIGN_OR_RETURN(const int64_t channels, c.AttrInt("channels"));
  if (channels < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("channels must be non-negative, got ", channels));
  return channels == 0 ? kUnknownDim : channels;
}

}  // namespace

absl::Status DecodeImageShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t channels, DecodedChannels(c));
  c.set_output(0, PartialShape({kUnknownDim, kUnknownDim, channels}));
  return absl::OkStatus();
}

// crop_window holds y, x, height, width.
absl::Status DecodeCroppedImageShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t channels, DecodedChannels(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape window, c.WithRank(c.input(1), 1));
  TENON_RETURN_IF_ERROR(c.WithSize(window.dim(0), 4).status());
  PartialShape out({kUnknownDim, kUnknownDim, channels});
  if (const std::optional<Dims> values = c.input_as_ints(1);
      values.has_value() && values->size() == 4) {
    out.set_dim(0, std::max(kUnknownDim, (*values)[2]));
    out.set_dim(1, std::max(kUnknownDim, (*values)[3]));
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Of unknown rank where frames of an animation are expanded: only then have they a dimension.
absl::Status DecodeAnyImageShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(DecodeImageShape(c));
  TENON_ASSIGN_OR_RETURN(const bool expand, c.AttrBool("expand_animations"));
  if (expand) c.set_output(0, PartialShape());
  return absl::OkStatus();
}

absl::Status DecodeGifShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0}));
  c.set_output(0, PartialShape({kUnknownDim, kUnknownDim, kUnknownDim, 3}));
  return absl::OkStatus();
}

absl::Status DecodeFramesShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t channels, DecodedChannels(c));
  c.set_output(0, PartialShape({kUnknownDim, kUnknownDim, kUnknownDim, channels}));
  return absl::OkStatus();
}

absl::Status ImageDimensionsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0}));
  c.set_output(0, Vector(3));
  return absl::OkStatus();
}

absl::Status EncodeJpegShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {3}));
  return ScalarShape(c);
}

absl::Status DecodeWavShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0}));
  TENON_ASSIGN_OR_RETURN(const int64_t samples, c.AttrInt("desired_samples"));
  TENON_ASSIGN_OR_RETURN(const int64_t channels, c.AttrInt("desired_channels"));
  if (samples < -1 || channels < -1)
    return absl::InvalidArgumentError("desired samples and channels must be -1 or more");
  return SetOutputs(c, {Matrix(samples, channels), Shape()});
}

absl::Status EncodePngShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(0), 3).status());
  c.set_output(0, Subshape(c.input(0), 0, -3));
  return absl::OkStatus();
}

absl::Status EncodeWavShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {2, 0}));
  return ScalarShape(c);
}

// One column per default.
absl::Status DecodeCSVShape(InferenceContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(i), 1).status());
    if (c.input(i).rank() == 1 && c.input(i).dim(0) > 1) {
      return Invalid("Shape of a default must be a length-0 or length-1 vector, or a scalar.");
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
  return absl::OkStatus();
}

// audio [samples, channels] -> [channels, windows, frequencies].
absl::Status AudioSpectrogramShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 2));
  TENON_ASSIGN_OR_RETURN(const int64_t window, c.AttrInt("window_size"));
  TENON_ASSIGN_OR_RETURN(const int64_t stride, c.AttrInt("stride"));
  // The bound keeps the doubling below from overflowing.
  if (window <= 1 || window > (int64_t{1} << 40))
    return Invalid("window size must be > 1, got ", window);
  if (stride <= 0) return Invalid("stride must be strictly positive, got ", stride);
  int64_t windows = kUnknownDim;
  if (in.dim(0) >= 0) windows = in.dim(0) < window ? 0 : (in.dim(0) - window) / stride + 1;
  // The Fourier transform has the next power of two as its length.
  int64_t transform = 1;
  while (transform < window) transform *= 2;
  c.set_output(0, PartialShape({in.dim(1), windows, transform / 2 + 1}));
  return absl::OkStatus();
}

absl::Status MfccShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 3));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {3, 0}));
  TENON_ASSIGN_OR_RETURN(const int64_t coefficients, c.AttrInt("dct_coefficient_count"));
  if (coefficients < kUnknownDim) {
    return AtRunTime(
        absl::InvalidArgumentError(absl::StrCat("dct_coefficient_count is ", coefficients)));
  }
  c.set_output(0, PartialShape({in.dim(0), in.dim(1), coefficients}));
  return absl::OkStatus();
}

absl::Status FingerprintShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape data, c.WithRankAtLeast(c.input(0), 1));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 0}));
  c.set_output(0, Matrix(data.dim(0), kUnknownDim));
  return absl::OkStatus();
}

}  // namespace tenon::ops
