// Random123's Philox 4x32-10, a generator that needs nothing but a counter and a key (Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), and how its words become numbers in
// TensorFlow. No other file includes Random123.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace tenon::cpu {

using PhiloxWords = r123::Philox4x32::ctr_type;

struct Philox {
  PhiloxWords counter = {};
  r123::Philox4x32::key_type key = {};

  // Adds `count` to the 128-bit counter.
  void Skip(uint64_t count) {
    const uint64_t low = (static_cast<uint64_t>(counter[1]) << 32 | counter[0]) + count;
    if (low < count && ++counter[2] == 0) ++counter[3];
    counter[0] = static_cast<uint32_t>(low);
    counter[1] = static_cast<uint32_t>(low >> 32);
  }

  PhiloxWords Next() {
    const PhiloxWords words = r123::Philox4x32()(counter, key);
    Skip(1);
    return words;
  }
};

// The generator of a stateless op: its two seeds, mixed.
inline Philox StatelessPhilox(uint64_t seed0, uint64_t seed1) {
  Philox mixer;
  mixer.counter = {static_cast<uint32_t>(seed0), static_cast<uint32_t>(seed0 >> 32),
                   static_cast<uint32_t>(seed1), static_cast<uint32_t>(seed1 >> 32)};
  mixer.key = {0x3ec8f720u, 0x02461e29u};
  const PhiloxWords words = mixer.Next();
  Philox philox;
  philox.counter = {0, 0, words[2], words[3]};
  philox.key = {words[0], words[1]};
  return philox;
}

// [0, 1) from the low bits of a word: as many as the type's mantissa has.
inline float UniformHalf(uint32_t word) { return static_cast<float>(word & 0x3ff) / 1024.0f; }
inline float UniformBfloat16(uint32_t word) { return static_cast<float>(word & 0x7f) / 128.0f; }
inline float UniformFloat(uint32_t word) {
  const uint32_t bits = 0x3f800000u | (word & 0x7fffffu);
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f - 1.0f;
}
inline double UniformDouble(uint32_t word0, uint32_t word1) {
  const uint64_t bits =
      uint64_t{1023} << 52 | static_cast<uint64_t>(word0 & 0xfffffu) << 32 | word1;
  double d;
  __builtin_memcpy(&d, &bits, sizeof d);
  return d - 1.0;
}

// Two normal deviates from two uniform ones (Box and Muller); the logarithm's argument is kept off
// 0.
template <typename T>
std::array<T, 2> BoxMuller(T u0, T u1) {
  constexpr T kSmallest = static_cast<T>(1.0e-7);
  const T angle = static_cast<T>(2 * M_PI * u1);
  const T radius = std::sqrt(static_cast<T>(-2) * std::log(u0 < kSmallest ? kSmallest : u0));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

// A generator's words, one by one.
class PhiloxStream {
 public:
  explicit PhiloxStream(Philox philox) : philox_(philox) {}

  uint32_t Next32() {
    if (used_ == 4) {
      block_ = philox_.Next();
      used_ = 0;
    }
    return block_[used_++];
  }
  uint64_t Next64() {
    const uint64_t low = Next32();
    return static_cast<uint64_t>(Next32()) << 32 | low;
  }
  float NextFloat() { return UniformFloat(Next32()); }
  double NextDouble() {
    const uint32_t word = Next32();
    return UniformDouble(word, Next32());
  }
  // Uniform in [0, n) for n > 0: words that would favour low numbers are passed over.
  uint32_t NextBelow(uint32_t n) {
    const uint32_t passed = (0u - n) % n;
    uint32_t word = Next32();
    while (word < passed) word = Next32();
    return word % n;
  }
  uint64_t NextBelow64(uint64_t n) {
    const uint64_t passed = (uint64_t{0} - n) % n;
    uint64_t word = Next64();
    while (word < passed) word = Next64();
    return word % n;
  }

 private:
  Philox philox_;
  PhiloxWords block_ = {};
  int used_ = 4;
};

}  // namespace tenon::cpu
