// Stateful random ops: every run of a node goes on where the last one stopped.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/elementwise/element_op.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"

namespace tenon::cpu {
namespace {

enum class Distribution { kUniform, kNormal, kTruncatedNormal, kInteger };

struct RandomState {
  std::shared_ptr<GeneratorState> generator;
  Distribution distribution;
  DataType type;
  int64_t n = 0;
};

constexpr uint64_t kBlocksPerOutput = 256;  // what TensorFlow sets aside for each output

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
    // Fewer bits are used for shorter mantissas; the result is exact in the type.
    if (type == DataType::kFloat) g.f[i] = UniformFloat(w[i]);
    if (type == DataType::kHalf) g.f[i] = static_cast<float>(w[i] & 0x3ff) / 1024.0f;
    if (type == DataType::kBfloat16) g.f[i] = static_cast<float>(w[i] & 0x7f) / 128.0f;
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

Group MakeGroup(const RandomState& s, Philox philox, int64_t group) {
  if (s.distribution == Distribution::kTruncatedNormal) {
    // 256 words for each output of the group.
    philox.Skip((s.type == DataType::kDouble ? 128 : 256) * static_cast<uint64_t>(group));
    return TruncatedNormal(philox, s.type);
  }
  philox.Skip(static_cast<uint64_t>(group));
  return s.distribution == Distribution::kUniform ? Uniform(philox.Next(), s.type)
                                                  : Normal(philox.Next(), s.type);
}

void StoreGroup(const RandomState& s, const Group& g, int64_t first, void* out) {
  const int64_t count = std::min<int64_t>(g.count, s.n - first);
  if (s.type == DataType::kDouble) {
    std::memcpy(static_cast<double*>(out) + first, g.d, count * sizeof(double));
  } else if (s.type == DataType::kFloat) {
    std::memcpy(static_cast<float*>(out) + first, g.f, count * sizeof(float));
  } else {
    const void* in[] = {g.f};
    FindCastLoop(DataType::kFloat, s.type)(in, static_cast<uint16_t*>(out) + first, count, 0);
  }
}

absl::Status RunRandom(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const RandomState*>(state);
  const Philox philox = s.generator->Reserve(kBlocksPerOutput * static_cast<uint64_t>(s.n));
  const int64_t per_group = s.type == DataType::kDouble ? 2 : 4;
  args.workers->ParallelFor((s.n + per_group - 1) / per_group, 4096,
                            [&](int64_t begin, int64_t end) {
                              for (int64_t g = begin; g < end; ++g)
                                StoreGroup(s, MakeGroup(s, philox, g), g * per_group, args.out[0]);
                            });
  return absl::OkStatus();
}

template <typename T>
absl::Status RunIntegers(const void* state, const StepArgs& args) {
  using U = std::make_unsigned_t<T>;
  const auto& s = *static_cast<const RandomState*>(state);
  const T low = *static_cast<const T*>(args.in[1]);
  const T high = *static_cast<const T*>(args.in[2]);
  if (s.n == 0) return absl::OkStatus();
  if (low >= high) {
    return absl::InvalidArgumentError(
        absl::StrCat("'minval' must be below 'maxval': ", low, " and ", high));
  }
  const U range = static_cast<U>(high) - static_cast<U>(low);
  Philox philox = s.generator->Reserve(kBlocksPerOutput * static_cast<uint64_t>(s.n));
  constexpr int64_t kPerGroup = sizeof(T) == 8 ? 2 : 4;
  for (int64_t i = 0; i < s.n; i += kPerGroup) {
    const PhiloxWords w = philox.Next();
    for (int64_t k = 0; k < kPerGroup && i + k < s.n; ++k) {
      U word = w[k];
      if constexpr (sizeof(T) == 8) word = w[2 * k] | static_cast<uint64_t>(w[2 * k + 1]) << 32;
      static_cast<T*>(args.out[0])[i + k] = static_cast<T>(static_cast<U>(low) + word % range);
    }
  }
  return absl::OkStatus();
}

template <Distribution kDistribution>
absl::Status PrepareRandom(Prepare& p) {
  if (p.input_shape(0).rank() != 1) return p.Invalid("'shape' must be a vector");
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p, dims));
  auto s = std::make_shared<RandomState>();
  TENON_ASSIGN_OR_RETURN(s->generator, GeneratorOf(p));
  s->distribution = kDistribution;
  s->type = p.output_type(0);
  s->n = shape.num_elements();
  p.set_output_shape(0, shape);
  RunFn run = &RunRandom;
  if (kDistribution == Distribution::kInteger) {
    if (p.input_shape(1).rank() != 0 || p.input_shape(2).rank() != 0)
      return p.Invalid("'minval' and 'maxval' must be scalars");
    run = s->type == DataType::kInt64 ? &RunIntegers<int64_t> : &RunIntegers<int32_t>;
  }
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> RandomKernels() {
  static const CpuKernelSpec specs[] = {
      {"RandomUniform", {{"dtype", kFloatTypes}}, PrepareRandom<Distribution::kUniform>, 0b1, true},
      {"RandomStandardNormal",
       {{"dtype", kFloatTypes}},
       PrepareRandom<Distribution::kNormal>,
       0b1,
       true},
      {"TruncatedNormal",
       {{"dtype", kFloatTypes}},
       PrepareRandom<Distribution::kTruncatedNormal>,
       0b1,
       true},
      {"RandomUniformInt",
       {{"Tout", kIndexTypes}},
       PrepareRandom<Distribution::kInteger>,
       0b1,
       true},
  };
  return specs;
}

}  // namespace tenon::cpu
