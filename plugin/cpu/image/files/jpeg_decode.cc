// DecodeJpeg, JpegDimensions, on libjpeg-turbo.
#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/image/files/codecs.h"
#include "plugin/cpu/image/files/jpeg_errors.h"
// After jpeglib.h, which it does not include.
#include <jerror.h>

namespace tenon::cpu {
namespace {

// More scans than any encoder writes. Each scan costs a pass over the whole image, so that a small
// file could keep a thread busy for long.
constexpr int kMostScans = 1000;
// Above this TensorFlow gives up, too.
constexpr int64_t kMostSamples = int64_t{1} << 29;

// libjpeg leaves its functions by longjmp when something is wrong. So every function below that
// calls setjmp has no local with a destructor, and what it needs to be kept lives in here.
struct Reader {
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg_source_mgr source = {};
  jpeg_progress_mgr progress = {};
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = {};
  std::string_view contents;
  bool recover = false;  // a file that ends too early is taken to be all there is
  int64_t lines_read = 0;
  std::vector<JSAMPLE> line;  // one as libjpeg gives it, where that is not as it is wanted

  ~Reader() { jpeg_destroy_decompress(&jpeg); }
};

Reader& ReaderOf(j_common_ptr jpeg) { return *static_cast<Reader*>(jpeg->client_data); }
Reader& ReaderOf(j_decompress_ptr jpeg) { return ReaderOf(reinterpret_cast<j_common_ptr>(jpeg)); }

[[noreturn]] void OnDecodeError(j_common_ptr jpeg) {
  Reader& r = ReaderOf(jpeg);
  JpegMessage(r.errors, r.message);
  longjmp(r.jump, 1);
}

void OnProgress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMostScans)
    ERREXIT1(jpeg, JERR_BAD_STATE, kMostScans);
}

void InitSource(j_decompress_ptr jpeg) {
  const std::string_view contents = ReaderOf(jpeg).contents;
  jpeg->src->next_input_byte = reinterpret_cast<const JOCTET*>(contents.data());
  jpeg->src->bytes_in_buffer = contents.size();
}

// Nothing is left.
boolean FillInput(j_decompress_ptr jpeg) {
  static constexpr JOCTET kEnd[] = {0xff, JPEG_EOI};
  if (ReaderOf(jpeg).contents.empty()) ERREXIT(jpeg, JERR_INPUT_EMPTY);
  if (!ReaderOf(jpeg).recover || jpeg->src->next_input_byte == kEnd) ERREXIT(jpeg, JERR_INPUT_EOF);
  WARNMS(jpeg, JWRN_JPEG_EOF);
  jpeg->src->next_input_byte = kEnd;
  jpeg->src->bytes_in_buffer = sizeof(kEnd);
  return TRUE;
}

void SkipInput(j_decompress_ptr jpeg, long bytes) {
  jpeg_source_mgr& source = *jpeg->src;
  if (bytes <= 0) return;
  const size_t skipped = std::min(static_cast<size_t>(bytes), source.bytes_in_buffer);
  source.next_input_byte += skipped;
  source.bytes_in_buffer -= skipped;
  if (skipped < static_cast<size_t>(bytes)) FillInput(jpeg);
}

void EndSource(j_decompress_ptr) {}

bool ReadJpegHeader(Reader& r) {
  SetUpJpegErrors(&r.errors, &OnDecodeError);
  r.jpeg.err = &r.errors;
  r.jpeg.client_data = &r;
  if (setjmp(r.jump) != 0) return false;
  jpeg_create_decompress(&r.jpeg);  // clears all but err and client_data
  r.progress.progress_monitor = &OnProgress;
  r.jpeg.progress = &r.progress;
  r.source.init_source = &InitSource;
  r.source.fill_input_buffer = &FillInput;
  r.source.skip_input_data = &SkipInput;
  r.source.resync_to_restart = &jpeg_resync_to_restart;
  r.source.term_source = &EndSource;
  r.jpeg.src = &r.source;
  jpeg_read_header(&r.jpeg, TRUE);
  return true;
}

bool CalculateSize(Reader& r) {
  if (setjmp(r.jump) != 0) return false;
  jpeg_calc_output_dimensions(&r.jpeg);
  return true;
}

bool Start(Reader& r) {
  if (setjmp(r.jump) != 0) return false;
  jpeg_start_decompress(&r.jpeg);
  return true;
}

// From now on lines come from the window only, `left` places to the left of it included.
bool Crop(Reader& r, const CropWindow& crop, JDIMENSION* left) {
  if (setjmp(r.jump) != 0) return false;
  auto x = static_cast<JDIMENSION>(crop.x), width = static_cast<JDIMENSION>(crop.width);
  jpeg_crop_scanline(&r.jpeg, &x, &width);
  *left = static_cast<JDIMENSION>(crop.x) - x;
  if (jpeg_skip_scanlines(&r.jpeg, static_cast<JDIMENSION>(crop.y)) != crop.y)
    ERREXIT(&r.jpeg, JERR_INPUT_EOF);
  return true;
}

// Inks become light. Adobe's files hold them inverted.
void StoreRgb(const JSAMPLE* cmyk, bool inverted, int64_t width, JSAMPLE* rgb) {
  for (; width-- > 0; cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<JSAMPLE>(inverted ? cmyk[3] * cmyk[c] / 255
                                             : (255 - cmyk[3]) * (255 - cmyk[c]) / 255);
    }
  }
}

struct Lines {
  JSAMPLE* to;
  int64_t count, width;
  int channels;
  JDIMENSION left;  // places of libjpeg's lines before the first that is wanted
};

