// Uniform, normal and truncated normal numbers and integers: with a generator that goes on from run
// to run, in the node or in a variable, and the stateless ops, which give the same words for the
// same seed.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum class Distribution { kUniform, kNormal, kTruncatedNormal };

struct RandomState {
  PhiloxSource source;
  Distribution distribution;
  DataType type;
  int64_t n = 0;
  int low = -1, high = -1;  // inputs
};

// The outputs of one group: four numbers from a block of words, two for types of 64 bits.
struct Group {
  float f[4];
  double d[2];
  int count;
};

Group Uniform(const PhiloxWords& w, DataType type) {
  Group g{};
  g.count = type == DataType::kDouble ? 2 : 4;
  for (int i = 0; i < 4; ++i) {
    // The result is exact in the type.
    if (type == DataType::kFloat) g.f[i] = UniformFloat(w[i]);
    if (type == DataType::kHalf) g.f[i] = UniformHalf(w[i]);
    if (type == DataType::kBfloat16) g.f[i] = UniformBfloat16(w[i]);
  }
  if (type == DataType::kDouble) {
    g.d[0] = UniformDouble(w[0], w[1]);
    g.d[1] = UniformDouble(w[2], w[3]);
  }
  return g;
}

Group Normal(const PhiloxWords& w, DataType type) {
  Group g{};
  g.count = type == DataType::kDouble ? 2 : 4;
  if (type == DataType::kDouble) {
    const auto pair = BoxMuller(UniformDouble(w[0], w[1]), UniformDouble(w[2], w[3]));
    std::copy(pair.begin(), pair.end(), g.d);
    return g;
  }
  for (int i = 0; i < 4; i += 2) {
    const auto pair = BoxMuller(UniformFloat(w[i]), UniformFloat(w[i + 1]));
    std::copy(pair.begin(), pair.end(), g.f + i);
  }
  return g;
}

// Draws until the group is full of values within two standard deviations.
Group TruncatedNormal(Philox philox, DataType type) {
  Group g{};
  const int wanted = type == DataType::kDouble ? 2 : 4;
  while (g.count < wanted) {
    const PhiloxWords w = philox.Next();
    const Group drawn = Normal(w, type);
    for (int i = 0; i < drawn.count && g.count < wanted; ++i) {
      if (type == DataType::kDouble) {
        if (std::abs(drawn.d[i]) < 2) g.d[g.count++] = drawn.d[i];
      } else if (std::abs(drawn.f[i]) < 2) {
        g.f[g.count++] = drawn.f[i];
      }
    }
  }
  return g;
}

// The numbers of one group. Most take the next block of `words`; those that are drawn until they
// fit have 256 words of `all` for each output.
Group MakeGroup(const RandomState& s, Philox& words, const Philox& all, int64_t group) {
  if (s.distribution == Distribution::kUniform) return Uniform(words.Next(), s.type);
  if (s.distribution == Distribution::kNormal) return Normal(words.Next(), s.type);
  Philox own = all;
  own.Skip((s.type == DataType::kDouble ? 128 : 256) * static_cast<uint64_t>(group));
  return TruncatedNormal(own, s.type);
}

void StoreGroup(const RandomState& s, const Group& g, int64_t first, void* out) {
  const int64_t count = std::min<int64_t>(g.count, s.n - first);
  VisitFloat(s.type, [&](auto element) {
    for (int64_t i = 0; i < count; ++i) {
      s.type == DataType::kDouble ? element.Put(out, first + i, g.d[i])
                                  : element.Put(out, first + i, g.f[i]);
    }
  });
}

constexpr int64_t kGroupsPerPiece = 4096;  // what one thread takes at least

absl::Status RunRandom(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const RandomState*>(state);
  TENON_ASSIGN_OR_RETURN(const Philox philox,
                         s.source.Start(args, kBlocksPerOutput * static_cast<uint64_t>(s.n)));
  const int64_t per_group = s.type == DataType::kDouble ? 2 : 4;
  args.workers->ParallelFor(
      (s.n + per_group - 1) / per_group, kGroupsPerPiece, [&](int64_t begin, int64_t end) {
        Philox words = philox;
        words.Skip(static_cast<uint64_t>(begin));
        for (int64_t g = begin; g < end; ++g) {
          StoreGroup(s, MakeGroup(s, words, philox, g), g * per_group, args.out[0]);
        }
      });
  return absl::OkStatus();
}

// Integers of one width: low + word % range, or the words themselves where `range` is 0.
template <typename U>
void FillIntegers(const RandomState& s, const Philox& philox, U low, U range,
                  const StepArgs& args) {
  constexpr int64_t kPerGroup = sizeof(U) == 8 ? 2 : 4;
  args.workers->ParallelFor(
      (s.n + kPerGroup - 1) / kPerGroup, kGroupsPerPiece, [&](int64_t begin, int64_t end) {
        Philox own = philox;
        own.Skip(static_cast<uint64_t>(begin));
        for (int64_t i = begin * kPerGroup; i < std::min(end * kPerGroup, s.n); i += kPerGroup) {
          const PhiloxWords w = own.Next();
          for (int64_t k = 0; k < kPerGroup && i + k < s.n; ++k) {
            U word = w[k];
            if constexpr (sizeof(U) == 8)
              word = w[2 * k] | static_cast<uint64_t>(w[2 * k + 1]) << 32;
            static_cast<U*>(args.out[0])[i + k] = range == 0 ? word : low + word % range;
          }
        }
      });
}

