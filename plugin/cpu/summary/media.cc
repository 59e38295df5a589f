// ImageSummary and AudioSummary: the first of a batch of images as PNG files, of sounds as WAV
// files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/tensor/tensor_proto.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/image/files/codecs.h"
#include "plugin/cpu/preprocess/wav.h"
#include "plugin/cpu/summary/summary_wire.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// With more than one wanted each has its number.
std::string TagOf(std::string_view base, std::string_view kind, int64_t wanted, int64_t i) {
  return wanted > 1 ? absl::StrCat(base, "/", kind, "/", i) : absl::StrCat(base, "/", kind);
}

struct ImageState {
  DataType type;
  int64_t wanted, images, height, width, channels;
  std::vector<uint8_t> bad_color;

  int64_t places() const { return height * width; }
};

// How floats become bytes: all positive ones by their largest, else around 128 by their largest
// magnitude.
struct Scaling {
  float scale, offset;
};
Scaling ScalingOf(float least, float most) {
  // TensorFlow's threshold: an image of smaller magnitudes is all offset.
  constexpr float kNothing = 1e-6F;
  if (least < 0) {
    const float largest = std::max(std::abs(least), std::abs(most));
    return {largest < kNothing ? 0 : 127 / largest, 128};
  }
  return {most < kNothing ? 0 : 255 / most, 0};
}

// Places with a value that is no number get the bad color. Computed in the type, as TensorFlow
// does.
template <typename Element>
void ToBytes(const ImageState& s, const Element& element, const void* in, int64_t first,
             uint8_t* out) {
  using T = typename Element::Native;
  const auto at = [&](int64_t i) { return element.template As<T>(in, first + i); };
  const auto finite = [&](int64_t place) {
    for (int64_t c = 0; c < s.channels; ++c) {
      if (!std::isfinite(at(place * s.channels + c))) return false;
    }
    return true;
  };
  float least = std::numeric_limits<float>::infinity(), most = -least;
  for (int64_t place = 0; place < s.places(); ++place) {
    if (!finite(place)) continue;
    for (int64_t c = 0; c < s.channels; ++c) {
      const auto x = static_cast<float>(at(place * s.channels + c));
      least = std::min(least, x);
      most = std::max(most, x);
    }
  }
  const auto rounded = [&](T x) {  // to the type, where that is narrower than what is computed in
    alignas(16) char stored[16];
    element.Put(stored, 0, x);
    return element.template As<T>(stored, 0);
  };
  const Scaling wide = ScalingOf(least, most);
  const T scale = rounded(static_cast<T>(wide.scale)), offset = static_cast<T>(wide.offset);
  for (int64_t place = 0; place < s.places(); ++place) {
    const bool good = finite(place);
    for (int64_t c = 0; c < s.channels; ++c) {
      const int64_t i = place * s.channels + c;
      out[i] = good ? static_cast<uint8_t>(
                          std::clamp<T>(rounded(rounded(at(i) * scale) + offset), T{0}, T{255}))
                    : s.bad_color[c];
    }
  }
}

absl::Status RunImage(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ImageState*>(state);
  const int64_t size = s.places() * s.channels;
  std::vector<uint8_t> pixels(size);
  std::string summary;
  for (int64_t i = 0; i < std::min(s.wanted, s.images); ++i) {
    if (s.type == DataType::kUint8) {
      std::copy_n(static_cast<const uint8_t*>(args.in[1]) + i * size, size, pixels.begin());
    } else {
      VisitFloat(s.type,
                 [&](auto element) { ToBytes(s, element, args.in[1], i * size, pixels.data()); });
    }
    TENON_ASSIGN_OR_RETURN(const std::string file,
                           EncodePng(pixels.data(), Shape({s.height, s.width, s.channels})));
    std::string image;
    WireWriter fields(&image);
    uint32_t number = 1;
    for (int64_t x : {s.height, s.width, s.channels})
      fields.Varint(number++, static_cast<uint64_t>(x));
    fields.Bytes(number, file);
    AddSummaryValue(&summary, [&](WireWriter& value) {
      value.Bytes(kTag, TagOf(StringAt(args.in[0], 0), "image", s.wanted, i));
      value.Bytes(kImage, image);
    });
  }
  PutString(args.out[0], 0, summary);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> ReadBadColor(const Prepare& p, int64_t channels) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf("bad_color"));
  TENON_ASSIGN_OR_RETURN(const std::string_view wire, attr.AsTensorWire());
  TENON_ASSIGN_OR_RETURN(const Tensor color, TensorFromWire(wire));
  if (color.dtype() != DataType::kUint8 || color.shape().rank() != 1 ||
      color.num_elements() < channels) {
    return p.Invalid(
        absl::StrCat("attribute 'bad_color' must be a vector of at least ", channels, " uint8"));
  }
  const auto* values = color.flat<uint8_t>();
  return std::vector<uint8_t>(values, values + color.num_elements());
}