bool ReadLines(Reader& r, const Lines& lines) {
  if (setjmp(r.jump) != 0) return false;
  const bool cmyk = r.jpeg.out_color_space == JCS_CMYK;
  for (; r.lines_read < lines.count; ++r.lines_read) {
    JSAMPLE* const to = lines.to + r.lines_read * lines.width * lines.channels;
    JSAMPROW line = r.line.empty() ? to : r.line.data();
    if (jpeg_read_scanlines(&r.jpeg, &line, 1) == 0) return true;
    if (cmyk) {
      StoreRgb(line + 4 * lines.left, r.jpeg.saw_Adobe_marker, lines.width, to);
    } else if (line != to) {
      memcpy(to, line + lines.left * lines.channels, lines.width * lines.channels);
    }
  }
  return true;
}

// A file is whole only if what follows the last line is.
bool Finish(Reader& r) {
  if (setjmp(r.jump) != 0) return false;
  if (r.jpeg.output_scanline < r.jpeg.output_height)
    jpeg_skip_scanlines(&r.jpeg, r.jpeg.output_height - r.jpeg.output_scanline);
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

absl::Status RefuseJpeg(const Reader& r) {
  return absl::InvalidArgumentError(
      absl::StrCat("JPEG: ", r.message, " (the file has ", r.contents.size(), " bytes)"));
}

absl::Status CheckSize(const Reader& r) {
  const int64_t samples =
      int64_t{r.jpeg.output_width} * r.jpeg.output_height * r.jpeg.num_components;
  if (samples > 0 && samples < kMostSamples) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "JPEG: an image of ", r.jpeg.output_height, "x", r.jpeg.output_width, " places of ",
      r.jpeg.num_components, " components is not between 1 and ", kMostSamples, " samples"));
}

absl::Status CheckCrop(const Reader& r, const CropWindow& crop) {
  if (crop.height > 0 && crop.width > 0 && crop.x >= 0 && crop.y >= 0 &&
      crop.y + crop.height <= r.jpeg.output_height && crop.x + crop.width <= r.jpeg.output_width) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the crop window of ", crop.height, "x", crop.width, " at (", crop.y, ", ", crop.x,
      ") is not inside of the JPEG image of ", r.jpeg.output_height, "x", r.jpeg.output_width));
}

// What libjpeg is to make of the file's colours.
absl::Status SetColors(Reader& r, int channels) {
  const J_COLOR_SPACE there = r.jpeg.jpeg_color_space;
  if (channels == 1) {
    r.jpeg.out_color_space = JCS_GRAYSCALE;
  } else if (channels == 3) {
    r.jpeg.out_color_space = there == JCS_CMYK || there == JCS_YCCK ? JCS_CMYK : JCS_RGB;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("JPEG: files of ", channels, " components are not supported"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeJpeg(std::string_view contents, const JpegDecoding& options,
                        AllocatePixels allocate) {
  Reader r;
  r.contents = contents;
  r.recover = options.try_recover_truncated;
  if (!ReadJpegHeader(r)) return RefuseJpeg(r);
  const int channels =
      options.channels == 0 ? std::min(r.jpeg.num_components, 3) : options.channels;
  TENON_RETURN_IF_ERROR(SetColors(r, channels));
  r.jpeg.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  r.jpeg.scale_num = 1;
  r.jpeg.scale_denom = static_cast<unsigned>(options.ratio);
  r.jpeg.dct_method = options.accurate ? JDCT_ISLOW : JDCT_IFAST;
  if (!CalculateSize(r)) return RefuseJpeg(r);
  TENON_RETURN_IF_ERROR(CheckSize(r));
  if (!Start(r)) return RefuseJpeg(r);
  Lines lines = {nullptr, r.jpeg.output_height, r.jpeg.output_width, channels, 0};
  if (options.crop.has_value()) {
    TENON_RETURN_IF_ERROR(CheckCrop(r, *options.crop));
    if (!Crop(r, *options.crop, &lines.left)) return RefuseJpeg(r);
    lines.count = options.crop->height;
    lines.width = options.crop->width;
  }
  TENON_ASSIGN_OR_RETURN(void* const pixels,
                         allocate(Shape({lines.count, lines.width, int64_t{channels}})));
  lines.to = static_cast<JSAMPLE*>(pixels);
  if (r.jpeg.output_components != channels || r.jpeg.output_width != lines.width)
    r.line.resize(size_t{r.jpeg.output_width} * r.jpeg.output_components);
  if (!ReadLines(r, lines)) return RefuseJpeg(r);
  const float fraction = static_cast<float>(r.lines_read) / static_cast<float>(lines.count);
  if (fraction < std::min(1.0f, options.acceptable_fraction)) {
    return absl::InvalidArgumentError(
        absl::StrCat("JPEG: the data end after ", r.lines_read, " of ", lines.count, " lines"));
  }
  if (r.lines_read == lines.count) return Finish(r) ? absl::OkStatus() : RefuseJpeg(r);
  const int64_t line_bytes = lines.width * channels;
  memset(lines.to + r.lines_read * line_bytes, 0, (lines.count - r.lines_read) * line_bytes);
  return absl::OkStatus();
}

absl::StatusOr<Dims> JpegDimensions(std::string_view contents) {
  Reader r;
  r.contents = contents;
  if (!ReadJpegHeader(r) || !CalculateSize(r)) return RefuseJpeg(r);
  return Dims{r.jpeg.output_height, r.jpeg.output_width, r.jpeg.output_components};
}

}  // namespace tenon::cpu
