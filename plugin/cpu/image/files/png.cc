// DecodePng, EncodePng, on libpng.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/image/files/codecs.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// What libpng's callbacks see. It leaves its functions by longjmp, so every function below that
// calls setjmp has no local with a destructor, and what libpng needs lives in its caller.
struct PngStream {
  std::string_view rest;  // to read
  std::string* out = nullptr;
  char message[160] = {};
};

[[noreturn]] void OnPngError(png_structp png, png_const_charp message) {
  auto* const stream = static_cast<PngStream*>(png_get_error_ptr(png));
  strncpy(stream->message, message, sizeof(stream->message) - 1);
  png_longjmp(png, 1);
}
void OnWarning(png_structp, png_const_charp) {}

void ReadPngBytes(png_structp png, png_bytep to, size_t n) {
  auto* const stream = static_cast<PngStream*>(png_get_io_ptr(png));
  if (n > stream->rest.size()) png_error(png, "the data end too early");
  memcpy(to, stream->rest.data(), n);
  stream->rest.remove_prefix(n);
}
void WriteBytes(png_structp png, png_bytep from, size_t n) {
  static_cast<PngStream*>(png_get_io_ptr(png))->out->append(reinterpret_cast<char*>(from), n);
}
void Flush(png_structp) {}

struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool reads;

  explicit Png(bool reads, PngStream* stream) : reads(reads) {
    png = (reads ? png_create_read_struct : png_create_write_struct)(PNG_LIBPNG_VER_STRING, stream,
                                                                     &OnPngError, &OnWarning);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~Png() {
    reads ? png_destroy_read_struct(&png, &info, nullptr) : png_destroy_write_struct(&png, &info);
  }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  bool ok() const { return info != nullptr; }
};

struct Layout {
  uint32_t width = 0, height = 0;
  int channels = 0;
  bool widened = false;  // 8 bits become 16 after decoding
};

