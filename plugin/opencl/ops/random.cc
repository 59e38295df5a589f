// Random numbers by Philox, the same as TensorFlow's CPU draws from the same seeds. Seeds, keys and
// counters lie in host memory.

#include <algorithm>
#include <mutex>
#include <random>

#include "../base/launch.h"
#include "../base/registry.h"
#include "families.h"

namespace opencl {
namespace {

// A 128-bit counter of blocks, its lower half first, and a key.
struct Philox {
  uint64_t counter[2] = {};
  uint64_t key = 0;

  void Skip(uint64_t blocks) {
    counter[0] += blocks;
    if (counter[0] < blocks) ++counter[1];
  }
};

uint64_t JoinWords(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// The generator of a stateless op with this seed: one block of TensorFlow's fixed key mixes both
// numbers (random.cl has the rounds, too).
Philox PhiloxOfSeed(uint64_t seed0, uint64_t seed1) {
  uint32_t c[4] = {static_cast<uint32_t>(seed0), static_cast<uint32_t>(seed0 >> 32),
                   static_cast<uint32_t>(seed1), static_cast<uint32_t>(seed1 >> 32)};
  uint32_t key[2] = {0x3ec8f720u, 0x02461e29u};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53u} * c[0], b = uint64_t{0xcd9e8d57u} * c[2];
    const uint32_t next[4] = {
        static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
        static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    std::copy(std::begin(next), std::end(next), c);
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return {{0, JoinWords(c[2], c[3])}, JoinWords(c[0], c[1])};
}

// Where a generator comes from.
enum class From { kSeed, kKey, kNode };
enum class Drawn { kUniform, kNormal, kTruncated, kIntegers, kAllIntegers };

struct RandomRow {
  OpRow row;
  From from;
  Drawn drawn;
};

class Random {
 public:
  Random(const Construction& node, const RandomRow& row) : row_(row) {
    if (row.from == From::kNode) Start(node.Int("seed"), node.Int("seed2"));
  }

  void Compute(Call& call) {
    const Dims dims = call.HostInts(0);
    if (call.In(0).rank() != 1) Refuse("shape must be a vector, not " + ShapeText(call.In(0).dims));
    for (const int64_t size : dims) {
      if (size < 0) Refuse("shape must not be negative: " + ShapeText(dims));
    }
    const Tensor out = call.Out(0, dims);
    if (row_.drawn == Drawn::kIntegers || row_.drawn == Drawn::kAllIntegers)
      return Integers(call, out);
    const Philox philox = PhiloxFor(call, out.count);
    if (out.count == 0) return;
    const ElementType& type = TypeOf(out.type);
    KernelKey key("random_floats");
    Launch launch(call, key.Number(out.type).Number(static_cast<int64_t>(row_.drawn)), [&] {
      return Source{"random.cl",
                    DefineType("O", type) + PerBlock(out) +
                        (row_.drawn == Drawn::kNormal      ? "#define NORMAL\n"
                         : row_.drawn == Drawn::kTruncated ? "#define TRUNCATED\n"
                                                           : "#define UNIFORM\n") +
                        (type.bit == kF16    ? "#define BITS 10\n"
                         : type.bit == kBF16 ? "#define BITS 7\n"
                                             : ""),
                    "random_floats"};
    });
    Draw(launch, out, philox).Run(Blocks(out));
  }

 private:
  // As TensorFlow seeds the generator that a node keeps.
  void Start(int64_t seed, int64_t seed2) {
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      seed = static_cast<int64_t>(JoinWords(device(), device()));
      seed2 = static_cast<int64_t>(JoinWords(device(), device()));
    }
    kept_ = {{0, static_cast<uint64_t>(seed2)}, static_cast<uint64_t>(seed)};
  }

  static int64_t OfBlock(const Tensor& out) { return TypeOf(out.type).bytes == 8 ? 2 : 4; }
  static int64_t Blocks(const Tensor& out) { return (out.count + OfBlock(out) - 1) / OfBlock(out); }
  static std::string PerBlock(const Tensor& out) {
    return "#define PER_BLOCK " + std::to_string(OfBlock(out)) + "\n";
  }
  static Launch& Draw(Launch& launch, const Tensor& out, const Philox& philox) {
    launch.Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Value(cl_ulong2{{philox.counter[0], philox.counter[1]}});
    return launch.Value(
        cl_uint2{{static_cast<cl_uint>(philox.key), static_cast<cl_uint>(philox.key >> 32)}});
  }

  // The generator of this call. That of a node moves on by as many blocks as TensorFlow sets aside.
  Philox PhiloxFor(Call& call, int64_t count) {
    constexpr uint64_t kBlocksPerNumber = 256;
    if (row_.from == From::kNode) {
      const std::lock_guard<std::mutex> lock(mutex_);
      const Philox philox = kept_;
      kept_.Skip(kBlocksPerNumber * static_cast<uint64_t>(count));
      return philox;
    }
    const std::vector<int64_t> seed = call.HostInts(1);
    if (row_.from == From::kSeed) {
      if (seed.size() != 2 || call.In(1).rank() != 1)
        Refuse("seed must have shape [2], not " + ShapeText(call.In(1).dims));
      return PhiloxOfSeed(static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]));
    }
    const std::vector<int64_t> counter = call.HostInts(2), algorithm = call.HostInts(3);
    if (seed.size() != 1 || counter.size() < 2 || algorithm.size() != 1)
      Refuse("key must have one element, counter two, and alg must be a scalar");
    if (algorithm[0] == 2) NotImplemented("random numbers by algorithm 2, ThreeFry, on OPENCL");
    if (algorithm[0] != 1 && algorithm[0] != 3)
      Refuse("alg must be 1 (Philox) or 3 (to be chosen), not " + std::to_string(algorithm[0]));
    return {{static_cast<uint64_t>(counter[0]), static_cast<uint64_t>(counter[1])},
            static_cast<uint64_t>(seed[0])};
  }

