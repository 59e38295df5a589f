// Softmax and its logarithm over contiguous rows of floats, in the calling thread. One copy per
// instruction set; select by SelectIsa.
//
// The greatest value of a row is subtracted first, so that no exponential overflows. All of a row
// becomes NaN if the row has a NaN or +infinity, or nothing but -infinity. Exponentials below the
// least normal float count as 0: Softmax gives 0 there, LogSoftmax leaves them out of its sum.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// x and y are [rows, n], n >= 1, at any alignment.
struct SoftmaxRows {
  const float* x;
  float* y;  // may be x
  int64_t rows, n;
};

namespace sse2 {
void Softmax(const SoftmaxRows& s);
void LogSoftmax(const SoftmaxRows& s);
}  // namespace sse2
namespace avx2 {
void Softmax(const SoftmaxRows& s);
void LogSoftmax(const SoftmaxRows& s);
}  // namespace avx2
namespace avx512 {
void Softmax(const SoftmaxRows& s);
void LogSoftmax(const SoftmaxRows& s);
}  // namespace avx512

}  // namespace tenon::cpu
