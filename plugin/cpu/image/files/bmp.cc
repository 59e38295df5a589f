// DecodeBmp: bitmaps without compression, of 8, 24 or 32 bits a pixel.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/image/files/codecs.h"

namespace tenon::cpu {
namespace {

struct Bitmap {
  std::string_view pixels;
  int64_t width, height, channels, row_bytes;
  bool top_down;
};

int32_t LoadInt32(std::string_view data, size_t at) {
  int32_t value;
  memcpy(&value, data.data() + at, sizeof(value));
  return value;
}

absl::StatusOr<Bitmap> ReadBitmap(std::string_view data) {
  constexpr size_t kLeastHeader = 32;
  if (data.size() < kLeastHeader || data[0] != 'B' || data[1] != 'M') {
    return absl::InvalidArgumentError(absl::StrCat("the ", data.size(), " bytes are no BMP file"));
  }
  const int64_t start = LoadInt32(data, 10), height = LoadInt32(data, 22);
  const int bits = static_cast<uint8_t>(data[28]) | static_cast<uint8_t>(data[29]) << 8;
  Bitmap map{{}, LoadInt32(data, 18), std::abs(height), bits / 8, 0, height < 0};
  if (map.channels != 1 && map.channels != 3 && map.channels != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("a BMP file must have 8, 24 or 32 bits a pixel, not ", bits));
  }
  constexpr int64_t kMostPixels = int64_t{1} << 28;
  if (map.width < 1 || map.height < 1 || start < 0 || map.width * map.height >= kMostPixels) {
    return absl::InvalidArgumentError(absl::StrCat("the BMP header says ", map.width, "x", height,
                                                   " pixels from byte ", start, " on"));
  }
  map.row_bytes = (map.channels * map.width + 3) / 4 * 4;
  const int64_t want = start + map.row_bytes * map.height;
  if (want != static_cast<int64_t>(data.size())) {
    return absl::InvalidArgumentError(absl::StrCat("a BMP file of ", map.width, "x", map.height,
                                                   " pixels of ", bits, " bits from byte ", start,
                                                   " on has ", want, " bytes, not ", data.size()));
  }
  map.pixels = data.substr(start);
  return map;
}

// Blue, green, red and perhaps alpha become red, green, blue, alpha.
void StorePixel(const uint8_t* from, int64_t from_channels, uint8_t* to, int64_t channels) {
  if (from_channels == 1) {
    for (int64_t c = 0; c < channels; ++c) to[c] = c == 3 ? 255 : from[0];
    return;
  }
  for (int64_t c = 0; c < std::min<int64_t>(channels, 3); ++c) to[c] = from[2 - c];
  if (channels == 4) to[3] = from_channels == 4 ? from[3] : 255;
}

}  // namespace

absl::Status DecodeBmp(std::string_view contents, int channels, AllocatePixels allocate) {
  TENON_ASSIGN_OR_RETURN(const Bitmap map, ReadBitmap(contents));
  const int64_t stored = channels == 0 ? map.channels : channels;
  TENON_ASSIGN_OR_RETURN(void* const pixels, allocate(Shape({map.height, map.width, stored})));
  auto* to = static_cast<uint8_t*>(pixels);
  for (int64_t y = 0; y < map.height; ++y) {
    const int64_t row = map.top_down ? y : map.height - 1 - y;
    const auto* from = reinterpret_cast<const uint8_t*>(map.pixels.data()) + row * map.row_bytes;
    for (int64_t x = 0; x < map.width; ++x, from += map.channels, to += stored)
      StorePixel(from, map.channels, to, stored);
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
