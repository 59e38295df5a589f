// Loops over elements, in the type in which they are computed.
#pragma once

#include <algorithm>
#include <vector>

#include "../base/array.h"

namespace pjref {

constexpr int64_t kBlock = 1024;

// out[i] = f(in[i]). T and U are VisitComputed's types of the elements.
template <typename T, typename U, typename F>
void MapOne(const Array& in, const Array& out, F f) {
  T from[kBlock];
  U to[kBlock];
  const int64_t count = out.count();
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t n = std::min(kBlock, count - at);
    Load(in, at, n, from);
    for (int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
    Store(to, at, n, out);
  }
}

// out[i] = f(a[i], b[i])
template <typename T, typename U, typename F>
void MapTwo(const Array& a, const Array& b, const Array& out, F f) {
  T left[kBlock], right[kBlock];
  U to[kBlock];
  const int64_t count = out.count();
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t n = std::min(kBlock, count - at);
    Load(a, at, n, left);
    Load(b, at, n, right);
    for (int64_t i = 0; i < n; ++i) to[i] = f(left[i], right[i]);
    Store(to, at, n, out);
  }
}

template <typename T>
constexpr bool kIsComplex = false;
template <typename T>
constexpr bool kIsComplex<std::complex<T>> = true;

}  // namespace pjref
