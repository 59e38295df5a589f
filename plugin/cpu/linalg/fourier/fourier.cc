// Discrete Fourier transforms of any length in double precision: Stockham's algorithm for lengths
// of small factors, Bluestein's convolution for all others.
#include "plugin/cpu/linalg/fourier/fourier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <numbers>

#include "absl/strings/str_cat.h"

namespace tenon::cpu {
namespace {

using Complex = Fourier::Complex;

// Beyond it a convolution is cheaper than a butterfly of that size.
constexpr int64_t kLargestRadix = 31;
// Squares of indices and the length of a convolution stay far within int64.
constexpr int64_t kLongest = int64_t{1} << 30;

// A product that is not the C99 one: no check for NaN.
Complex Multiply(Complex x, Complex y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

// x * -i.
Complex MinusI(Complex x) { return {x.imag(), -x.real()}; }

// exp(-pi i numerator / denominator).
Complex Root(int64_t numerator, int64_t denominator) {
  return std::polar(
      1.0, -std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator));
}

// Factors of n, fours first; empty if one is too large.
std::vector<int64_t> Factorize(int64_t n) {
  std::vector<int64_t> factors;
  // A butterfly of radix 4 needs fewer products than two of radix 2.
  for (int64_t radix : {4, 2}) {
    for (; n % radix == 0; n /= radix) factors.push_back(radix);
  }
  for (int64_t radix = 3; radix <= kLargestRadix; radix += 2) {
    for (; n % radix == 0; n /= radix) factors.push_back(radix);
  }
  if (n > 1) factors.clear();
  return factors;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Fourier>> Fourier::Make(int64_t length) {
  const auto too_long = [length] {
    return absl::ResourceExhaustedError(
        absl::StrCat("there is no memory for a Fourier transform of length ", length));
  };
  if (length > kLongest) return too_long();
  try {
    return std::shared_ptr<const Fourier>(new Fourier(length));
  } catch (const std::bad_alloc&) {
    return too_long();
  }
}

Fourier::Fourier(int64_t length) : length_(length), scratch_size_(length) {
  radices_ = Factorize(length);
  if (length == 1) return;
  if (!radices_.empty()) {
    roots_.resize(length);
    // Each root by itself: a recurrence would collect rounding errors.
    for (int64_t j = 0; j < length; ++j) roots_[j] = Root(2 * j, length);
    return;
  }
  // A circular convolution of this length is free of overlaps, and a power of two is the fastest.
  const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
  inner_.reset(new Fourier(size));
  scratch_size_ = size + inner_->scratch_size();
  chirp_.resize(length);
  filter_.resize(size);
  for (int64_t j = 0; j < length; ++j) {
    // The root has the period 2 * length in j^2: the remainder keeps the angle small, and thereby
    // exact.
    chirp_[j] = Root(j * j % (2 * length), length);
    // Transform does not divide by the length: the filter does.
    filter_[j] = std::conj(chirp_[j]) / static_cast<double>(size);
    // The chirp is even: indices below 0 wrap around to the end.
    if (j > 0) filter_[size - j] = filter_[j];
  }
  std::vector<Complex> scratch(inner_->scratch_size());
  inner_->Forward(filter_.data(), scratch.data());
}

// One stage of Stockham's algorithm, which sorts as it goes: x holds `done` interleaved sequences
// of length `size`, y then `done` * radix ones of size / radix.
template <int kRadix>
void Fourier::Stage(const Complex* x, Complex* y, int64_t size, int64_t done) const {
  const int64_t part = size / kRadix;
  for (int64_t q = 0; q < part; ++q) {
    const Complex* in = x + done * q;
    Complex* out = y + done * kRadix * q;
    const int64_t step = done * part;
    if constexpr (kRadix == 2) {
      // All k share one twiddle factor, so the inner loop is a plain stream.
      const Complex w1 = roots_[done * q];
      for (int64_t k = 0; k < done; ++k) {
        const Complex a = in[k], b = in[k + step];
        out[k] = a + b;
        out[k + done] = Multiply(a - b, w1);
      }
    } else {
      const Complex w1 = roots_[done * q], w2 = roots_[2 * done * q], w3 = roots_[3 * done * q];
      for (int64_t k = 0; k < done; ++k) {
        const Complex a = in[k], b = in[k + step], c = in[k + 2 * step], d = in[k + 3 * step];
        const Complex even = a + c, odd = b + d, even_difference = a - c;
        const Complex odd_difference = MinusI(b - d);
        out[k] = even + odd;
        out[k + done] = Multiply(even_difference + odd_difference, w1);
        out[k + 2 * done] = Multiply(even - odd, w2);
        out[k + 3 * done] = Multiply(even_difference - odd_difference, w3);
      }
    }
  }
}

void Fourier::AnyStage(int64_t radix, const Complex* x, Complex* y, int64_t size,
                       int64_t done) const {
  const int64_t part = size / radix, turn = length_ / radix;
  for (int64_t q = 0; q < part; ++q) {
    for (int64_t j = 0; j < radix; ++j) {
      const Complex w = roots_[done * q * j];
      for (int64_t k = 0; k < done; ++k) {
        Complex sum = x[k + done * q];
        for (int64_t i = 1; i < radix; ++i)
          sum += Multiply(x[k + done * (q + part * i)], roots_[turn * (i * j % radix)]);
        y[k + done * (radix * q + j)] = Multiply(sum, w);
      }
    }
  }
}

void Fourier::Forward(Complex* data, Complex* scratch) const {
  if (inner_ != nullptr) return ForwardByConvolution(data, scratch);
  Complex *x = data, *y = scratch;
  int64_t size = length_, done = 1;
  for (int64_t radix : radices_) {
    if (radix == 4) {
      Stage<4>(x, y, size, done);
    } else if (radix == 2) {
      Stage<2>(x, y, size, done);
    } else {
      AnyStage(radix, x, y, size, done);
    }
    size /= radix;
    done *= radix;
    std::swap(x, y);
  }
  // Each stage swaps the two buffers: after an odd number of stages the result is in scratch.
  if (x != data) std::copy_n(x, length_, data);
}

// Bluestein's algorithm: j k = (j^2 + k^2 - (k - j)^2) / 2 makes the sum a convolution with a
// chirp.
void Fourier::ForwardByConvolution(Complex* data, Complex* scratch) const {
  const int64_t size = inner_->length();
  Complex* const wave = scratch;
  Complex* const rest = scratch + size;
  for (int64_t j = 0; j < length_; ++j) wave[j] = Multiply(data[j], chirp_[j]);
  std::fill(wave + length_, wave + size, Complex());
  inner_->Forward(wave, rest);
  for (int64_t j = 0; j < size; ++j) wave[j] = Multiply(wave[j], filter_[j]);
  inner_->Transform(wave, /*inverse=*/true, rest);
  for (int64_t k = 0; k < length_; ++k) data[k] = Multiply(wave[k], chirp_[k]);
}

// The inverse is the transform of the conjugate, conjugated.
void Fourier::Transform(Complex* data, bool inverse, Complex* scratch) const {
  const auto conjugate = [&] {
    for (int64_t j = 0; j < length_; ++j) data[j] = std::conj(data[j]);
  };
  if (inverse) conjugate();
  Forward(data, scratch);
  if (inverse) conjugate();
}

}  // namespace tenon::cpu
