// FFT, IFFT, RFFT, IRFFT of the last one, two or three dimensions: line after line of each of them,
// in double precision.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/fourier/fourier.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

using Complex = Fourier::Complex;
// Sizes of the three transformed dimensions; where fewer are, the first ones are 1.
using Extents = std::array<int64_t, 3>;

enum class Kind { kForward, kInverse, kRealForward, kRealInverse };

// A tensor as batch, then three dimensions.
struct Signal {
  enum Place { kInput, kWork, kOutput };
  Place place = kInput;
  DataType type = DataType::kComplex128;
  Extents extents = {1, 1, 1};

  int64_t stride(int axis) const {
    int64_t n = 1;
    for (int d = axis + 1; d < 3; ++d) n *= extents[d];
    return n;
  }
  int64_t elements() const { return extents[0] * stride(0); }
};

// One transform of every line along one axis.
struct Pass {
  std::shared_ptr<const Fourier> transform;
  int axis = 0;
  Signal from, to;
  Extents lines;  // numbers of lines along each dimension, 1 along the axis
  double scale = 1;
};

struct FftState {
  int64_t batch = 1;
  bool inverse = false;
  int64_t work = 0;          // complex numbers between the passes
  int64_t pieces = 1;        // of the lines of a pass, each with scratch of its own
  int64_t line_scratch = 0;  // complex numbers
  std::vector<Pass> passes;
};

template <typename F>
void VisitSignalType(DataType type, F&& f) {
  switch (type) {
    case DataType::kFloat:
      return f(PlainElement<float>());
    case DataType::kDouble:
      return f(PlainElement<double>());
    case DataType::kComplex64:
      return f(PlainElement<std::complex<float>>());
    default:
      return f(PlainElement<Complex>());
  }
}

// Elements at `at`, `at` + stride, ... ; those that the signal does not have are left alone.
void ReadLine(const Signal& from, const void* data, int64_t at, int axis, int64_t count,
              Complex* line) {
  const int64_t stride = from.stride(axis);
  VisitSignalType(from.type, [&](auto element) {
    for (int64_t j = 0; j < count; ++j)
      line[j] = element.template As<Complex>(data, at + j * stride);
  });
}

void WriteLine(const Signal& to, void* data, int64_t at, int axis, double scale,
               const Complex* line) {
  const int64_t stride = to.stride(axis);
  VisitSignalType(to.type, [&](auto element) {
    for (int64_t j = 0; j < to.extents[axis]; ++j)
      element.Put(data, at + j * stride, line[j] * scale);
  });
}

// The second half of the spectrum of a real signal mirrors the first; what has to be real is.
void MirrorSpectrum(Complex* line, int64_t length) {
  // The spectrum of a real signal is real at frequency 0 and, for an even length, at the middle.
  line[0] = line[0].real();
  if (length % 2 == 0) line[length / 2] = line[length / 2].real();
  for (int64_t k = 1; k < (length + 1) / 2; ++k) line[length - k] = std::conj(line[k]);
}

void RunLine(const FftState& s, const Pass& pass, const void* from, void* to, int64_t number,
             Complex* scratch) {
  int64_t rest = number, read_at = 0, write_at = 0;
  for (int d = 2; d >= 0; --d) {
    const int64_t i = rest % pass.lines[d];
    rest /= pass.lines[d];
    read_at += i * pass.from.stride(d);
    write_at += i * pass.to.stride(d);
  }
  const int64_t length = pass.transform->length();
  const bool mirror = s.inverse && !IsComplex(pass.to.type);
  ReadLine(pass.from, from, read_at + rest * pass.from.elements(), pass.axis,
           mirror ? length / 2 + 1 : length, scratch);
  if (mirror) MirrorSpectrum(scratch, length);
  pass.transform->Transform(scratch, s.inverse, scratch + length);
  WriteLine(pass.to, to, write_at + rest * pass.to.elements(), pass.axis, pass.scale, scratch);
}

absl::Status RunFft(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FftState*>(state);
  Complex* const work = static_cast<Complex*>(args.scratch);
  const auto place = [&](const Signal& signal) -> void* {
    if (signal.place == Signal::kInput) return args.in[0];
    return signal.place == Signal::kWork ? work : args.out[0];
  };
  for (const Pass& pass : s.passes) {
    // A pass needs whole lines of what the pass before it made, so passes follow each other. A pass
    // from `work` to `work` keeps each line's places: the line goes through scratch.
    const int64_t lines = s.batch * pass.lines[0] * pass.lines[1] * pass.lines[2];
    const int64_t per_piece = (lines + s.pieces - 1) / s.pieces;
    args.workers->ParallelFor(s.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        Complex* const scratch = work + s.work + piece * s.line_scratch;
        const int64_t last = std::min(lines, (piece + 1) * per_piece);
        for (int64_t i = piece * per_piece; i < last; ++i)
          RunLine(s, pass, place(pass.from), place(pass.to), i, scratch);
      }
    });
  }
  return absl::OkStatus();
}

