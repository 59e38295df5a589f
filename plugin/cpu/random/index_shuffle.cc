// RandomIndexShuffle: where an index goes in a pseudo-random permutation of [0, max_index], found
// without making the permutation. The index is encrypted with the block cipher Simon (Beaulieu et
// al., "The Simon and Speck families of lightweight block ciphers", 2013) until the result is in
// range; blocks are as small as the range allows, keys have three words.
#include <algorithm>
#include <array>
#include <bit>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct IndexShuffle {
  DataType type, seed_type;
  int64_t rounds, n;
  bool index_repeats, seed_repeats, most_repeats;  // one for all outputs
};

// The cipher for words of `bits` bits, 8 to 32.
class Simon {
 public:
  Simon(int bits, const std::array<uint32_t, 3>& key, int64_t rounds)
      : bits_(bits), mask_((uint64_t{1} << bits) - 1), rounds_(rounds) {
    for (int i = 0; i < 3; ++i) key_[i] = key[i] & mask_;
  }

  uint64_t Encrypt(uint64_t block) const {
    uint64_t left = block >> bits_ & mask_, right = block & mask_;
    std::array<uint64_t, 3> keys = key_;
    // One bit of this constant goes into each round key, the lowest first.
    uint64_t sequence = 0x7369f885192c0ef5 & mask_;
    for (int64_t round = 0; round < rounds_; ++round) {
      uint64_t key = keys[round % 3];
      if (round >= 3) {
        const uint64_t last = keys[(round - 1) % 3];
        key ^=
            (0xfffffffc & mask_) ^ (sequence & 1) ^ Left(last, bits_ - 3) ^ Left(last, bits_ - 4);
        sequence >>= 1;
        keys[round % 3] = key;
      }
      uint64_t& target = round % 2 == 0 ? left : right;
      const uint64_t source = round % 2 == 0 ? right : left;
      target ^= (Left(source, 1) & Left(source, 8)) ^ Left(source, 2) ^ key;
    }
    return left << bits_ | right;
  }

 private:
  uint64_t Left(uint64_t x, int by) const { return (x << by | x >> (bits_ - by)) & mask_; }

  int bits_;
  uint64_t mask_;
  int64_t rounds_;
  std::array<uint64_t, 3> key_ = {};
};

uint64_t Load(const void* data, DataType type, int64_t i) {
  if (type == DataType::kUint32) return static_cast<const uint32_t*>(data)[i];
  return static_cast<uint64_t>(LoadIndex(data, DataTypeSize(type) == 8, i));
}

uint64_t ShuffledIndex(uint64_t index, uint64_t most, const std::array<uint32_t, 3>& key,
                       int64_t rounds) {
  if (most == 0) return 0;
  // With fewer than 8 bits a word, Left(x, 8) would shift by a negative number.
  constexpr int kFewestBits = 16;
  const int bits = std::bit_width(most - 1);  // the logarithm, rounded up
  const Simon simon(std::max(bits + bits % 2, kFewestBits) / 2, key, rounds);
  // A permutation leads every index in range back into it.
  do {
    index = simon.Encrypt(index);
  } while (index > most);
  return index;
}

absl::Status RunIndexShuffle(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const IndexShuffle*>(state);
  for (int64_t i = 0; i < s.n; ++i) {
    const uint64_t index = Load(args.in[0], s.type, s.index_repeats ? 0 : i);
    const uint64_t most = Load(args.in[2], s.type, s.most_repeats ? 0 : i);
    const bool is_signed = HasType(kIndexTypes, s.type);
    if (index > most || (is_signed && static_cast<int64_t>(most) < 0)) {
      return absl::InvalidArgumentError(absl::StrCat("index ", static_cast<int64_t>(index),
                                                     " is not in [0, ", static_cast<int64_t>(most),
                                                     "]"));
    }
    std::array<uint32_t, 3> key;
    for (int k = 0; k < 3; ++k) {
      key[k] =
          static_cast<uint32_t>(Load(args.in[1], s.seed_type, (s.seed_repeats ? 0 : 3 * i) + k));
    }
    const uint64_t shuffled = ShuffledIndex(index, most, key, s.rounds);
    if (DataTypeSize(s.type) == 8) {
      static_cast<uint64_t*>(args.out[0])[i] = shuffled;
    } else {
      static_cast<uint32_t*>(args.out[0])[i] = static_cast<uint32_t>(shuffled);
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareIndexShuffle(Prepare& p) {
  const Shape &index = p.input_shape(0), &seed = p.input_shape(1), &most = p.input_shape(2);
  const bool seed_repeats = seed.rank() == 1;
  if (index.rank() > 1 || most.rank() > 1 || seed.rank() < 1 || seed.rank() > 2 ||
      seed.dim(seed.rank() - 1) != 3) {
    return p.Invalid(
        "'index' and 'max_index' must be scalars or vectors, 'seed' three numbers or rows of "
        "three");
  }
  const int64_t n =
      std::max({index.num_elements(), most.num_elements(), seed_repeats ? 1 : seed.dim(0)});
  if ((index.rank() == 1 && index.dim(0) != n) || (most.rank() == 1 && most.dim(0) != n) ||
      (!seed_repeats && seed.dim(0) != n)) {
    return p.Invalid("vectors and rows of seeds must be of one length");
  }
  TENON_ASSIGN_OR_RETURN(const int64_t rounds, p.AttrInt("rounds"));
  // Bounds the time that one index can take.
  constexpr int64_t kMostRounds = 1 << 12;
  if (rounds < 4 || rounds % 2 != 0 || rounds > kMostRounds) {
    return p.Invalid(absl::StrCat("attribute 'rounds' must be even and in [4, ", kMostRounds,
                                  "], not ", rounds));
  }
  const bool scalar = index.rank() == 0 && most.rank() == 0 && seed_repeats;
  p.set_output_shape(0, scalar ? Shape() : Shape({n}));
  p.set_run(&RunIndexShuffle, std::make_shared<IndexShuffle>(
                                  IndexShuffle{p.input_type(0), p.input_type(1), rounds, n,
                                               index.rank() == 0, seed_repeats, most.rank() == 0}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> IndexShuffleKernels() {
  static const CpuKernelSpec specs[] = {
      {"RandomIndexShuffle", {{"dtype", kEveryType}}, PrepareIndexShuffle}};
  return specs;
}

}  // namespace tenon::cpu