  void Integers(Call& call, const Tensor& out) {
    uint64_t low = 0, range = 0;
    if (row_.drawn == Drawn::kIntegers) {
      const int first = call.inputs() - 2;
      const std::vector<int64_t> least = call.HostInts(first), beyond = call.HostInts(first + 1);
      if (call.In(first).rank() != 0 || call.In(first + 1).rank() != 0)
        Refuse("minval and maxval must be scalars");
      if (out.count > 0 && least[0] >= beyond[0]) {
        Refuse("Need minval < maxval, got " + std::to_string(least[0]) +
               " >= " + std::to_string(beyond[0]));
      }
      low = static_cast<uint64_t>(least[0]);
      range = static_cast<uint64_t>(beyond[0]) - low;
    }
    if (out.count == 0) return;
    const Philox philox = PhiloxFor(call, out.count);
    Launch launch(call, KernelKey("random_integers").Number(OfBlock(out)), [&] {
      return Source{"random.cl",
                    DefineType("O", TypeOf(OfBlock(out) == 2 ? TF_UINT64 : TF_UINT32)) +
                        PerBlock(out) + "#define INTEGERS\n",
                    "random_integers"};
    });
    Draw(launch, out, philox).Value(cl_ulong{low}).Value(cl_ulong{range}).Run(Blocks(out));
  }

  const RandomRow& row_;
  std::mutex mutex_;
  Philox kept_;
};

// What the second versions of the stateless ops take instead of a seed, in host memory.
class KeyCounter {
 public:
  KeyCounter(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const std::vector<int64_t> seed = call.HostInts(0);
    if (seed.size() != 2 || call.In(0).rank() != 1)
      Refuse("seed must have shape [2], not " + ShapeText(call.In(0).dims));
    const Philox philox =
        PhiloxOfSeed(static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]));
    *static_cast<uint64_t*>(call.Out(0, {1}).data) = philox.key;
    std::copy(std::begin(philox.counter), std::end(philox.counter),
              static_cast<uint64_t*>(call.Out(1, {2}).data));
    if (call.outputs() == 3) *static_cast<int32_t*>(call.Out(2, {}).data) = 1;
  }
};

constexpr const char* kOfSeed = "shape seed";
constexpr const char* kOfKey = "shape key counter alg";
constexpr TypeSet kWords = kI32 | kI64 | kU32 | kU64;
constexpr RandomRow kRandom[] = {
    {{"RandomUniform", kFloats, "dtype", "shape"}, From::kNode, Drawn::kUniform},
    {{"RandomStandardNormal", kFloats, "dtype", "shape"}, From::kNode, Drawn::kNormal},
    {{"TruncatedNormal", kFloats, "dtype", "shape"}, From::kNode, Drawn::kTruncated},
    {{"RandomUniformInt", kI32 | kI64, "Tout", "shape minval maxval"},
     From::kNode,
     Drawn::kIntegers},
    {{"StatelessRandomUniform", kFloats, "dtype", kOfSeed}, From::kSeed, Drawn::kUniform},
    {{"StatelessRandomNormal", kFloats, "dtype", kOfSeed}, From::kSeed, Drawn::kNormal},
    {{"StatelessTruncatedNormal", kFloats, "dtype", kOfSeed}, From::kSeed, Drawn::kTruncated},
    {{"StatelessRandomUniformInt", kI32 | kI64, "dtype", "shape seed minval maxval"},
     From::kSeed,
     Drawn::kIntegers},
    {{"StatelessRandomUniformFullInt", kWords, "dtype", kOfSeed}, From::kSeed, Drawn::kAllIntegers},
    {{"StatelessRandomUniformV2", kFloats, "dtype", kOfKey}, From::kKey, Drawn::kUniform},
    {{"StatelessRandomNormalV2", kFloats, "dtype", kOfKey}, From::kKey, Drawn::kNormal},
    {{"StatelessTruncatedNormalV2", kFloats, "dtype", kOfKey}, From::kKey, Drawn::kTruncated},
    {{"StatelessRandomUniformIntV2", kI32 | kI64, "dtype", "shape key counter alg minval maxval"},
     From::kKey,
     Drawn::kIntegers},
    {{"StatelessRandomUniformFullIntV2", kWords, "dtype", kOfKey},
     From::kKey,
     Drawn::kAllIntegers}};
constexpr PlainRow kKeyCounter[] = {
    {{"StatelessRandomGetKeyCounter", 0, "", "seed key counter"}},
    {{"StatelessRandomGetKeyCounterAlg", 0, "", "seed key counter alg"}}};

}  // namespace

void RegisterRandom() {
  RegisterTable<Random, kRandom>();
  RegisterTable<KeyCounter, kKeyCounter>();
}

}  // namespace opencl
