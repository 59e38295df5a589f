// Decoders and encoders of image files. Decoders do not trust a file: they return INVALID_ARGUMENT
// for a malformed file, and compare sizes with the file's length before they allocate memory. All
// functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon::cpu {

// Returns memory for pixels of shape `shape`, which the caller of the decoder owns. A decoder calls
// it at most once per file, and then fills the memory or returns an error. A decoder returns an
// error of this function.
using AllocatePixels = absl::FunctionRef<absl::StatusOr<void*>(const Shape& shape)>;

// A part of an image, in pixels of the decoded image. INVALID_ARGUMENT unless the image contains
// it.
struct CropWindow {
  int64_t y, x, height, width;
};

struct JpegDecoding {
  int channels = 0;  // 1 or 3; 0: those of the file, 3 for CMYK
  int ratio = 1;     // 1, 2, 4 or 8: height and width are so many times smaller
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  float acceptable_fraction = 1;  // of the lines: fewer are an error; missing lines are black
  bool accurate = false;          // the slower of libjpeg's two inverse transforms
  std::optional<CropWindow> crop;
};

// Decodes a JPEG file to uint8 [height, width, channels]. CMYK becomes RGB.
absl::Status DecodeJpeg(std::string_view contents, const JpegDecoding& options,
                        AllocatePixels allocate);

// Returns [height, width, channels] from the file's header.
absl::StatusOr<Dims> JpegDimensions(std::string_view contents);

struct JpegEncoding {
  int quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool per_centimetre = false;  // the densities; else per inch
  uint16_t x_density = 300, y_density = 300;
  std::string xmp_metadata;
};

// Returns a JPEG file of pixels [height, width, channels], 1 or 3 channels. INTERNAL if libjpeg
// refuses.
absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const Shape& shape,
                                       const JpegEncoding& options);

// Decodes a PNG file to uint8 or (`wide`) uint16 [height, width, channels]. `channels` is 1 to 4,
// or 0 for the file's number. Bits are widened so that the greatest value stays the greatest.
// RESOURCE_EXHAUSTED if libpng gets no memory.
absl::Status DecodePng(std::string_view contents, int channels, bool wide, AllocatePixels allocate);

// Returns a PNG file of pixels [height, width, channels], 1 to 4 channels, with zlib's default
// compression. INVALID_ARGUMENT for sizes that PNG does not hold.
absl::StatusOr<std::string> EncodePng(const uint8_t* pixels, const Shape& shape);

// Decodes a GIF file to uint8 [frames, height, width, 3], or [height, width, 3] of the first frame.
// Each frame is drawn over the frames before.
absl::Status DecodeGif(std::string_view contents, bool all_frames, AllocatePixels allocate);

// Decodes a bitmap of 8, 24 or 32 bits a pixel to uint8 [height, width, channels]. `channels` is 3,
// 4, or 0 for the file's number. Missing alpha is 255.
absl::Status DecodeBmp(std::string_view contents, int channels, AllocatePixels allocate);

// Decodes a WebP file to uint8 [frames, height, width, channels], or [height, width, channels] of
// the first frame. `channels` is 3, 4, or 0 for the file's number; INVALID_ARGUMENT for another
// number than the file's. Animations have 4.
absl::Status DecodeWebP(std::string_view contents, int channels, bool all_frames,
                        AllocatePixels allocate);

}  // namespace tenon::cpu
