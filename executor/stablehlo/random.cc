// Random numbers of stateless ops: the words of Philox 4x32-10, and what TensorFlow makes of them.
// plugin/cpu/random/philox.h has the same for the CPU.
#include <array>
#include <cmath>
#include <utility>

#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace random_ops {
namespace {

constexpr DataType kWord = DataType::kUint32, kWide = DataType::kUint64;

// Words of blocks, all of one shape: word i of each block.
using Block = std::array<Value, 4>;
struct Key {
  Value low, high;  // scalars
};

Value High(Op& op, const Value& x) {
  const Value shifted = op.b.Binary("shift_right_logical", x, op.b.FullInt(kWide, x.shape, 32));
  return op.b.Convert(shifted, kWord);
}

// The low half: a conversion to fewer bits keeps these.
Value Low(Op& op, const Value& x) {
  const Value masked = op.b.And(x, op.b.FullInt(kWide, x.shape, 0xffffffff));
  return op.b.Convert(masked, kWord);
}

Value Joined(Op& op, const Value& low, const Value& high) {
  const Value wide = op.b.Convert(high, kWide);
  return op.b.Or(op.b.Convert(low, kWide),
                 op.b.Binary("shift_left", wide, op.b.FullInt(kWide, wide.shape, 32)));
}

// Ten rounds.
Block Mixed(Op& op, Block c, const Key& key) {
  constexpr int64_t kFactor[] = {0xd2511f53, 0xcd9e8d57}, kStep[] = {0x9e3779b9, 0xbb67ae85};
  Builder& b = op.b;
  Value k[] = {key.low, key.high};
  for (int round = 0; round < 10; ++round) {
    const auto product = [&](int i) {
      const Value wide = b.Convert(c[2 * i], kWide);
      return b.Mul(wide, b.FullInt(kWide, wide.shape, kFactor[i]));
    };
    const Value first = product(0), second = product(1);
    const auto mix = [&](const Value& x, const Value& y, int i) {
      return b.Binary("xor", b.Binary("xor", x, y), b.Broadcast(k[i], x.shape, {}));
    };
    c = {mix(High(op, second), c[1], 0), Low(op, second), mix(High(op, first), c[3], 1),
         Low(op, first)};
    for (int i = 0; i < 2; ++i) k[i] = b.Add(k[i], b.FullInt(kWord, Shape(), kStep[i]));
  }
  return c;
}

struct Generator {
  Key key;
  Value low, high;  // the halves of the counter: scalars of 64 bits
};

Value Element(Op& op, const Value& vector, int64_t i) {
  return op.b.Reshape(op.b.SliceAxis(vector, 0, i, i + 1), Shape());
}

// The bits of an integer; those of fewer than 64 bits keep their value.
Value Bits(Op& op, const Value& x) {
  if (x.dtype == kWide || x.dtype == kWord) return op.b.Convert(x, kWide);
  return op.b.Bitcast(op.b.Convert(x, DataType::kInt64), kWide, x.shape);
}

absl::StatusOr<Generator> FromSeed(Op& op, const Value& seed) {
  if (seed.shape != Shape({2})) return op.Invalid("'seed' must hold two numbers");
  const Value bits = Bits(op, seed), first = Element(op, bits, 0), second = Element(op, bits, 1);
  const Key mixer = {op.b.FullInt(kWord, Shape(), 0x3ec8f720),
                     op.b.FullInt(kWord, Shape(), 0x02461e29)};
  const Block words =
      Mixed(op, {Low(op, first), High(op, first), Low(op, second), High(op, second)}, mixer);
  return Generator{
      {words[0], words[1]}, op.b.FullInt(kWide, Shape(), 0), Joined(op, words[2], words[3])};
}

constexpr int64_t kPhilox = 1, kAutomatic = 3;

// shape, seed; or shape, key, counter, alg
absl::StatusOr<Generator> GeneratorOf(Op& op, bool from_seed) {
  if (from_seed) return FromSeed(op, op.In(1));
  const Value &key = op.In(1), &counter = op.In(2);
  if (key.shape != Shape({1})) return op.Invalid("'key' must hold one number");
  if (counter.rank() != 1 || counter.shape.dim(0) < 2)
    return op.Invalid("'counter' must hold two numbers");
  TENON_ASSIGN_OR_RETURN(const int64_t algorithm, op.IntOf(3));
  if (algorithm != kPhilox && algorithm != kAutomatic)
    return op.Unimplemented("an algorithm other than Philox");
  const Value bits = Element(op, key, 0);
  return Generator{
      {Low(op, bits), High(op, bits)}, Element(op, counter, 0), Element(op, counter, 1)};
}

// The blocks [0, count) from the generator's counter on.
Block BlocksOf(Op& op, const Generator& from, int64_t count) {
  Builder& b = op.b;
  const Shape shape({count});
  const Value index = b.Iota(kWide, shape, 0);
  const Value low = b.Add(b.Broadcast(from.low, shape, {}), index);
  const Value carry = b.Convert(b.Compare("LT", low, index), kWide);
  const Value high = b.Add(b.Broadcast(from.high, shape, {}), carry);
  return Mixed(op, {Low(op, low), High(op, low), Low(op, high), High(op, high)}, from.key);
}

// Numbers of each block, one behind the other: as many of them as `shape` has, in this shape.
Value InOrder(Op& op, absl::Span<const Value> numbers, const Shape& shape) {
  const int64_t blocks = numbers[0].shape.dim(0), each = static_cast<int64_t>(numbers.size());
  Values columns;
  for (const Value& v : numbers) columns.push_back(op.b.Reshape(v, Shape({blocks, 1})));
  const Value all = op.b.Reshape(op.b.Concat(columns, 1), Shape({blocks * each}));
  return op.b.Reshape(op.b.SliceAxis(all, 0, 0, shape.num_elements()), shape);
}

Value UniformFloat(Op& op, const Value& word) {
  const Value mantissa = op.b.And(word, op.b.FullInt(kWord, word.shape, 0x7fffff));
  const Value bits = op.b.Or(mantissa, op.b.FullInt(kWord, word.shape, 0x3f800000));
  return op.b.Sub(op.b.Bitcast(bits, DataType::kFloat, word.shape), 1.0);
}

// As many low bits of a word as the type's mantissa has.
Value UniformNarrow(Op& op, const Value& word, DataType dtype) {
  const int64_t values = dtype == DataType::kHalf ? 1024 : 128;
  const Value bits = op.b.And(word, op.b.FullInt(kWord, word.shape, values - 1));
  const Value share = op.b.Div(op.b.Convert(bits, DataType::kFloat), static_cast<double>(values));
  return op.b.Convert(share, dtype);
}

Value UniformDouble(Op& op, const Value& word0, const Value& word1) {
  const Value high = op.b.And(word0, op.b.FullInt(kWord, word0.shape, 0xfffff));
  const Value bits =
      op.b.Or(Joined(op, word1, high), op.b.FullInt(kWide, word0.shape, int64_t{1023} << 52));
  return op.b.Sub(op.b.Bitcast(bits, DataType::kDouble, word0.shape), 1.0);
}

Values Uniforms(Op& op, const Block& w, DataType dtype) {
  if (dtype == DataType::kDouble)
    return {UniformDouble(op, w[0], w[1]), UniformDouble(op, w[2], w[3])};
  Values out;
  for (const Value& word : w)
    out.push_back(dtype == DataType::kFloat ? UniformFloat(op, word)
                                            : UniformNarrow(op, word, dtype));
  return out;
}

// Box and Muller. The angle is a product in double, as TensorFlow has it.
void AddNormals(Op& op, const Value& u0, const Value& u1, Values& out) {
  Builder& b = op.b;
  const Value least = b.Max(u0, 1.0e-7);
  const Value radius = b.Unary("sqrt", b.Mul(b.Unary("log", least), -2.0));
  const Value angle = b.Convert(b.Mul(b.Convert(u1, DataType::kDouble), 2 * M_PI), u1.dtype);
  out.push_back(b.Mul(b.Unary("sine", angle), radius));
  out.push_back(b.Mul(b.Unary("cosine", angle), radius));
}

Values Normals(Op& op, const Block& w, DataType dtype) {
  Values out;
  if (dtype == DataType::kDouble) {
    AddNormals(op, UniformDouble(op, w[0], w[1]), UniformDouble(op, w[2], w[3]), out);
    return out;
  }
  AddNormals(op, UniformFloat(op, w[0]), UniformFloat(op, w[1]), out);
  AddNormals(op, UniformFloat(op, w[2]), UniformFloat(op, w[3]), out);
  for (Value& v : out) v = op.b.Convert(v, dtype);
  return out;
}

// Integers of all bits, unsigned.
Values Integers(Op& op, const Block& w, DataType dtype) {
  if (DataTypeSize(dtype) == 8) return {Joined(op, w[0], w[1]), Joined(op, w[2], w[3])};
  return {w[0], w[1], w[2], w[3]};
}

using MakeNumbers = Values (*)(Op& op, const Block& words, DataType dtype);

absl::StatusOr<Value> Numbers(Op& op, bool from_seed, MakeNumbers make) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(const Generator generator, GeneratorOf(op, from_seed));
  const DataType dtype = op.OutType(0);
  if (shape.num_elements() == 0) return op.b.Full(dtype, shape, 0);
  const int64_t each = DataTypeSize(dtype) == 8 ? 2 : 4;
  const Block words = BlocksOf(op, generator, (shape.num_elements() + each - 1) / each);
  return InOrder(op, make(op, words, dtype), shape);
}