template <typename T>
absl::Status RunIntegers(const void* state, const StepArgs& args) {
  using U = std::make_unsigned_t<T>;
  const auto& s = *static_cast<const RandomState*>(state);
  if (s.n == 0 && !s.source.in_variable()) return absl::OkStatus();
  const T low = *static_cast<const T*>(args.in[s.low]);
  const T high = *static_cast<const T*>(args.in[s.high]);
  if (low >= high) {
    return absl::InvalidArgumentError(
        absl::StrCat("'minval' must be below 'maxval': ", low, " and ", high));
  }
  TENON_ASSIGN_OR_RETURN(const Philox philox,
                         s.source.Start(args, kBlocksPerOutput * static_cast<uint64_t>(s.n)));
  FillIntegers<U>(s, philox, static_cast<U>(low), static_cast<U>(high) - static_cast<U>(low), args);
  return absl::OkStatus();
}

template <typename U>
absl::Status RunAllIntegers(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const RandomState*>(state);
  TENON_ASSIGN_OR_RETURN(const Philox philox,
                         s.source.Start(args, kBlocksPerOutput * static_cast<uint64_t>(s.n)));
  FillIntegers<U>(s, philox, 0, 0, args);
  return absl::OkStatus();
}

// Output 0 gets the shape that input `shape` says.
absl::StatusOr<std::shared_ptr<RandomState>> MakeState(Prepare& p) {
  const int input = InputNamed(p.op(), "shape");
  if (p.input_shape(input).rank() != 1) return p.Invalid("'shape' must be a vector");
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(input));
  TENON_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p, dims));
  auto s = std::make_shared<RandomState>();
  TENON_ASSIGN_OR_RETURN(s->source, PhiloxSource::Of(p));
  s->type = p.output_type(0);
  s->n = shape.num_elements();
  p.set_output_shape(0, shape);
  return s;
}

template <Distribution kDistribution>
absl::Status PrepareRandom(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<RandomState> s, MakeState(p));
  s->distribution = kDistribution;
  p.set_run(&RunRandom, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareIntegers(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<RandomState> s, MakeState(p));
  s->low = InputNamed(p.op(), "minval");
  s->high = InputNamed(p.op(), "maxval");
  if (p.input_shape(s->low).rank() != 0 || p.input_shape(s->high).rank() != 0)
    return p.Invalid("'minval' and 'maxval' must be scalars");
  const RunFn run = s->type == DataType::kInt64 ? &RunIntegers<int64_t> : &RunIntegers<int32_t>;
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareAllIntegers(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<RandomState> s, MakeState(p));
  const RunFn run =
      DataTypeSize(s->type) == 8 ? &RunAllIntegers<uint64_t> : &RunAllIntegers<uint32_t>;
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

// Of an op whose generator is a variable: it reads a handle.
CpuKernelSpec InVariable(const char* op, uint64_t types, PrepareFn prepare, uint32_t shape_bit) {
  CpuKernelSpec spec{op, {{"dtype", types}}, prepare, shape_bit, true};
  spec.copies_objects = true;
  return spec;
}

}  // namespace

absl::Span<const CpuKernelSpec> RandomKernels() {
  constexpr PrepareFn kUniform = &PrepareRandom<Distribution::kUniform>;
  constexpr PrepareFn kNormal = &PrepareRandom<Distribution::kNormal>;
  constexpr PrepareFn kTruncated = &PrepareRandom<Distribution::kTruncatedNormal>;
  constexpr uint64_t kWordTypes = kIndexTypes | TypeBits(DataType::kUint32, DataType::kUint64);
  static const CpuKernelSpec specs[] = {
      {"RandomUniform", {{"dtype", kFloatTypes}}, kUniform, 0b1, true},
      {"RandomStandardNormal", {{"dtype", kFloatTypes}}, kNormal, 0b1, true},
      {"TruncatedNormal", {{"dtype", kFloatTypes}}, kTruncated, 0b1, true},
      {"RandomUniformInt", {{"Tout", kIndexTypes}}, PrepareIntegers, 0b1, true},
      {"StatelessRandomUniform", {{"dtype", kFloatTypes}}, kUniform, 0b1},
      {"StatelessRandomNormal", {{"dtype", kFloatTypes}}, kNormal, 0b1},
      {"StatelessTruncatedNormal", {{"dtype", kFloatTypes}}, kTruncated, 0b1},
      {"StatelessRandomUniformInt", {{"dtype", kIndexTypes}}, PrepareIntegers, 0b1},
      {"StatelessRandomUniformFullInt", {{"dtype", kWordTypes}}, PrepareAllIntegers, 0b1},
      {"StatelessRandomUniformV2", {{"dtype", kFloatTypes}}, kUniform, 0b1},
      {"StatelessRandomNormalV2", {{"dtype", kFloatTypes}}, kNormal, 0b1},
      {"StatelessTruncatedNormalV2", {{"dtype", kFloatTypes}}, kTruncated, 0b1},
      {"StatelessRandomUniformIntV2", {{"dtype", kIndexTypes}}, PrepareIntegers, 0b1},
      {"StatelessRandomUniformFullIntV2", {{"dtype", kWordTypes}}, PrepareAllIntegers, 0b1},
      InVariable("StatefulUniform", kFloatTypes, kUniform, 0b100),
      InVariable("StatefulStandardNormal", kFloatTypes, kNormal, 0b10),
      InVariable("StatefulStandardNormalV2", kFloatTypes, kNormal, 0b100),
      InVariable("StatefulTruncatedNormal", kFloatTypes, kTruncated, 0b100),
      InVariable("StatefulUniformInt", kIndexTypes, PrepareIntegers, 0b100),
      InVariable("StatefulUniformFullInt", kWordTypes, PrepareAllIntegers, 0b100),
      {"NonDeterministicInts", {{"dtype", kWordTypes}}, PrepareAllIntegers, 0b1, true},
  };
  return specs;
}

}  // namespace tenon::cpu
