// Softmax and its logarithm over contiguous rows of floats or doubles, in the calling thread. One
// copy per instruction set; select by SelectIsa.
//
// The greatest value of a row is subtracted first, so that no exponential overflows. All of a row
// becomes NaN if the row has a NaN or +infinity, or nothing but -infinity. Exponentials below the
// least normal number count as 0: Softmax gives 0 there, LogSoftmax leaves them out of its sum.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// x and y are [rows, n], n >= 1, at any alignment.
template <typename T>
struct RowsOf {
  const T* x;
  T* y;  // may be x
  int64_t rows, n;
};
using SoftmaxRows = RowsOf<float>;
using DoubleSoftmaxRows = RowsOf<double>;

namespace sse2 {
void Softmax(const SoftmaxRows& s);
void LogSoftmax(const SoftmaxRows& s);
void DoubleSoftmax(const DoubleSoftmaxRows& s);
void DoubleLogSoftmax(const DoubleSoftmaxRows& s);
}  // namespace sse2
namespace avx2 {
void Softmax(const SoftmaxRows& s);
void LogSoftmax(const SoftmaxRows& s);
void DoubleSoftmax(const DoubleSoftmaxRows& s);
void DoubleLogSoftmax(const DoubleSoftmaxRows& s);
}  // namespace avx2
namespace avx512 {
void Softmax(const SoftmaxRows& s);
void LogSoftmax(const SoftmaxRows& s);
void DoubleSoftmax(const DoubleSoftmaxRows& s);
void DoubleLogSoftmax(const DoubleSoftmaxRows& s);
}  // namespace avx512

}  // namespace tenon::cpu