absl::Status PrepareImage(Prepare& p) {
  const Shape& in = p.input_shape(1);
  if (p.input_shape(0).rank() != 0) return p.Invalid("'tag' must be a scalar");
  const int64_t channels = in.rank() == 4 ? in.dim(3) : 0;
  if (channels != 1 && channels != 3 && channels != 4)
    return p.Invalid(
        absl::StrCat("the images must be [batch, height, width, 1, 3 or 4], not ", in.ToString()));
  ImageState s{p.input_type(1), 0, in.dim(0), in.dim(1), in.dim(2), channels, {}};
  TENON_ASSIGN_OR_RETURN(s.wanted, p.AttrInt("max_images"));
  TENON_ASSIGN_OR_RETURN(s.bad_color, ReadBadColor(p, channels));
  p.set_output_shape(0, Shape());
  p.set_run(&RunImage, std::make_shared<ImageState>(std::move(s)));
  return absl::OkStatus();
}

struct AudioState {
  int64_t wanted, sounds, samples, channels;
  float rate;  // unless input 2 says so
  bool rate_input;
};

absl::Status RunAudio(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AudioState*>(state);
  const float rate = s.rate_input ? *static_cast<const float*>(args.in[2]) : s.rate;
  if (!(rate >= 1 && rate < 0x1p31F)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sample rate must be positive and fit int32, it is ", rate));
  }
  TENON_RETURN_IF_ERROR(CheckWavRate(static_cast<int64_t>(rate), s.channels));
  std::string summary;
  for (int64_t i = 0; i < std::min(s.wanted, s.sounds); ++i) {
    const auto* const samples = static_cast<const float*>(args.in[1]) + i * s.samples * s.channels;
    constexpr uint32_t kRate = 1, kChannels = 2, kLength = 3, kFile = 4, kType = 5;
    std::string audio;
    WireWriter fields(&audio);
    fields.Float(kRate, rate);
    fields.Varint(kChannels, static_cast<uint64_t>(s.channels));
    fields.Varint(kLength, static_cast<uint64_t>(s.samples));
    fields.Bytes(kFile, WavFile(samples, s.samples, s.channels, static_cast<int32_t>(rate)));
    fields.Bytes(kType, "audio/wav");
    AddSummaryValue(&summary, [&](WireWriter& value) {
      value.Bytes(kTag, TagOf(StringAt(args.in[0], 0), "audio", s.wanted, i));
      value.Bytes(kAudio, audio);
    });
  }
  PutString(args.out[0], 0, summary);
  return absl::OkStatus();
}

absl::Status PrepareAudio(Prepare& p) {
  const Shape& in = p.input_shape(1);
  if (p.input_shape(0).rank() != 0) return p.Invalid("'tag' must be a scalar");
  if (in.rank() != 2 && in.rank() != 3)
    return p.Invalid(absl::StrCat("the sounds must be [batch, samples] or [batch, samples, ",
                                  "channels], not ", in.ToString()));
  AudioState s{0, in.dim(0), in.dim(1), in.rank() == 3 ? in.dim(2) : 1, 0, p.num_inputs() == 3};
  TENON_ASSIGN_OR_RETURN(s.wanted, p.AttrInt("max_outputs"));
  if (!s.rate_input) {
    TENON_ASSIGN_OR_RETURN(s.rate, p.AttrFloat("sample_rate"));
  } else if (p.input_shape(2).num_elements() != 1) {
    return p.Invalid("'sample_rate' must hold one number");
  }
  TENON_RETURN_IF_ERROR(CheckWav(p, s.samples, s.channels));
  if (s.samples == 0) return p.Invalid("a sound has at least one sample");
  p.set_output_shape(0, Shape());
  p.set_run(&RunAudio, std::make_shared<AudioState>(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> MediaSummaryKernels() {
  constexpr uint64_t kImages =
      TypeBits(DataType::kUint8, DataType::kHalf, DataType::kFloat, DataType::kDouble);
  static const CpuKernelSpec specs[] = {
      {"ImageSummary", {{"T", kImages}}, PrepareImage},
      {"AudioSummary", {}, PrepareAudio},
      {"AudioSummaryV2", {}, PrepareAudio},
  };
  return specs;
}

}  // namespace tenon::cpu
