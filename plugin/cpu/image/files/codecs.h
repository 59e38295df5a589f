// Decoders and encoders of image files. Decoders do not trust a file: they return INVALID_ARGUMENT
// for a malformed file. Most also check sizes, before they ask for memory. The PNG and BMP decoders
// compare the image's size with the file's length. The GIF decoder compares the size of each frame
// with the frame's bytes, and the size of one output image with the file's length. The JPEG decoder
// refuses 2^29 samples or more. The WebP decoder refuses no size: only the caller's AllocatePixels
// does. All functions are thread-safe.
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

// Returns memory for pixels of shape `shape`. The caller of the decoder owns the memory, and knows
// the type of the elements from the decoder. A decoder calls the function at most once per file,
// then fills the memory or returns an error. If the function fails, the decoder returns its error.
using AllocatePixels = absl::FunctionRef<absl::StatusOr<void*>(const Shape& shape)>;

// A part of an image, in pixels of the whole decoded image, after JpegDecoding::ratio. `y` and `x`
// are the first row and column. DecodeJpeg returns INVALID_ARGUMENT unless the image contains the
// part and the part has pixels.
struct CropWindow {
  int64_t y, x, height, width;
};

struct JpegDecoding {
  int channels = 0;  // 1 (not for CMYK) or 3; 0: those of the file, 3 for CMYK
  int ratio = 1;     // 1, 2, 4 or 8: divides height and width, rounded up
  bool fancy_upscaling = true;
  // libjpeg fills in the pixels that a truncated file lacks; else such a file is an error.
  bool try_recover_truncated = false;
  // The least fraction of the lines that libjpeg must give: fewer are INVALID_ARGUMENT. Lines that
  // libjpeg does not give are black. Lines that libjpeg has filled in count as given. A fraction
  // above 1 counts as 1.
  float acceptable_fraction = 1;
  bool accurate = false;           // the slower of libjpeg's two inverse transforms
  std::optional<CropWindow> crop;  // the output is this part of the image
};

// Decodes a JPEG file to uint8 [height, width, channels]. CMYK becomes RGB. INVALID_ARGUMENT also
// for options that do not fit the file. Damage of which libjpeg only warns is no error.
absl::Status DecodeJpeg(std::string_view contents, const JpegDecoding& options,
                        AllocatePixels allocate);

// Returns [height, width, channels] of the file, from its header. CMYK has 4 channels here, though
// DecodeJpeg gives 3.
absl::StatusOr<Dims> JpegDimensions(std::string_view contents);

struct JpegEncoding {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool per_centimetre = false;  // the densities; else per inch
  uint16_t x_density = 300, y_density = 300;
  std::string xmp_metadata;  // the XMP packet; empty: none
};

// Returns a JPEG file of pixels [height, width, channels], 1 or 3 channels. INTERNAL for sizes or
// options that libjpeg refuses; RESOURCE_EXHAUSTED if there is no memory for the file.
absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const Shape& shape,
                                       const JpegEncoding& options);

// Decodes a PNG file to uint8 or (`wide`) uint16 [height, width, channels]. `channels` is 1 (grey),
// 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha), to which the pixels are converted, or 0 for the
// file's number. Fewer bits are widened so that the greatest value stays the greatest; of 16 bits,
// uint8 gets the upper 8. Alpha that the file lacks is the greatest value. RESOURCE_EXHAUSTED if
// libpng gets no memory to begin; later that is INVALID_ARGUMENT.
absl::Status DecodePng(std::string_view contents, int channels, bool wide, AllocatePixels allocate);

// Returns a PNG file of pixels [height, width, channels], with zlib's default compression.
// INVALID_ARGUMENT unless there are 1 to 4 channels, as in DecodePng, and 1 to 10^6 rows and
// columns. RESOURCE_EXHAUSTED if libpng gets no memory to begin; later that is INVALID_ARGUMENT.
absl::StatusOr<std::string> EncodePng(const uint8_t* pixels, const Shape& shape);

// Decodes a GIF file to uint8 [frames, height, width, 3] or, unless `all_frames`, to [height,
// width, 3] of the first frame. Height and width are the largest of all frames. Each frame is drawn
// over the frame before, at its own place; its transparent pixels are left out, and the parts
// beyond the edges are cut off. Pixels that no frame covers are 0. As in TensorFlow, a frame that
// giflib cannot decode is left out with all behind it, without an error, unless it is the first,
// the file ends in it, or it has no pixels or too few bytes for them. INVALID_ARGUMENT also for an
// output image with more pixels than the bytes of the whole file could hold: a wide frame and a
// high one may make such an image. RESOURCE_EXHAUSTED if the frames have more pixels in all than
// CheckStringBytes permits bytes.
absl::Status DecodeGif(std::string_view contents, bool all_frames, AllocatePixels allocate);

// Decodes a bitmap of 8, 24 or 32 bits a pixel to uint8 [height, width, channels]. `channels` is 3,
// 4, or 0 for the file's number: 1, 3 or 4. Bytes of 8-bit pixels are taken as grey, without the
// file's palette. Missing alpha is 255. INVALID_ARGUMENT also for 2^28 pixels or more, and unless
// the file ends with its pixels.
absl::Status DecodeBmp(std::string_view contents, int channels, AllocatePixels allocate);

// Decodes a WebP file to uint8 [frames, height, width, channels] or, unless `all_frames`, to
// [height, width, channels] of the first frame. The file has 4 channels with alpha, else 3.
// `channels` is 0, or the file's number of channels; INVALID_ARGUMENT for another number. An
// animation is always decoded to 4 channels; for an animation without alpha, `channels` must be 0.
absl::Status DecodeWebP(std::string_view contents, int channels, bool all_frames,
                        AllocatePixels allocate);

}  // namespace tenon::cpu
