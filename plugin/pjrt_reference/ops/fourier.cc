// fft: FFT, IFFT, RFFT and IRFFT over the last axes, in complex<double>.
#include <cmath>
#include <complex>

#include "checks.h"
#include "families.h"

namespace pjref {
namespace {

using Complex = std::complex<double>;

constexpr double kWholeTurn = 6.28318530717958647692;

void CheckFft(const Op& op) {
  CheckCounts(op, 1, 1);
  const std::string kind = op.Word("fft_type");
  const Type& in = op.operand_types[0];
  const Dims length = op.Integers("fft_length");
  const int64_t axes = static_cast<int64_t>(length.size()), rank = in.rank();
  CheckThat(op, axes >= 1 && axes <= 3 && axes <= rank,
            "fft_length must have 1 to 3 elements and no more than the operand has axes");
  const bool real_in = kind == "RFFT", real_out = kind == "IRFFT";
  CheckThat(op, kind == "FFT" || kind == "IFFT" || real_in || real_out,
            "fft_type must be FFT, IFFT, RFFT or IRFFT");
  CheckThat(
      op,
      real_in ? in.element == Element::kF32 || in.element == Element::kF64 : IsComplex(in.element),
      "does not take '" + ToString(in) + "' for " + kind);
  Type out = in;
  for (int64_t i = 0; i < axes; ++i) {
    const int64_t axis = rank - axes + i;
    const bool half = real_out && i == axes - 1;
    CheckThat(
        op, length[i] >= 0 && in.dims[axis] == (half ? length[i] / 2 + 1 : length[i]),
        "fft_length does not fit axis " + std::to_string(axis) + " of '" + ToString(in) + "'");
    out.dims[axis] = length[i];
  }
  if (real_in) {
    out.dims.back() = length.back() / 2 + 1;
    out.element = in.element == Element::kF32 ? Element::kC64 : Element::kC128;
  }
  if (real_out) out.element = RealPart(in.element);
  CheckResult(op, 0, out);
}

// values[k] becomes the sum over j of values[j] * exp(sign * 2 pi i j k / n). Splits off the least
// factor of n.
void Transform(std::vector<Complex>* values, double sign) {
  const size_t n = values->size();
  size_t factor = 2;
  while (factor < n && n % factor != 0) ++factor;
  if (n <= 1) return;
  const size_t rest = n / factor;
  std::vector<std::vector<Complex>> parts(factor, std::vector<Complex>(rest));
  for (size_t i = 0; i < n; ++i) parts[i % factor][i / factor] = (*values)[i];
  for (auto& part : parts) Transform(&part, sign);
  for (size_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (size_t part = 0; part < factor; ++part) {
      const double angle =
          sign * kWholeTurn * static_cast<double>(part * k % n) / static_cast<double>(n);
      sum += parts[part][k % rest] * Complex(std::cos(angle), std::sin(angle));
    }
    (*values)[k] = sum;
  }
}

// Transforms along `axis` of an array of `dims`.
void TransformAxis(std::vector<Complex>* values, const Dims& dims, int64_t axis, double sign) {
  const int64_t length = dims[axis], step = StridesOf(dims)[axis];
  if (values->empty()) return;
  std::vector<Complex> line(static_cast<size_t>(length));
  const int64_t lines = static_cast<int64_t>(values->size()) / length;
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t start = i / step * step * length + i % step;
    for (int64_t k = 0; k < length; ++k) line[k] = (*values)[start + k * step];
    Transform(&line, sign);
    for (int64_t k = 0; k < length; ++k) (*values)[start + k * step] = line[k];
  }
}

// The last axis with what is left out of real data's spectra: element n - k is the conjugate of
// element k, the other axes reversed. What the inverse transform along them made is real, so only
// the last axis needs it.
std::vector<Complex> WithConjugates(const std::vector<Complex>& half, int64_t kept,
                                    int64_t length) {
  const auto lines = static_cast<int64_t>(half.size()) / kept;
  std::vector<Complex> whole(static_cast<size_t>(lines * length));
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t k = 0; k < length; ++k) {
      whole[line * length + k] =
          k < kept ? half[line * kept + k] : std::conj(half[line * kept + length - k]);
    }
  }
  return whole;
}

void Fft(Frame* frame, const Op& op) {
  const std::string kind = op.Word("fft_type");
  const Array& in = frame->In(op, 0);
  const Dims length = op.Integers("fft_length");
  const int64_t axes = static_cast<int64_t>(length.size()), rank = in.type().rank();
  const bool inverse = kind == "IFFT" || kind == "IRFFT";
  std::vector<Complex> values;
  if (kind == "RFFT") {
    const std::vector<double> reals = LoadAll<double>(in);
    values.assign(reals.begin(), reals.end());
  } else {
    values = LoadAll<Complex>(in);
  }
  Array out(op.result_types[0]);
  if (out.count() == 0) return frame->Out(op, std::move(out));
  Dims dims = in.dims();
  const double sign = inverse ? 1 : -1;
  // The last axis goes first forwards and last backwards, where the spectrum is halved along it.
  for (int64_t i = 1; i < axes; ++i) {
    if (inverse) TransformAxis(&values, dims, rank - 1 - i, sign);
  }
  if (kind == "IRFFT") {
    values = WithConjugates(values, dims.back(), length.back());
    dims.back() = length.back();
  }
  TransformAxis(&values, dims, rank - 1, sign);
  for (int64_t i = 1; i < axes; ++i) {
    if (!inverse) TransformAxis(&values, dims, rank - 1 - i, sign);
  }
  double scale = 1;
  for (int64_t n : length) scale /= inverse ? static_cast<double>(n) : 1;
  for (Complex& value : values) value *= scale;
  if (kind == "RFFT") {
    const int64_t kept = out.dims().back(), whole = length.back();
    for (int64_t line = 0; line < out.count() / kept; ++line)
      Store(&values[line * whole], line * kept, kept, out);
  } else if (kind == "IRFFT") {
    std::vector<double> reals;
    for (const Complex& value : values) reals.push_back(value.real());
    Store(reals.data(), 0, out.count(), out);
  } else {
    Store(values.data(), 0, out.count(), out);
  }
  frame->Out(op, std::move(out));
}

}  // namespace

const std::vector<OpRow>& FourierRows() {
  static const std::vector<OpRow> kRows = {{"stablehlo.fft", &CheckFft, &Fft, nullptr}};
  return kRows;
}

}  // namespace pjref