// Reads up to the pixels and says how they are wanted: with so many channels (0: as there are), 16
// bits or 8. False: see the stream's message.
bool ReadPngHeader(Png& p, PngStream* stream, int wanted, bool wide, Layout* layout) {
  if (setjmp(png_jmpbuf(p.png)) != 0) return false;
  png_set_read_fn(p.png, stream, &ReadPngBytes);
  png_read_info(p.png, p.info);
  const int type = png_get_color_type(p.png, p.info), depth = png_get_bit_depth(p.png, p.info);
  const bool transparent = png_get_valid(p.png, p.info, PNG_INFO_tRNS) != 0;
  const bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0;
  const bool gray = (type & PNG_COLOR_MASK_COLOR) == 0;
  const int there =
      type == PNG_COLOR_TYPE_PALETTE ? (transparent ? 4 : 3) : png_get_channels(p.png, p.info);
  const int channels = wanted == 0 ? there : wanted;
  if (channels % 2 != 0) {
    if (alpha || transparent) png_set_strip_alpha(p.png);
  } else if (!alpha && transparent) {
    png_set_tRNS_to_alpha(p.png);
  } else if (!alpha) {
    png_set_add_alpha(p.png, 0xffff, PNG_FILLER_AFTER);
  }
  if (depth > 8 && !wide) png_set_strip_16(p.png);
  layout->widened = depth <= 8 && wide;
  png_set_packing(p.png);
  png_set_interlace_handling(p.png);
  if (wide) png_set_swap(p.png);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(p.png);
  if (gray && depth < 8) png_set_expand_gray_1_2_4_to_8(p.png);
  // The weights of red and green; blue has the rest.
  if (channels < 3 && !gray) png_set_rgb_to_gray(p.png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (channels >= 3 && gray) png_set_gray_to_rgb(p.png);
  png_read_update_info(p.png, p.info);
  layout->width = png_get_image_width(p.png, p.info);
  layout->height = png_get_image_height(p.png, p.info);
  layout->channels = channels;
  const size_t row = size_t{layout->width} * channels * (wide && !layout->widened ? 2 : 1);
  if (png_get_rowbytes(p.png, p.info) != row) png_error(p.png, "the pixels have an unusual form");
  return true;
}

bool ReadPixels(Png& p, png_bytepp rows) {
  if (setjmp(png_jmpbuf(p.png)) != 0) return false;
  png_read_image(p.png, rows);
  return true;
}

absl::Status RefusePng(const PngStream& stream) {
  return absl::InvalidArgumentError(absl::StrCat("PNG: ", stream.message));
}

struct PngEncode {
  Layout layout;
  bool wide;
  int compression;
  int64_t images;
};

bool WriteImage(Png& p, PngStream* stream, const PngEncode& s, png_bytepp rows) {
  if (setjmp(png_jmpbuf(p.png)) != 0) return false;
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(p.png, stream, &WriteBytes, &Flush);
  png_set_compression_level(p.png, s.compression);
  png_set_IHDR(p.png, p.info, s.layout.width, s.layout.height, s.wide ? 16 : 8,
               kTypes[s.layout.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(p.png, p.info);
  if (s.wide) png_set_swap(p.png);
  png_write_image(p.png, rows);
  png_write_end(p.png, nullptr);
  return true;
}

absl::StatusOr<std::string> EncodeImage(const PngEncode& s, const void* pixels) {
  const size_t row_bytes = size_t{s.layout.width} * s.layout.channels * (s.wide ? 2 : 1);
  std::vector<png_bytep> rows(s.layout.height);
  auto* data = static_cast<png_bytep>(const_cast<void*>(pixels));
  for (png_bytep& row : rows) {
    row = data;
    data += row_bytes;
  }
  std::string text;
  PngStream stream;
  stream.out = &text;
  Png png(false, &stream);
  if (!png.ok()) return absl::ResourceExhaustedError("no memory for libpng");
  if (!WriteImage(png, &stream, s, rows.data())) return RefusePng(stream);
  return text;
}

absl::Status RunEncode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PngEncode*>(state);
  const int64_t bytes =
      int64_t{s.layout.height} * s.layout.width * s.layout.channels * (s.wide ? 2 : 1);
  for (int64_t image = 0; image < s.images; ++image) {
    TENON_ASSIGN_OR_RETURN(const std::string file,
                           EncodeImage(s, static_cast<const char*>(args.in[0]) + image * bytes));
    PutString(args.out[0], image, file);
  }
  return absl::OkStatus();
}

// What a PNG file cannot hold.
absl::Status CheckImage(int64_t height, int64_t width, int64_t channels) {
  if (channels < 1 || channels > 4)
    return absl::InvalidArgumentError(absl::StrCat("an image has 1 to 4 channels, not ", channels));
  constexpr int64_t kMost = 1000000;  // libpng's own limit
  if (width >= 1 && height >= 1 && width <= kMost && height <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a PNG file has 1 to ", kMost, " rows and columns, not ", height, " and ", width));
}

absl::Status PreparePngEncode(Prepare& p) {
  const Shape& in = p.input_shape(0);
  const int rank = in.rank();
  if (rank < 3) return p.Invalid("an image has three dimensions");
  TENON_ASSIGN_OR_RETURN(const int64_t compression, p.AttrInt("compression"));
  if (compression < -1 || compression > 9)
    return p.Invalid(absl::StrCat("attribute 'compression' must be in [-1, 9], not ", compression));
  const int64_t height = in.dim(rank - 3), width = in.dim(rank - 2), channels = in.dim(rank - 1);
  const absl::Status fits = CheckImage(height, width, channels);
  if (!fits.ok()) return p.Invalid(fits.message());
  PngEncode s{
      {static_cast<uint32_t>(width), static_cast<uint32_t>(height), static_cast<int>(channels)},
      p.input_type(0) == DataType::kUint16,
      static_cast<int>(compression),
      DimProduct(in, 0, rank - 3)};
  p.set_output_shape(0, Shape(in.dims().subspan(0, rank - 3)));
  p.set_run(&RunEncode, std::make_shared<PngEncode>(s));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodePng(const uint8_t* pixels, const Shape& shape) {
  TENON_RETURN_IF_ERROR(CheckImage(shape.dim(0), shape.dim(1), shape.dim(2)));
  constexpr int kDefaultCompression = -1;
  const PngEncode s{{static_cast<uint32_t>(shape.dim(1)), static_cast<uint32_t>(shape.dim(0)),
                     static_cast<int>(shape.dim(2))},
                    false,
                    kDefaultCompression,
                    1};
  return EncodeImage(s, pixels);
}

absl::Status DecodePng(std::string_view contents, int channels, bool wide,
                       AllocatePixels allocate) {
  PngStream stream{contents};
  if (png_sig_cmp(reinterpret_cast<png_const_bytep>(contents.data()), 0,
                  std::min<size_t>(contents.size(), 8)) != 0 ||
      contents.size() < 8) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", contents.size(), " bytes are no PNG file"));
  }
  Png png(true, &stream);
  if (!png.ok()) return absl::ResourceExhaustedError("no memory for libpng");
  Layout layout;
  if (!ReadPngHeader(png, &stream, channels, wide, &layout)) return RefusePng(stream);
  // No deflated byte makes more than 1032 others. Rows have at least one bit a pixel.
  constexpr double kMostInflation = 1032;
  const double least_bytes = static_cast<double>(layout.width) / 8 * layout.height;
  if (least_bytes > kMostInflation * static_cast<double>(contents.size())) {
    return absl::InvalidArgumentError(absl::StrCat("PNG: ", contents.size(), " bytes cannot hold ",
                                                   layout.width, "x", layout.height, " pixels"));
  }
  TENON_ASSIGN_OR_RETURN(void* const data,
                         allocate(Shape({layout.height, layout.width, int64_t{layout.channels}})));
  const size_t values = size_t{layout.width} * layout.channels;
  const size_t row_bytes = values * (wide ? 2 : 1);
  std::vector<png_bytep> rows(layout.height);
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = static_cast<png_bytep>(data) + y * row_bytes;
  if (!ReadPixels(png, rows.data())) return RefusePng(stream);
  if (!layout.widened) return absl::OkStatus();
  for (png_bytep row : rows) {
    // From the end: a value's place is not before the byte that it comes from.
    for (size_t i = values; i-- > 0;) {
      const auto value = static_cast<uint16_t>(row[i] * 257);
      memcpy(row + 2 * i, &value, 2);
    }
  }
  return absl::OkStatus();
}

absl::Span<const CpuKernelSpec> EncodePngKernels() {
  static const CpuKernelSpec specs[] = {{"EncodePng", {}, PreparePngEncode}};
  return specs;
}

}  // namespace tenon::cpu
