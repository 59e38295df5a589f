// The discrete Fourier transform of one length, in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::cpu {

// Immutable once made: one plan serves all threads. Any length takes time O(n log n): lengths of
// small prime factors are split into them, others become a convolution of a power of two.
class Fourier {
 public:
  using Complex = std::complex<double>;

  // RESOURCE_EXHAUSTED if the plan of that length does not fit into memory. length >= 1.
  static absl::StatusOr<std::shared_ptr<const Fourier>> Make(int64_t length);

  int64_t length() const { return length_; }
  // Complex numbers of scratch that Transform needs.
  int64_t scratch_size() const { return scratch_size_; }

  // data[k] = sum over j of data[j] exp(-2 pi i j k / length); with exp(+...) if `inverse`, not
  // divided by the length.
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

  // Only where the length has a large prime factor.
  std::unique_ptr<const Fourier> inner_;  // of a power of two
  std::vector<Complex> chirp_;            // exp(-pi i j^2 / length)
  std::vector<Complex> filter_;           // transform of the conjugated chirp / inner length
};

}  // namespace tenon::cpu
