// Random123's Philox 4x32-10, a generator that needs nothing but a counter and a key (Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), and how its words become numbers in
// TensorFlow. No other file includes Random123.
#pragma once

// Philox has no use for vectors, whose headers take long to compile.
#define R123_USE_SSE 0
#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace tenon::cpu {

using PhiloxWords = r123::Philox4x32::ctr_type;

// The state of a generator: a 128-bit counter and a 64-bit key. Next() makes a block of four words
// of 32 bits from both. Plain data: a copy draws the same words as the original.
struct Philox {
  PhiloxWords counter = {};
  r123::Philox4x32::key_type key = {};

  // Passes over `count` blocks: adds `count` to the 128-bit counter.
  void Skip(uint64_t count) {
    const uint64_t low = (static_cast<uint64_t>(counter[1]) << 32 | counter[0]) + count;
    if (low < count && ++counter[2] == 0) ++counter[3];
    counter[0] = static_cast<uint32_t>(low);
    counter[1] = static_cast<uint32_t>(low >> 32);
  }

  // Returns the block at the counter, and advances by one block.
  PhiloxWords Next() {
    const PhiloxWords words = r123::Philox4x32()(counter, key);
    Skip(1);
    return words;
  }
};

// Returns the generator of a stateless op with this seed. One block of a fixed key, TensorFlow's,
// mixes the two numbers into key and counter.
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

// Return a number of [0, 1) from the low bits of a word: as many bits as the type's mantissa has,
// as a binary fraction. Of UniformDouble, the low 20 bits of word0 are the high bits and word1 the
// low ones.
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

// Returns two normal deviates, by sine and cosine, from two uniform numbers of [0, 1), by the
// method of Box and Muller. As in TensorFlow, u0 is raised to at least 1e-7, which keeps the
// logarithm finite, and the angle is multiplied in double before it is rounded to T.
template <typename T>
std::array<T, 2> BoxMuller(T u0, T u1) {
  constexpr T kSmallest = static_cast<T>(1.0e-7);
  const T angle = static_cast<T>(2 * M_PI * u1);
  const T radius = std::sqrt(static_cast<T>(-2) * std::log(u0 < kSmallest ? kSmallest : u0));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

// The words of a generator, one after the other, from its current block on. Works on a copy of the
// generator. One thread uses a stream.
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
  // Takes two words. The first is the low half.
  uint64_t Next64() {
    const uint64_t low = Next32();
    return static_cast<uint64_t>(Next32()) << 32 | low;
  }
  float NextFloat() { return UniformFloat(Next32()); }
  // Takes two words. The first holds the high bits of the mantissa.
  double NextDouble() {
    const uint32_t word = Next32();
    return UniformDouble(word, Next32());
  }
  // Return a number uniform in [0, n), for n > 0. The lowest 2^32 mod n words (of NextBelow64: 2^64
  // mod n values of Next64) are passed over, since they would favour low numbers. The number of
  // words that a call takes therefore varies.
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
