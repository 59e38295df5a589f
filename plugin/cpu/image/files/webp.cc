// DecodeWebP, on libwebp.
#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/image/files/codecs.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kAnimationChannels = 4;

absl::Status RefuseWebp(std::string_view contents, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("WebP: ", why, " (the file has ", contents.size(), " bytes)"));
}

struct DeleteDemuxer {
  void operator()(WebPDemuxer* d) const { WebPDemuxDelete(d); }
};
struct DeleteDecoder {
  void operator()(WebPAnimDecoder* d) const { WebPAnimDecoderDelete(d); }
};

absl::Status DecodeAnimation(std::string_view contents, bool all_frames, AllocatePixels allocate) {
  const WebPData data = {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()};
  // The sizes first: the animation's decoder allocates two canvases of them.
  const std::unique_ptr<WebPDemuxer, DeleteDemuxer> demuxer(WebPDemux(&data));
  if (demuxer == nullptr) return RefuseWebp(contents, "the animation is not whole");
  const int64_t frames = all_frames ? WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT) : 1;
  const int64_t height = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT);
  const int64_t width = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH);
  TENON_ASSIGN_OR_RETURN(void* const pixels,
                         allocate(all_frames ? Shape({frames, height, width, kAnimationChannels})
                                             : Shape({height, width, kAnimationChannels})));
  const std::unique_ptr<WebPAnimDecoder, DeleteDecoder> decoder(WebPAnimDecoderNew(&data, nullptr));
  if (decoder == nullptr) return RefuseWebp(contents, "the animation cannot be decoded");
  const size_t frame_bytes = height * width * kAnimationChannels;
  for (int64_t frame = 0; frame < frames; ++frame) {
    uint8_t* canvas = nullptr;
    int time;
    if (!WebPAnimDecoderHasMoreFrames(decoder.get()) ||
        !WebPAnimDecoderGetNext(decoder.get(), &canvas, &time)) {
      return RefuseWebp(contents, absl::StrCat("frame ", frame, " of the animation is broken"));
    }
    memcpy(static_cast<uint8_t*>(pixels) + frame * frame_bytes, canvas, frame_bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeWebP(std::string_view contents, int channels, bool all_frames,
                        AllocatePixels allocate) {
  const auto* const data = reinterpret_cast<const uint8_t*>(contents.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, contents.size(), &features) != VP8_STATUS_OK)
    return RefuseWebp(contents, "the header is broken");
  const int there = features.has_alpha ? 4 : 3;
  if (channels != 0 && channels != there) {
    return absl::InvalidArgumentError(
        absl::StrCat("'channels' is ", channels, ", but the WebP file has ", there));
  }
  if (features.has_animation && channels == 3) {
    return absl::InvalidArgumentError("frames of a WebP animation have 4 channels, not 3");
  }
  if (features.has_animation) return DecodeAnimation(contents, all_frames, allocate);
  const int64_t height = features.height, width = features.width;
  TENON_ASSIGN_OR_RETURN(void* const pixels,
                         allocate(all_frames ? Shape({1, height, width, int64_t{there}})
                                             : Shape({height, width, int64_t{there}})));
  const int row_bytes = features.width * there;
  const auto decode = there == 4 ? &WebPDecodeRGBAInto : &WebPDecodeRGBInto;
  if (decode(data, contents.size(), static_cast<uint8_t*>(pixels), height * row_bytes, row_bytes) ==
      nullptr) {
    return RefuseWebp(contents, "the pixels are broken");
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
