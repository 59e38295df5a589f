// AudioSpectrogram: the spectrum of overlapping windows of a signal.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/fourier/fourier.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

using Complex = Fourier::Complex;

struct SpectrogramState {
  int64_t channels = 0, windows = 0, stride = 0;
  bool squared = false;
  std::vector<double> shape;  // of a window: Hann's, periodic
  std::shared_ptr<const Fourier> transform;
  int64_t pieces = 1, piece_scratch = 0;

  int64_t frequencies() const { return transform->length() / 2 + 1; }
};

// Window `number` of a channel; samples of the channels are interleaved.
void ComputeWindow(const SpectrogramState& s, const float* samples, int64_t channel, int64_t number,
                   Complex* scratch, float* out) {
  const auto size = static_cast<int64_t>(s.shape.size());
  const float* in = samples + number * s.stride * s.channels + channel;
  for (int64_t j = 0; j < size; ++j) scratch[j] = in[j * s.channels] * s.shape[j];
  std::fill(scratch + size, scratch + s.transform->length(), Complex());
  s.transform->Transform(scratch, /*inverse=*/false, scratch + s.transform->length());
  for (int64_t k = 0; k < s.frequencies(); ++k) {
    const auto power = static_cast<float>(std::norm(scratch[k]));
    out[k] = s.squared ? power : std::sqrt(power);
  }
}

absl::Status RunSpectrogram(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SpectrogramState*>(state);
  const int64_t all = s.channels * s.windows;
  const int64_t per_piece = (all + s.pieces - 1) / s.pieces;
  args.workers->ParallelFor(s.pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      Complex* const scratch = static_cast<Complex*>(args.scratch) + piece * s.piece_scratch;
      const int64_t last = std::min(all, (piece + 1) * per_piece);
      for (int64_t i = piece * per_piece; i < last; ++i) {
        ComputeWindow(s, static_cast<const float*>(args.in[0]), i / s.windows, i % s.windows,
                      scratch, static_cast<float*>(args.out[0]) + i * s.frequencies());
      }
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadSize(const Prepare& p, std::string_view attr, int64_t least) {
  TENON_ASSIGN_OR_RETURN(const int64_t value, p.AttrInt(attr));
  if (value >= least && value <= std::numeric_limits<int32_t>::max()) return value;
  return p.Invalid(absl::StrCat(attr, " must be an int32 of at least ", least, ", it is ", value));
}

absl::Status PrepareSpectrogram(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (in.rank() != 2)
    return p.Invalid(absl::StrCat("the input must be [samples, channels], not ", in.ToString()));
  TENON_ASSIGN_OR_RETURN(const int64_t size, ReadSize(p, "window_size", 2));
  auto s = std::make_shared<SpectrogramState>();
  TENON_ASSIGN_OR_RETURN(s->stride, ReadSize(p, "stride", 1));
  TENON_ASSIGN_OR_RETURN(s->squared, p.AttrBool("magnitude_squared"));
  s->channels = in.dim(1);
  s->windows = in.dim(0) < size ? 0 : (in.dim(0) - size) / s->stride + 1;
  const auto length = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
  TENON_ASSIGN_OR_RETURN(const Shape out,
                         CheckedShape(p, {s->channels, s->windows, length / 2 + 1}));
  p.set_output_shape(0, out);
  if (out.num_elements() == 0) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(s->transform, Fourier::Make(length));
  s->shape.resize(size);
  for (int64_t j = 0; j < size; ++j)
    s->shape[j] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(j) / size);
  s->piece_scratch = length + s->transform->scratch_size();
  s->pieces = std::min<int64_t>(s->channels * s->windows, 4 * p.workers().threads());
  p.set_scratch_bytes(s->pieces * s->piece_scratch * sizeof(Complex));
  p.set_run(&RunSpectrogram, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SpectrogramKernels() {
  static const CpuKernelSpec specs[] = {
      {"AudioSpectrogram", {}, PrepareSpectrogram},
  };
  return specs;
}

}  // namespace tenon::cpu
