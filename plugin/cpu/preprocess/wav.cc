// DecodeWav, EncodeWav: sound as 16-bit samples.
#include "plugin/cpu/preprocess/wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kSampleBytes = 2;
// -32768 becomes -1 exactly; the greatest sample, 32767, stays below 1.
constexpr float kFullScale = 32768;

struct Wav {
  std::string_view samples;  // interleaved
  int64_t channels = 0;
  int32_t rate = 0;
};

absl::Status MalformedWav(std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("WAV: ", why));
}

// WAV is little-endian, as are the machines that this is built for.
uint32_t Load(std::string_view data, size_t at, size_t bytes) {
  uint32_t value = 0;
  memcpy(&value, data.data() + at, bytes);
  return value;
}

absl::Status ReadFormat(std::string_view chunk, Wav* wav) {
  if (chunk.size() < 16) return MalformedWav("the format chunk is too short");
  const uint32_t format = Load(chunk, 0, 2), bits = Load(chunk, 14, 2);
  wav->channels = Load(chunk, 2, 2);
  const uint32_t rate = Load(chunk, 4, 4);
  // Format 1 is linear PCM.
  if (format != 1 || bits != 16)
    return MalformedWav(
        absl::StrCat("format ", format, " of ", bits, " bits is not PCM of 16 bits"));
  if (wav->channels < 1) return MalformedWav("there are no channels");
  if (rate < 1 || rate > INT32_MAX) return MalformedWav("the rate of samples does not fit int32");
  if (Load(chunk, 12, 2) != kSampleBytes * wav->channels ||
      Load(chunk, 8, 4) != static_cast<uint32_t>(kSampleBytes * wav->channels * rate)) {
    return MalformedWav("bytes per sample and per second contradict the rest of the format");
  }
  wav->rate = static_cast<int32_t>(rate);
  return absl::OkStatus();
}

absl::StatusOr<Wav> ReadWav(std::string_view data) {
  constexpr size_t kHead = 12, kChunkHead = 8;
  if (data.size() < kHead || data.substr(0, 4) != "RIFF" || data.substr(8, 4) != "WAVE")
    return MalformedWav(absl::StrCat("the ", data.size(), " bytes do not begin as such a file"));
  Wav wav;
  bool has_samples = false;
  for (data.remove_prefix(kHead); data.size() >= kChunkHead;) {
    const std::string_view name = data.substr(0, 4);
    const size_t size = Load(data, 4, 4);
    data.remove_prefix(kChunkHead);
    const bool is_samples = name == "data";
    if (is_samples && has_samples) return MalformedWav("there is more than one chunk of data");
    // Behind the samples the rest counts for nothing, so it may be cut off, as in TensorFlow.
    if (size > data.size() && has_samples) break;
    if (size > data.size()) {
      return MalformedWav(absl::StrCat("chunk '", name, "' has ", size, " bytes, but only ",
                                       data.size(), " are left"));
    }
    // Unknown chunks are passed over. The byte that RIFF puts behind a chunk of odd size is not.
    const std::string_view chunk = data.substr(0, size);
    data.remove_prefix(size);
    if (is_samples) {
      if (wav.channels == 0) return MalformedWav("the data come before the format");
      wav.samples = chunk;
      has_samples = true;
    } else if (name == "fmt " && wav.channels == 0) {  // only the first one counts
      TENON_RETURN_IF_ERROR(ReadFormat(chunk, &wav));
    }
  }
  if (!has_samples) return MalformedWav("there is no chunk of data");
  return wav;
}

struct Decode {
  int64_t channels, samples;  // wanted; -1: those of the file
};

absl::Status RunDecode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Decode*>(state);
  TENON_ASSIGN_OR_RETURN(const Wav wav, ReadWav(StringAt(args.in[0], 0)));
  const int64_t there = static_cast<int64_t>(wav.samples.size()) / (kSampleBytes * wav.channels);
  const int64_t channels = s.channels < 0 ? wav.channels : s.channels;
  const int64_t samples = s.samples < 0 ? there : s.samples;
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({samples, channels}));
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(0, shape));
  auto* to = static_cast<float*>(out);
  // Missing channels repeat the last one, missing samples are silent.
  for (int64_t i = 0; i < samples; ++i) {
    for (int64_t c = 0; c < channels; ++c, ++to) {
      const int64_t at = i * wav.channels + std::min(c, wav.channels - 1);
      int16_t sample = 0;
      if (i < there) memcpy(&sample, wav.samples.data() + at * kSampleBytes, kSampleBytes);
      *to = static_cast<float>(sample) / kFullScale;
    }
  }
  *static_cast<int32_t*>(args.out[1]) = wav.rate;
  return absl::OkStatus();
}

