// DecodeGif, on giflib.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/image/files/codecs.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kChannels = 3;

int ReadGifBytes(GifFileType* gif, GifByteType* to, int size) {
  auto* const rest = static_cast<std::string_view*>(gif->UserData);
  const size_t n = std::min(rest->size(), static_cast<size_t>(size));
  memcpy(to, rest->data(), n);
  rest->remove_prefix(n);
  return static_cast<int>(n);
}

struct CloseGif {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, CloseGif>;

absl::Status RefuseGif(std::string_view contents, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("GIF: ", why, " (the file has ", contents.size(), " bytes)"));
}

absl::Status RefuseGif(std::string_view contents, int error) {
  const char* why = GifErrorString(error);
  return RefuseGif(contents, why == nullptr ? "unknown error" : why);
}

absl::StatusOr<Gif> Open(std::string_view contents, std::string_view* rest) {
  *rest = contents;
  int error = D_GIF_SUCCEEDED;
  Gif gif(DGifOpen(rest, &ReadGifBytes, &error));
  if (gif == nullptr) return RefuseGif(contents, error);
  return gif;
}

// Goes on behind the compressed pixels of a frame. Returns how many bytes they take.
int64_t SkipPixels(GifFileType* gif) {
  int64_t bytes = 0;
  int code_size;
  GifByteType* block;
  for (int ok = DGifGetCode(gif, &code_size, &block); ok == GIF_OK && block != nullptr;
       ok = DGifGetCodeNext(gif, &block)) {
    bytes += block[0];
  }
  return bytes;
}

bool SkipExtension(GifFileType* gif) {
  int code;
  GifByteType* block;
  int ok = DGifGetExtension(gif, &code, &block);
  while (ok == GIF_OK && block != nullptr) ok = DGifGetExtensionNext(gif, &block);
  return ok == GIF_OK;
}

// giflib allocates a frame before it looks for its pixels. A code of 12 bits stands for fewer than
// 4096 of them, a shorter one for even fewer by the bit.
absl::Status CheckSizes(std::string_view contents) {
  constexpr int64_t kMostPixelsPerByte = 4096 * 8 / 12 + 1;
  std::string_view rest;
  TENON_ASSIGN_OR_RETURN(const Gif gif, Open(contents, &rest));
  double pixels = 0;
  int64_t width = 0, height = 0;
  GifRecordType record;
  while (DGifGetRecordType(gif.get(), &record) == GIF_OK && record != TERMINATE_RECORD_TYPE) {
    // DGifSlurp meets the same fault, and decides whether the frames before it count.
    if (record == EXTENSION_RECORD_TYPE && !SkipExtension(gif.get())) break;
    if (record != IMAGE_DESC_RECORD_TYPE) continue;
    if (DGifGetImageDesc(gif.get()) != GIF_OK) break;
    const int64_t frame = int64_t{gif->Image.Width} * gif->Image.Height;
    const int64_t bytes = SkipPixels(gif.get());
    if (frame > bytes * kMostPixelsPerByte) {
      return RefuseGif(contents, absl::StrCat(bytes, " bytes cannot hold ", gif->Image.Width, "x",
                                              gif->Image.Height, " pixels"));
    }
    pixels += static_cast<double>(frame);
    width = std::max<int64_t>(width, gif->Image.Width);
    height = std::max<int64_t>(height, gif->Image.Height);
  }
  // A wide frame and a high one make an image that is far larger than both.
  if (width * height > static_cast<int64_t>(contents.size()) * kMostPixelsPerByte) {
    return RefuseGif(contents, absl::StrCat("its frames cannot fill an image of ", width, "x",
                                            height, " pixels"));
  }
  return CheckStringBytes(pixels);
}

