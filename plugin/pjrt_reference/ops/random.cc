// rng_bit_generator (Threefry 2x32, Philox 4x32) and rng.
#include <algorithm>
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

// Elements take a word each, those of 64 bits two; the lowest bits of a word stay for narrower
// ones.
void StoreWords(const std::vector<uint32_t>& words, const Array& out) {
  const size_t size = ByteSize(out.element());
  for (size_t i = 0; i < static_cast<size_t>(out.count()); ++i) {
    std::memcpy(out.data() + i * size, &words[size == 8 ? 2 * i : i], size);
  }
}

// XLA's order, so that programs give the same numbers here: four words for each value of a counter
// of 128 bits, whose upper half is the key where the state has no place for it.
void PhiloxWords(const uint64_t* state, size_t words_of_state, uint64_t* counter,
                 std::vector<uint32_t>* words) {
  const uint64_t key = state[0], upper = words_of_state == 3 ? state[2] : key;
  const uint32_t keys[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  for (size_t at = 0; at < words->size(); at += 4, ++*counter) {
    uint32_t block[4] = {static_cast<uint32_t>(*counter), static_cast<uint32_t>(*counter >> 32),
                         static_cast<uint32_t>(upper), static_cast<uint32_t>(upper >> 32)};
    Philox(keys, block);
    std::memcpy(&(*words)[at], block, sizeof(uint32_t) * std::min<size_t>(4, words->size() - at));
  }
}

// Two words for each value of the counter. They are neighbours along one axis: the first of even
// length, else the first.
void ThreefryWords(const uint64_t* state, const Dims& dims, uint64_t* counter,
                   std::vector<uint32_t>* words) {
  const uint32_t keys[2] = {static_cast<uint32_t>(state[0]), static_cast<uint32_t>(state[0] >> 32)};
  size_t axis = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] % 2 == 0) axis = i;
  }
  const int64_t length = dims.empty() ? 1 : dims[axis];
  int64_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  const int64_t half = (length + 1) / 2;
  const auto count = static_cast<int64_t>(words->size());
  const int64_t outer = count / std::max<int64_t>(length * inner, 1);
  for (int64_t pair = 0; pair < outer * half * inner; ++pair, ++*counter) {
    uint32_t block[2] = {static_cast<uint32_t>(*counter), static_cast<uint32_t>(*counter >> 32)};
    Threefry(keys, block);
    const int64_t o = pair / (half * inner), at = pair / inner % half * 2, i = pair % inner;
    for (int64_t which = 0; which < 2 && at + which < length; ++which) {
      (*words)[(o * length + at + which) * inner + i] = block[which];
    }
  }
}

void Bits(Frame* frame, const Op& op) {
  const Array& state = frame->In(op, 0);
  Array next(state.type()), out(op.result_types[1]);
  std::memcpy(next.data(), state.data(), state.bytes());
  uint64_t* counter = &next.data<uint64_t>()[1];
  const bool wide = ByteSize(out.element()) == 8;
  std::vector<uint32_t> words(static_cast<size_t>(out.count()) * (wide ? 2 : 1));
  if (op.Word("rng_algorithm") == "THREE_FRY") {
    Dims dims = out.dims();
    if (wide) dims = {out.count() * 2};  // Both words of a pair are one element's.
    ThreefryWords(state.data<uint64_t>(), dims, counter, &words);
  } else {
    PhiloxWords(state.data<uint64_t>(), static_cast<size_t>(state.count()), counter, &words);
  }
  StoreWords(words, out);
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