absl::Status PrepareDecode(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("the contents must be a scalar");
  Decode s;
  TENON_ASSIGN_OR_RETURN(s.channels, p.AttrInt("desired_channels"));
  TENON_ASSIGN_OR_RETURN(s.samples, p.AttrInt("desired_samples"));
  p.set_dynamic_output(0);
  p.set_output_shape(1, Shape());
  p.set_run(&RunDecode, std::make_shared<Decode>(s));
  return absl::OkStatus();
}

struct Encode {
  int64_t samples, channels;
};

absl::Status RunEncode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Encode*>(state);
  const int32_t rate = *static_cast<const int32_t*>(args.in[1]);
  if (rate <= 0)
    return absl::InvalidArgumentError(absl::StrCat("the sample rate must be positive: ", rate));
  TENON_RETURN_IF_ERROR(CheckWavRate(rate, s.channels));
  PutString(args.out[0], 0,
            WavFile(static_cast<const float*>(args.in[0]), s.samples, s.channels, rate));
  return absl::OkStatus();
}

absl::Status PrepareEncode(Prepare& p) {
  const Shape& audio = p.input_shape(0);
  if (audio.rank() != 2) return p.Invalid("the audio must be a matrix of samples and channels");
  if (p.input_shape(1).rank() != 0) return p.Invalid("the sample rate must be a scalar");
  TENON_RETURN_IF_ERROR(CheckWav(p, audio.dim(0), audio.dim(1)));
  p.set_output_shape(0, Shape());
  p.set_run(&RunEncode, std::make_shared<Encode>(Encode{audio.dim(0), audio.dim(1)}));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckWav(const Prepare& p, int64_t samples, int64_t channels) {
  // The file counts the bytes of a sample of all channels in 16 bits.
  if (channels < 1 || channels > UINT16_MAX / kSampleBytes)
    return p.Invalid(absl::StrCat("a WAV file has 1 to 32767 channels, not ", channels));
  // Sizes in the file are of 32 bits, and the outermost counts 36 bytes of heads too.
  if (samples > (int64_t{UINT32_MAX} - 36) / kSampleBytes / channels)
    return p.Invalid("the samples are too many for a WAV file");
  return absl::OkStatus();
}

absl::Status CheckWavRate(int64_t rate, int64_t channels) {
  if (rate * channels * kSampleBytes <= UINT32_MAX) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a WAV file has fewer than 2^32 bytes a second, ",
                                                 rate, " samples of ", channels,
                                                 " channels are more"));
}

std::string WavFile(const float* values, int64_t samples, int64_t channels, int32_t rate) {
  const int64_t bytes = samples * channels * kSampleBytes;
  std::string file;
  file.reserve(44 + bytes);
  const auto put = [&](int64_t value, size_t size) {
    file.append(reinterpret_cast<const char*>(&value), size);
  };
  file += "RIFF";
  // What follows these 8 bytes: 4 of "WAVE", 24 of the format chunk, 8 of the data chunk's head.
  put(36 + bytes, 4);
  file += "WAVEfmt ";
  put(16, 4);
  put(1, 2);
  put(channels, 2);
  put(rate, 4);
  put(rate * channels * kSampleBytes, 4);
  put(channels * kSampleBytes, 2);
  put(8 * kSampleBytes, 2);
  file += "data";
  put(bytes, 4);
  for (int64_t i = 0; i < samples * channels; ++i) {
    const float x = values[i];
    // 1 is clamped to 32767. A NaN becomes silence, since its conversion to an integer is
    // undefined.
    const float scaled = std::isnan(x) ? 0 : std::round(x * kFullScale);
    put(static_cast<int64_t>(std::clamp(scaled, -kFullScale, kFullScale - 1)), kSampleBytes);
  }
  return file;
}

absl::Span<const CpuKernelSpec> WavKernels() {
  static const CpuKernelSpec specs[] = {
      {"DecodeWav", {}, PrepareDecode},
      {"EncodeWav", {}, PrepareEncode},
  };
  return specs;
}

}  // namespace tenon::cpu