// How many frames come before the first fault. Which of the frames of DGifSlurp these are, it does
// not tell: giflib 5.2.1 leaves a frame with bad codes among them, whose pixels have any values
// from the fault on, and later ones take it out.
int FramesBeforeFault(std::string_view contents) {
  std::string_view rest;
  const absl::StatusOr<Gif> opened = Open(contents, &rest);
  if (!opened.ok()) return 0;
  GifFileType* const gif = opened->get();
  std::vector<GifByteType> row;
  int frames = 0;
  GifRecordType record;
  while (DGifGetRecordType(gif, &record) == GIF_OK && record != TERMINATE_RECORD_TYPE) {
    if (record == EXTENSION_RECORD_TYPE && !SkipExtension(gif)) break;
    if (record != IMAGE_DESC_RECORD_TYPE) continue;
    if (DGifGetImageDesc(gif) != GIF_OK || gif->Image.Width <= 0) break;
    row.resize(gif->Image.Width);
    for (int y = 0; y < gif->Image.Height; ++y) {
      if (DGifGetLine(gif, row.data(), gif->Image.Width) != GIF_OK) return frames;
    }
    ++frames;
  }
  return frames;
}

struct Canvas {
  uint8_t* pixels;
  int64_t height, width;
};

// What the frame does not cover stays as it is.
absl::Status Draw(std::string_view contents, GifFileType* gif, int frame, const Canvas& canvas) {
  const SavedImage& image = gif->SavedImages[frame];
  const GifImageDesc& place = image.ImageDesc;
  const ColorMapObject* const colors = place.ColorMap != nullptr ? place.ColorMap : gif->SColorMap;
  if (colors == nullptr)
    return RefuseGif(contents, absl::StrCat("missing color map for frame ", frame));
  GraphicsControlBlock control;
  if (DGifSavedExtensionToGCB(gif, frame, &control) != GIF_OK)
    control.TransparentColor = NO_TRANSPARENT_COLOR;
  const int64_t bottom = std::min<int64_t>(place.Top + place.Height, canvas.height);
  const int64_t right = std::min<int64_t>(place.Left + place.Width, canvas.width);
  for (int64_t y = place.Top; y < bottom; ++y) {
    const GifByteType* from = image.RasterBits + (y - place.Top) * place.Width;
    uint8_t* to = canvas.pixels + (y * canvas.width + place.Left) * kChannels;
    for (int64_t x = place.Left; x < right; ++x, ++from, to += kChannels) {
      if (*from == control.TransparentColor) continue;
      if (*from >= colors->ColorCount) {
        return RefuseGif(contents, absl::StrCat("found color index ", *from, " in frame ", frame,
                                                " with ", colors->ColorCount, " colors"));
      }
      const GifColorType& color = colors->Colors[*from];
      to[0] = color.Red;
      to[1] = color.Green;
      to[2] = color.Blue;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeGif(std::string_view contents, bool all_frames, AllocatePixels allocate) {
  TENON_RETURN_IF_ERROR(CheckSizes(contents));
  std::string_view rest;
  TENON_ASSIGN_OR_RETURN(const Gif gif, Open(contents, &rest));
  // As in TensorFlow, frames before one that is broken count, but not before one that is missing.
  const bool whole = DGifSlurp(gif.get()) == GIF_OK;
  const int count =
      whole ? gif->ImageCount : std::min(gif->ImageCount, FramesBeforeFault(contents));
  if (!whole && (count <= 0 || gif->SavedImages[gif->ImageCount - 1].RasterBits == nullptr ||
                 gif->Error == D_GIF_ERR_EOF_TOO_SOON)) {
    return RefuseGif(contents, gif->Error);
  }
  if (count <= 0) return RefuseGif(contents, "it holds no image");
  const int frames = all_frames ? count : 1;
  Canvas canvas = {nullptr, 0, 0};
  for (int i = 0; i < count; ++i) {
    canvas.height = std::max<int64_t>(canvas.height, gif->SavedImages[i].ImageDesc.Height);
    canvas.width = std::max<int64_t>(canvas.width, gif->SavedImages[i].ImageDesc.Width);
  }
  TENON_ASSIGN_OR_RETURN(
      void* const pixels,
      allocate(all_frames ? Shape({int64_t{frames}, canvas.height, canvas.width, kChannels})
                          : Shape({canvas.height, canvas.width, kChannels})));
  canvas.pixels = static_cast<uint8_t*>(pixels);
  const int64_t bytes = canvas.height * canvas.width * kChannels;
  memset(canvas.pixels, 0, bytes);
  for (int i = 0; i < frames; ++i) {
    if (i > 0) {
      memcpy(canvas.pixels + bytes, canvas.pixels, bytes);
      canvas.pixels += bytes;
    }
    TENON_RETURN_IF_ERROR(Draw(contents, gif.get(), i, canvas));
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
