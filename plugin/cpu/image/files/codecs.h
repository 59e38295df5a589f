// Decoders and encoders of image files. Decoders do not trust a file: they return INVALID_ARGUMENT
// for a malformed file and check sizes before they allocate memory.
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

// Returns memory for pixels of shape `shape`. A decoder calls it at most once per file, and then
// fills the memory or returns an error.
using AllocatePixels = absl::FunctionRef<absl::StatusOr<void*>(const Shape& shape)>;

struct CropWindow {
  int64_t y, x, height, width;
};

struct JpegDecoding {
  int channels = 0;  // 1 or 3; 0: those of the file, 3 for CMYK
  int ratio = 1;     // 1, 2, 4 or 8: the image is so many times smaller
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  float acceptable_fraction = 1;  // of the lines, the rest is black
  bool accurate = false;          // the slower of the two inverse transforms
  std::optional<CropWindow> crop;
};

// uint8 [height, width, channels].
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

// A JPEG file of pixels [height, width, channels], 1 or 3 channels. INTERNAL if libjpeg refuses.
absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const Shape& shape,
                                       const JpegEncoding& options);

// uint8 or (`wide`) uint16 [height, width, channels]; channels 0: those of the file.
absl::Status DecodePng(std::string_view contents, int channels, bool wide, AllocatePixels allocate);

// A PNG file of pixels [height, width, channels], 1 to 4 channels, compressed as zlib does by
// itself.
absl::StatusOr<std::string> EncodePng(const uint8_t* pixels, const Shape& shape);

// uint8 [frames, height, width, 3], or [height, width, 3] of the first frame.
absl::Status DecodeGif(std::string_view contents, bool all_frames, AllocatePixels allocate);

// uint8 [height, width, channels]; channels 3, 4 or 0: those of the file.
absl::Status DecodeBmp(std::string_view contents, int channels, AllocatePixels allocate);

// uint8 [frames, height, width, channels], or [height, width, channels] of the first frame.
// channels 3, 4 or 0: as the file has them; others than the file's are refused.
absl::Status DecodeWebP(std::string_view contents, int channels, bool all_frames,
                        AllocatePixels allocate);

}  // namespace tenon::cpu
