// The discrete Fourier transform of one length, in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::cpu {

// The plan of a transform. Immutable once made: one plan serves all threads.
//
// Every length takes O(n log n) time. A length whose prime factors are at most 31 is split into the
// factors (mixed radix). Any other length becomes a convolution of a power-of-two length
// (Bluestein).
class Fourier {
 public:
  using Complex = std::complex<double>;

  // Makes the plan for `length` >= 1. RESOURCE_EXHAUSTED if the plan does not fit into memory, or
  // the length exceeds 2^30.
  static absl::StatusOr<std::shared_ptr<const Fourier>> Make(int64_t length);

  int64_t length() const { return length_; }
  // The scratch memory that Transform needs, in complex numbers.
  int64_t scratch_size() const { return scratch_size_; }

  // Replaces each data[k], k < length(), by the sum over j of data[j] exp(-2 pi i j k / length). If
  // `inverse`, the exponent is positive. The result is not divided by the length in either case.
  // `scratch` has scratch_size() numbers of any value. Thread-safe if each thread has `data` and
  // `scratch` of its own.
  void Transform(Complex* data, bool inverse, Complex* scratch) const;

 private:
  explicit Fourier(int64_t length);
  void Forward(Complex* data, Complex* scratch) const;
  void ForwardByConvolution(Complex* data, Complex* scratch) const;
  template <int kRadix>
  void Stage(const Complex* x, Complex* y, int64_t size, int64_t done) const;
  void AnyStage(int64_t radix, const Complex* x, Complex* y, int64_t size, int64_t done) const;

  int64_t length_;
  int64_t scratch_size_;
  std::vector<int64_t> radices_;
  std::vector<Complex> roots_;  // exp(-2 pi i j / length)

  // For lengths with a large prime factor; empty for all others.
  std::unique_ptr<const Fourier> inner_;  // of a power of two
  std::vector<Complex> chirp_;            // exp(-pi i j^2 / length)
  std::vector<Complex> filter_;           // transform of the conjugated chirp / inner length
};

}  // namespace tenon::cpu
