// rng_bit_generator (Threefry 2x32, Philox 4x32) and rng.
#include <cmath>
#include <cstring>
#include <random>

#include "checks.h"
#include "families.h"

namespace pjref {
namespace {

void CheckBits(const Op& op) {
  CheckCounts(op, 1, 2);
  const Type& state = op.operand_types[0];
  const std::string algorithm = op.Word("rng_algorithm");
  CheckThat(op, algorithm == "THREE_FRY" || algorithm == "PHILOX" || algorithm == "DEFAULT",
            "rng_algorithm must be DEFAULT, THREE_FRY or PHILOX");
  const bool philox = algorithm != "THREE_FRY";
  CheckThat(op,
            state.element == Element::kU64 && (state == Type({Element::kU64, {2}}) ||
                                               (philox && state == Type({Element::kU64, {3}}))),
            "does not take the state '" + ToString(state) + "' for " + algorithm);
  CheckResult(op, 0, state);
  CheckKind(op, op.result_types[1], kIntegers);
}

uint32_t Rotate(uint32_t value, int by) { return value << by | value >> (32 - by); }

// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 20 rounds.
void Threefry(const uint32_t key[2], uint32_t x[2]) {
  constexpr int kTurns[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  x[0] += keys[0];
  x[1] += keys[1];
  for (uint32_t round = 0; round < 20; ++round) {
    x[0] += x[1];
    x[1] = Rotate(x[1], kTurns[round % 8]) ^ x[0];
    if (round % 4 != 3) continue;
    const uint32_t block = round / 4 + 1;
    x[0] += keys[block % 3];
    x[1] += keys[(block + 1) % 3] + block;
  }
}

void Philox(const uint32_t key[2], uint32_t x[4]) {
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(a)};
    std::memcpy(x, next, sizeof(next));
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
}

// A block of words for each value of the counter, which is `state[1]`, with `state[0]` as the key.
// Both generators count in 64 bits.
void Bits(Frame* frame, const Op& op) {
  const Array& state = frame->In(op, 0);
  Array next(state.type()), out(op.result_types[1]);
  std::memcpy(next.data(), state.data(), state.bytes());
  const uint64_t key = state.data<uint64_t>()[0];
  uint64_t& counter = next.data<uint64_t>()[1];
  const bool philox = op.Word("rng_algorithm") != "THREE_FRY";
  const uint32_t keys[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  const size_t block = philox ? 16 : 8;
  for (size_t at = 0; at < out.bytes(); at += block, ++counter) {
    uint32_t words[4] = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0,
                         0};
    if (philox) {
      Philox(keys, words);
    } else {
      Threefry(keys, words);
    }
    std::memcpy(out.data() + at, words, std::min(block, out.bytes() - at));
  }
  frame->Out(op, 0, std::move(next));
  frame->Out(op, 1, std::move(out));
}

void CheckRng(const Op& op) {
  CheckCounts(op, 3, 1);
  const Type& out = op.result_types[0];
  CheckKind(op, out, kReals | kBool);
  CheckThat(op,
            op.operand_types[0] == Type({out.element, {}}) &&
                op.operand_types[1] == Type({out.element, {}}),
            "takes two scalars of the result's element type");
  CheckThat(
      op, op.operand_types[2].dims == Dims({out.rank()}) && IsInteger(op.operand_types[2].element),
      "takes the result's shape as integers");
  const std::string kind = op.Word("rng_distribution");
  CheckThat(op, kind == "UNIFORM" || (kind == "NORMAL" && IsFloat(out.element)),
            "rng_distribution must be UNIFORM, or NORMAL for floats");
}

// Other numbers at each run, as the op says.
void Rng(Frame* frame, const Op& op) {
  static thread_local std::mt19937_64 engine{std::random_device()()};
  Array out(op.result_types[0]);
  if (IsFloat(out.element())) {
    const double a = LoadAll<double>(frame->In(op, 0))[0], b = LoadAll<double>(frame->In(op, 1))[0];
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal(0, 1);
    const bool is_normal = op.Word("rng_distribution") == "NORMAL";
    for (int64_t i = 0; i < out.count(); ++i) {
      const double value = is_normal ? a + b * normal(engine) : a + (b - a) * uniform(engine);
      Store(&value, i, 1, out);
    }
  } else {
    const int64_t a = LoadIntegers(frame->In(op, 0))[0], b = LoadIntegers(frame->In(op, 1))[0];
    const uint64_t span = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
    for (int64_t i = 0; i < out.count(); ++i) {
      const auto value =
          static_cast<int64_t>(static_cast<uint64_t>(a) + (span ? engine() % span : 0));
      Store(&value, i, 1, out);
    }
  }
  frame->Out(op, std::move(out));
}

}  // namespace

const std::vector<OpRow>& RandomRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.rng_bit_generator", &CheckBits, &Bits, nullptr},
      {"stablehlo.rng", &CheckRng, &Rng, nullptr},
  };
  return kRows;
}

}  // namespace pjref