template <bool kFromSeed, MakeNumbers kMake>
absl::Status Floats(Op& op) {
  TENON_ASSIGN_OR_RETURN(Value numbers, Numbers(op, kFromSeed, kMake));
  return op.Out(std::move(numbers));
}

template <bool kFromSeed>
absl::Status AllIntegers(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value words, Numbers(op, kFromSeed, Integers));
  return op.Out(op.b.Bitcast(words, op.OutType(0), words.shape));
}

// Integers of [minval, maxval), the last two inputs.
template <bool kFromSeed>
absl::Status IntegersBetween(Op& op) {
  Builder& b = op.b;
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value &low = op.In(op.num_inputs() - 2), &high = op.In(op.num_inputs() - 1);
  if (low.rank() != 0 || high.rank() != 0)
    return op.Invalid("'minval' and 'maxval' must be scalars");
  if (shape.num_elements() == 0) return op.Out(b.Full(op.OutType(0), shape, 0));
  op.Check(b.Compare("LT", low, high), "'minval' must be below 'maxval'");
  TENON_ASSIGN_OR_RETURN(const Value words, Numbers(op, kFromSeed, Integers));
  const auto bits = [&](const Value& v) { return b.Bitcast(v, words.dtype, v.shape); };
  const Value range = b.Sub(bits(high), bits(low));
  // A range of 0 is an error that the run reports.
  const Value divisor = b.Max(range, 1.0);
  const Value rest = b.Binary("remainder", words, b.Broadcast(divisor, shape, {}));
  const Value sum = b.Add(rest, b.Broadcast(bits(low), shape, {}));
  return op.Out(b.Bitcast(sum, op.OutType(0), shape));
}