// The output is nothing but zeros: the transform of an empty signal.
absl::Status RunZeros(const void* state, const StepArgs& args) {
  memset(args.out[0], 0, *static_cast<const size_t*>(state));
  return absl::OkStatus();
}

// The lengths of the transforms: of the input's dimensions, or fft_length.
absl::StatusOr<Extents> ReadLengths(const Prepare& p, int rank, bool real) {
  const Shape& in = p.input_shape(0);
  Extents lengths = {1, 1, 1};
  for (int d = 0; d < rank; ++d) lengths[3 - rank + d] = in.dim(in.rank() - rank + d);
  if (!real) return lengths;
  TENON_ASSIGN_OR_RETURN(const Dims given, p.InputInts(1));
  if (p.input_shape(1).rank() != 1 || static_cast<int>(given.size()) != rank) {
    return p.Invalid(absl::StrCat("fft_length must hold ", rank, " values, its shape is ",
                                  p.input_shape(1).ToString()));
  }
  for (int d = 0; d < rank; ++d) {
    if (given[d] < 0)
      return p.Invalid(absl::StrCat("fft_length[", d, "] must not be negative, it is ", given[d]));
    lengths[3 - rank + d] = given[d];
  }
  return lengths;
}

// Half of the spectrum of a real signal of `length`.
int64_t HalfSpectrum(int64_t length) { return length / 2 + 1; }

// Adds the pass along `axis`, which makes `signal` one of these extents.
absl::Status AddPass(FftState& s, int64_t length, int axis, const Extents& extents,
                     Signal& signal) {
  Pass pass;
  TENON_ASSIGN_OR_RETURN(pass.transform, Fourier::Make(length));
  pass.axis = axis;
  pass.from = signal;
  pass.to.place = Signal::kWork;
  pass.to.extents = extents;
  pass.lines = extents;
  pass.lines[axis] = 1;
  signal = pass.to;
  s.passes.push_back(std::move(pass));
  return absl::OkStatus();
}

absl::Status SetScratch(Prepare& p, FftState& s) {
  double lines = 0;
  for (const Pass& pass : s.passes) {
    s.line_scratch =
        std::max(s.line_scratch, pass.transform->length() + pass.transform->scratch_size());
    lines = std::max(lines, 1.0 * s.batch * pass.lines[0] * pass.lines[1] * pass.lines[2]);
    if (pass.to.place == Signal::kWork) s.work = std::max(s.work, s.batch * pass.to.elements());
  }
  // Enough pieces to level out the threads, none so small that waking a thread costs more.
  const double work = lines * static_cast<double>(s.line_scratch);
  s.pieces = static_cast<int64_t>(
      std::min({4.0 * p.workers().threads(), lines, std::max(1.0, work / 8192)}));
  if (p.workers().threads() == 1) s.pieces = 1;
  const double bytes =
      sizeof(Complex) * (static_cast<double>(s.work) + 1.0 * s.pieces * s.line_scratch);
  // The products above are in double, which cannot overflow; the cast to size_t below could.
  if (bytes > 1e15) return absl::ResourceExhaustedError("the signal is too large");
  p.set_scratch_bytes(static_cast<size_t>(bytes));
  return absl::OkStatus();
}

absl::Status CheckTypes(const Prepare& p) {
  const auto wide = [](DataType t) { return t == DataType::kDouble || t == DataType::kComplex128; };
  if (wide(p.input_type(0)) == wide(p.output_type(0))) return absl::OkStatus();
  return p.Invalid(absl::StrCat("input and output must be of one precision, not ",
                                DataTypeName(p.input_type(0)), " and ",
                                DataTypeName(p.output_type(0))));
}

