// Mfcc: mel-frequency cepstral coefficients of a spectrogram.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Triangles in the mel scale, each from the centre of the one before to the centre of the next one.
// A frequency lies below one triangle's peak and above another one's: its weight in the channel
// before, the rest goes to the channel after.
struct Filterbank {
  int64_t channels = 0;
  int64_t first = 0, last = -1;  // frequencies of the spectrum that count
  std::vector<int64_t> before;   // channel, -1: none
  std::vector<double> weight;
};

struct MfccState {
  int64_t frames = 0, frequencies = 0, coefficients = 0;
  Filterbank bank;
  std::vector<double> cosines;  // [coefficients, channels]
};

double Mel(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

Filterbank MakeFilterbank(int64_t channels, int64_t frequencies, double rate, double low,
                          double high) {
  Filterbank bank;
  bank.channels = channels;
  const double mel_low = Mel(low);
  const double spacing = (Mel(high) - mel_low) / static_cast<double>(channels + 1);
  const auto centre = [&](int64_t channel) {
    return mel_low + spacing * static_cast<double>(channel + 1);
  };
  const double hertz_per_bin = 0.5 * rate / static_cast<double>(frequencies - 1);
  const auto bin = [&](double at) {
    return static_cast<int64_t>(std::min(at, static_cast<double>(frequencies)));
  };
  bank.first = bin(1.5 + low / hertz_per_bin);  // never the constant part
  bank.last = bin(high / hertz_per_bin);
  bank.before.resize(frequencies);
  bank.weight.resize(frequencies);
  int64_t after = 0;
  for (int64_t i = bank.first; i <= std::min(bank.last, frequencies - 1); ++i) {
    const double mel = Mel(static_cast<double>(i) * hertz_per_bin);
    while (after < channels && centre(after) < mel) ++after;
    bank.before[i] = after - 1;
    bank.weight[i] = (centre(after) - mel) / spacing;
  }
  return bank;
}

// The energies of the channels from the squared magnitudes of a spectrum.
void Filter(const Filterbank& bank, const float* spectrum, double* energy) {
  std::fill_n(energy, bank.channels, 0.0);
  for (int64_t i = bank.first; i <= bank.last; ++i) {
    const double magnitude = std::sqrt(static_cast<double>(spectrum[i]));
    const double weighted = magnitude * bank.weight[i];
    const int64_t before = bank.before[i];
    if (before >= 0) energy[before] += weighted;
    if (before + 1 < bank.channels) energy[before + 1] += magnitude - weighted;
  }
}

void ComputeFrame(const MfccState& s, const float* spectrum, double* energy, float* out) {
  // Keeps the logarithm of an empty channel finite. TensorFlow's value, which shows in the result.
  constexpr double kFloor = 1e-12;
  Filter(s.bank, spectrum, energy);
  for (int64_t c = 0; c < s.bank.channels; ++c)
    energy[c] = std::log(energy[c] < kFloor ? kFloor : energy[c]);
  for (int64_t i = 0; i < s.coefficients; ++i) {
    const double* cosines = s.cosines.data() + i * s.bank.channels;
    double sum = 0;
    for (int64_t c = 0; c < s.bank.channels; ++c) sum += cosines[c] * energy[c];
    out[i] = static_cast<float>(sum);
  }
}

absl::Status RunMfcc(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MfccState*>(state);
  const float* in = static_cast<const float*>(args.in[0]);
  float* out = static_cast<float*>(args.out[0]);
  // A band that reaches beyond the spectrum has no energies, in TensorFlow as here.
  if (s.bank.last >= s.frequencies) {
    std::fill_n(out, s.frames * s.coefficients, 0.0f);
    return absl::OkStatus();
  }
  double* const energy = static_cast<double*>(args.scratch);
  for (int64_t i = 0; i < s.frames; ++i)
    ComputeFrame(s, in + i * s.frequencies, energy, out + i * s.coefficients);
  return absl::OkStatus();
}

struct MfccAttrs {
  int64_t channels, coefficients;
  double low, high, rate;
};

absl::StatusOr<MfccAttrs> ReadAttrs(const Prepare& p) {
  MfccAttrs a;
  TENON_ASSIGN_OR_RETURN(a.channels, p.AttrInt("filterbank_channel_count"));
  TENON_ASSIGN_OR_RETURN(a.coefficients, p.AttrInt("dct_coefficient_count"));
  TENON_ASSIGN_OR_RETURN(a.low, p.AttrFloat("lower_frequency_limit"));
  TENON_ASSIGN_OR_RETURN(a.high, p.AttrFloat("upper_frequency_limit"));
  if (p.input_shape(1).rank() != 0) {
    return p.Invalid(
        absl::StrCat("sample_rate must be a scalar, not ", p.input_shape(1).ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t rate, InputInt(p, 1));
  a.rate = static_cast<double>(rate);
  if (rate <= 0) return p.Invalid(absl::StrCat("sample_rate must be positive, it is ", rate));
  if (a.coefficients < 1 || a.channels < a.coefficients) {
    return p.Invalid(
        absl::StrCat("dct_coefficient_count must be at least 1 and at most "
                     "filterbank_channel_count, ",
                     a.channels, ", it is ", a.coefficients));
  }
  if (!(a.low >= 0 && a.high > a.low && std::isfinite(a.high))) {
    return p.Invalid(absl::StrCat("the frequency limits must be 0 <= lower < upper, they are ",
                                  a.low, " and ", a.high));
  }
  constexpr int64_t kMostCosines = int64_t{1} << 26;
  if (a.channels > kMostCosines / a.coefficients) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "there is no memory for ", a.channels, " channels and ", a.coefficients, " coefficients"));
  }
  return a;
}

absl::Status PrepareMfcc(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() != 3)
    return p.Invalid(absl::StrCat("the spectrogram must have rank 3, it is ", in.ToString()));
  if (in.dim(2) < 2)
    return p.Invalid(absl::StrCat("a spectrum must have 2 values or more, not ", in.dim(2)));
  TENON_ASSIGN_OR_RETURN(const MfccAttrs a, ReadAttrs(p));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {in.dim(0), in.dim(1), a.coefficients}));
  p.set_output_shape(0, out);
  if (out.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<MfccState>();
  s->frames = in.dim(0) * in.dim(1);
  s->frequencies = in.dim(2);
  s->coefficients = a.coefficients;
  s->bank = MakeFilterbank(a.channels, s->frequencies, a.rate, a.low, a.high);
  // A discrete cosine transform, DCT-II. As in TensorFlow, the first coefficient is scaled like all
  // others.
  s->cosines.resize(a.coefficients * a.channels);
  const auto n = static_cast<double>(a.channels);
  for (int64_t i = 0; i < a.coefficients; ++i) {
    for (int64_t c = 0; c < a.channels; ++c) {
      s->cosines[i * a.channels + c] =
          std::sqrt(2.0 / n) *
          std::cos(static_cast<double>(i) * std::numbers::pi / n * (static_cast<double>(c) + 0.5));
    }
  }
  p.set_scratch_bytes(a.channels * sizeof(double));
  p.set_run(&RunMfcc, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> MfccKernels() {
  static const CpuKernelSpec specs[] = {
      {"Mfcc", {}, PrepareMfcc, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
