// Random numbers as functions of their positions: each needs none before it.
#pragma once

#include <cstdint>

namespace tenon::cli {

// SplitMix64 (Steele, Lea, Flood 2014): the number that a generator in state `x` gives next.
inline uint64_t SplitMix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// In [0, 1), of random bits.
inline double UnitOf(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace tenon::cli