absl::Status PrepareFft(Prepare& p, int rank, Kind kind) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < rank) {
    return p.Invalid(
        absl::StrCat("the input must have at least rank ", rank, ", it is ", in.ToString()));
  }
  TENON_RETURN_IF_ERROR(CheckTypes(p));
  const bool real = kind == Kind::kRealForward || kind == Kind::kRealInverse;
  TENON_ASSIGN_OR_RETURN(const Extents lengths, ReadLengths(p, rank, real));
  auto s = std::make_shared<FftState>();
  s->inverse = kind == Kind::kInverse || kind == Kind::kRealInverse;
  s->batch = DimProduct(in, 0, in.rank() - rank);
  Shape out = in;
  Signal signal;
  signal.type = p.input_type(0);
  for (int d = 3 - rank; d < 3; ++d) {
    const int dim = in.rank() - 3 + d;
    const bool half = real && d == 2;
    signal.extents[d] = in.dim(dim);
    const int64_t needed = half && s->inverse ? HalfSpectrum(lengths[d]) : lengths[d];
    // TensorFlow cuts a longer input and refuses a shorter one. An empty one is the transform of
    // nothing.
    if (in.dim(dim) != 0 && in.dim(dim) < needed) {
      return p.Invalid(absl::StrCat("dimension ", dim, " of the input must be at least ", needed,
                                    ", it is ", in.dim(dim)));
    }
    out.set_dim(dim, half && !s->inverse && lengths[d] > 0 ? HalfSpectrum(lengths[d]) : lengths[d]);
  }
  TENON_ASSIGN_OR_RETURN(out, CheckedShape(p, out.dims()));
  p.set_output_shape(0, out);
  if (out.num_elements() == 0) return absl::OkStatus();
  if (in.num_elements() == 0) {
    p.set_run(&RunZeros,
              std::make_shared<size_t>(out.num_elements() * DataTypeSize(p.output_type(0))));
    return absl::OkStatus();
  }
  // The real side is the last dimension's: forward it comes first, inverse last.
  Extents spectrum = lengths;
  if (real) spectrum[2] = HalfSpectrum(lengths[2]);
  for (int i = 0; i < rank; ++i) {
    const int axis = kind == Kind::kRealInverse ? 3 - rank + i : 2 - i;
    const bool to_real = kind == Kind::kRealInverse && axis == 2;
    TENON_RETURN_IF_ERROR(AddPass(*s, lengths[axis], axis, to_real ? lengths : spectrum, signal));
  }
  Pass& last = s->passes.back();
  last.to.place = Signal::kOutput;
  last.to.type = p.output_type(0);
  if (s->inverse) {
    // Once, at the last pass, in double.
    for (int64_t length : lengths) last.scale /= static_cast<double>(length);
  }
  TENON_RETURN_IF_ERROR(SetScratch(p, *s));
  p.set_run(&RunFft, std::move(s));
  return absl::OkStatus();
}

template <int kRank, Kind kKind>
absl::Status PrepareOf(Prepare& p) {
  return PrepareFft(p, kRank, kKind);
}

}  // namespace

absl::Span<const CpuKernelSpec> FftKernels() {
  static const CpuKernelSpec specs[] = {
      {"FFT", {}, PrepareOf<1, Kind::kForward>},
      {"FFT2D", {}, PrepareOf<2, Kind::kForward>},
      {"FFT3D", {}, PrepareOf<3, Kind::kForward>},
      {"IFFT", {}, PrepareOf<1, Kind::kInverse>},
      {"IFFT2D", {}, PrepareOf<2, Kind::kInverse>},
      {"IFFT3D", {}, PrepareOf<3, Kind::kInverse>},
      {"BatchFFT", {}, PrepareOf<1, Kind::kForward>},
      {"BatchFFT2D", {}, PrepareOf<2, Kind::kForward>},
      {"BatchFFT3D", {}, PrepareOf<3, Kind::kForward>},
      {"BatchIFFT", {}, PrepareOf<1, Kind::kInverse>},
      {"BatchIFFT2D", {}, PrepareOf<2, Kind::kInverse>},
      {"BatchIFFT3D", {}, PrepareOf<3, Kind::kInverse>},
      {"RFFT", {}, PrepareOf<1, Kind::kRealForward>, 0b10},
      {"RFFT2D", {}, PrepareOf<2, Kind::kRealForward>, 0b10},
      {"RFFT3D", {}, PrepareOf<3, Kind::kRealForward>, 0b10},
      {"IRFFT", {}, PrepareOf<1, Kind::kRealInverse>, 0b10},
      {"IRFFT2D", {}, PrepareOf<2, Kind::kRealInverse>, 0b10},
      {"IRFFT3D", {}, PrepareOf<3, Kind::kRealInverse>, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
