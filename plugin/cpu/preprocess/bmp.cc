// DecodeBmp: bitmaps without compression, of 8, 24 or 32 bits a pixel.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/strings/string_element.h"

namespace tenon::cpu {
namespace {

struct Bmp {
  int64_t channels;  // wanted; 0: those of the file
};

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
  if (bits != 8 && bits != 24 && bits != 32) {
    return absl::InvalidArgumentError(
        absl::StrCat("a BMP file must have 8, 24 or 32 bits a pixel, not ", bits));
  }
  if (map.width < 1 || map.height < 1 || start < static_cast<int64_t>(kLeastHeader)) {
    return absl::InvalidArgumentError(absl::StrCat("the BMP header says ", map.width, "x", height,
                                                   " pixels from byte ", start, " on"));
  }
  map.row_bytes = (map.channels * map.width + 3) / 4 * 4;
  if (static_cast<double>(map.row_bytes) * static_cast<double>(map.height) +
          static_cast<double>(start) >
      static_cast<double>(data.size())) {
    return absl::InvalidArgumentError(absl::StrCat("the BMP file of ", data.size(),
                                                   " bytes is too short for ", map.width, "x",
                                                   map.height, " pixels"));
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

absl::Status RunBmp(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Bitmap map, ReadBitmap(StringAt(args.in[0], 0)));
  const int64_t wanted = static_cast<const Bmp*>(state)->channels;
  const int64_t channels = wanted == 0 ? map.channels : wanted;
  if (channels == 1 && map.channels != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("'channels' is 1, but the BMP file has ", map.channels));
  }
  TENON_ASSIGN_OR_RETURN(
      void* const out, args.run_state->AllocateOutput(0, Shape({map.height, map.width, channels})));
  auto* to = static_cast<uint8_t*>(out);
  for (int64_t y = 0; y < map.height; ++y) {
    const int64_t row = map.top_down ? y : map.height - 1 - y;
    const auto* from = reinterpret_cast<const uint8_t*>(map.pixels.data()) + row * map.row_bytes;
    for (int64_t x = 0; x < map.width; ++x, from += map.channels, to += channels)
      StorePixel(from, map.channels, to, channels);
  }
  return absl::OkStatus();
}

absl::Status PrepareBmp(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("the contents must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t channels, p.AttrInt("channels"));
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
    return p.Invalid(absl::StrCat("attribute 'channels' must be 0, 1, 3 or 4, not ", channels));
  p.set_dynamic_output(0);
  p.set_run(&RunBmp, std::make_shared<Bmp>(Bmp{channels}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> BmpKernels() {
  static const CpuKernelSpec specs[] = {{"DecodeBmp", {}, PrepareBmp}};
  return specs;
}

}  // namespace tenon::cpu