absl::Status KeyAndCounter(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Generator g, FromSeed(op, op.In(0)));
  const auto one = [&](const Value& v) { return op.b.Reshape(v, Shape({1})); };
  op.Out(0, one(Joined(op, g.key.low, g.key.high)));
  op.Out(1, op.b.Concat({one(g.low), one(g.high)}, 0));
  return op.num_outputs() == 3 ? op.OutInts(2, {kPhilox}, Shape()) : absl::OkStatus();
}

absl::Status Algorithm(Op& op) { return op.OutInts(0, {kPhilox}, Shape()); }

constexpr Types kDrawn = {DataType::kInt32, DataType::kInt64, DataType::kUint32, DataType::kUint64};
constexpr uint64_t kSecond = In(0) | In(3);  // shape, alg
constexpr uint64_t kState = In(1) | In(2);   // seed, or key and counter

constexpr Row kRows[] = {
    {"StatelessRandomGetAlg", Algorithm, kDrawn},
    {"StatelessRandomGetKeyCounter", KeyAndCounter, kDrawn},
    {"StatelessRandomGetKeyCounterAlg", KeyAndCounter, kDrawn},
    {"StatelessRandomUniform", Floats<true, Uniforms>, kFloats, In(0), kState},
    {"StatelessRandomUniformV2", Floats<false, Uniforms>, kFloats, kSecond, kState},
    {"StatelessRandomNormal", Floats<true, Normals>, kFloats, In(0), kState},
    {"StatelessRandomNormalV2", Floats<false, Normals>, kFloats, kSecond, kState},
    {"StatelessRandomUniformInt", IntegersBetween<true>, kDrawn, In(0)},
    {"StatelessRandomUniformIntV2", IntegersBetween<false>, kDrawn, kSecond},
    {"StatelessRandomUniformFullInt", AllIntegers<true>, kDrawn, In(0)},
    {"StatelessRandomUniformFullIntV2", AllIntegers<false>, kDrawn, kSecond},
};

}  // namespace
}  // namespace random_ops

Rows RandomRows() { return random_ops::kRows; }

}  // namespace tenon::stablehlo
