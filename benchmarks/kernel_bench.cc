// What kernels that only move memory reach of the memory's speed: a prepared kernel's Run, one
// pinned thread, float, tensors of 16 KB to 64 MB, as a share of the bandwidth of memcpy or of
// reading, measured in turns with it.
//
//   kernel_bench [--rounds N] [NAME...]      only rows whose name contains a NAME
//
// A size is that of the largest input. A row against `copy` is compared with a memcpy that moves as
// many bytes in all: for AddV2, which reads two inputs and writes one output of n bytes, a memcpy
// of 1.5 n bytes, which reads as many and writes as many. A row against `read` is compared with
// adding up the input's bytes as 64-bit integers in vectors. Shares are medians over the rounds.
#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/bench_kernel.h"
#include "graph/op_defs/attr_value.h"

namespace tenon {
namespace {

constexpr int64_t kSizes[] = {16 << 10, 256 << 10, 4 << 20, 64 << 20};
constexpr double kBatchSeconds = 10e-3;  // so that the caches hold what they can of most runs

enum class Peer { kCopy, kRead };

using Attrs = std::map<std::string, std::string>;

struct Row {
  std::string name;
  const char* op;
  Peer peer;
  // For n floats, a square number.
  std::function<std::vector<Tensor>(int64_t n)> inputs;
  Attrs attrs;
};

Tensor Floats(const Shape& shape) { return Filled(DataType::kFloat, shape); }
Tensor Ints(std::vector<int32_t> values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor::Of<int32_t>(DataType::kInt32, values, Shape({n}));
}
Shape Square(int64_t n) {
  const int64_t side = std::llround(std::sqrt(static_cast<double>(n)));
  return Shape({side, side});
}
// [1, height, width, 64], as images are.
Shape Image(int64_t n) {
  const Shape square = Square(n / 64);
  return Shape({1, square.dim(0), square.dim(1), 64});
}

Row Binary(const char* op) {
  return {op,
          op,
          Peer::kCopy,
          [](int64_t n) {
            return std::vector{Floats(Shape({n})), Floats(Shape({n}))};
          },
          {{"T", attr::Type(DataType::kFloat)}}};
}
// A matrix and one row.
Row BinaryRow(const char* op) {
  return {std::string(op) + " row",
          op,
          Peer::kCopy,
          [](int64_t n) {
            return std::vector{Floats(Square(n)), Floats(Shape({Square(n).dim(1)}))};
          },
          {{"T", attr::Type(DataType::kFloat)}}};
}
Row Cast(DataType from, DataType to) {
  return {"Cast " + std::string(DataTypeName(from)) + " to " + std::string(DataTypeName(to)),
          "Cast",
          Peer::kCopy,
          [from](int64_t n) { return std::vector{Filled(from, Shape({n}))}; },
          {{"SrcT", attr::Type(from)}, {"DstT", attr::Type(to)}}};
}
Row Reduction(const char* op, int axis) {
  return {std::string(op) + (axis == 0 ? " outer axis" : " inner axis"),
          op,
          Peer::kRead,
          [axis](int64_t n) {
            return std::vector{Floats(Square(n)), Ints({axis})};
          },
          {{"T", attr::Type(DataType::kFloat)},
           {"Tidx", attr::Type(DataType::kInt32)},
           {"keep_dims", attr::Bool(false)}}};
}
Row Transpose(const char* name, Shape (*shape)(int64_t), std::vector<int32_t> perm) {
  return {std::string("Transpose ") + name,
          "Transpose",
          Peer::kCopy,
          [shape, perm](int64_t n) {
            return std::vector{Floats(shape(n)), Ints(perm)};
          },
          {{"T", attr::Type(DataType::kFloat)}, {"Tperm", attr::Type(DataType::kInt32)}}};
}

std::vector<Row> Rows() {
  const Attrs of_float = {{"T", attr::Type(DataType::kFloat)}};
  return {
      Binary("AddV2"),
      Binary("Mul"),
      BinaryRow("AddV2"),
      BinaryRow("Mul"),
      {"Relu", "Relu", Peer::kCopy, [](int64_t n) { return std::vector{Floats(Shape({n}))}; },
       of_float},
      Cast(DataType::kFloat, DataType::kInt32),
      Cast(DataType::kInt32, DataType::kFloat),
      Cast(DataType::kFloat, DataType::kHalf),
      Cast(DataType::kFloat, DataType::kBfloat16),
      {"SelectV2", "SelectV2", Peer::kCopy,
       [](int64_t n) {
         return std::vector{Filled(DataType::kBool, Shape({n})), Floats(Shape({n})),
                            Floats(Shape({n}))};
       },
       of_float},
      Reduction("Sum", 1),
      Reduction("Sum", 0),
      Reduction("Max", 1),
      Reduction("Max", 0),
      Transpose("[1,0]", Square, {1, 0}),
      Transpose("[0,3,1,2]", Image, {0, 3, 1, 2}),
      Transpose("[0,2,1,3]", Image, {0, 2, 1, 3}),
  };
}

// Adds up 64-bit words in eight vectors side by side; `bytes` is a multiple of 512.
__attribute__((target("avx512f"))) int64_t ReadAvx512(const char* data, int64_t bytes) {
  __m512i sum[8] = {};
  for (int64_t i = 0; i < bytes; i += 512) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      sum[k] = _mm512_add_epi64(sum[k], _mm512_loadu_si512(data + i + 64 * k));
    }
  }
#pragma GCC unroll 8
  for (int k = 1; k < 8; ++k) sum[0] = _mm512_add_epi64(sum[0], sum[k]);
  alignas(64) int64_t lanes[8];
  _mm512_store_si512(lanes, sum[0]);
  return std::accumulate(lanes, lanes + 8, int64_t{0});
}
__attribute__((target("avx2"))) int64_t ReadAvx2(const char* data, int64_t bytes) {
  __m256i sum[8] = {};
  for (int64_t i = 0; i < bytes; i += 256) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      const auto* at = reinterpret_cast<const __m256i*>(data + i + 32 * k);
      sum[k] = _mm256_add_epi64(sum[k], _mm256_loadu_si256(at));
    }
  }
#pragma GCC unroll 8
  for (int k = 1; k < 8; ++k) sum[0] = _mm256_add_epi64(sum[0], sum[k]);
  alignas(32) int64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum[0]);
  return std::accumulate(lanes, lanes + 4, int64_t{0});
}

// What a kernel is measured against. It walks over the kernel's own memory where that is large
// enough: how fast memory is depends on where it lies.
class Bandwidth {
 public:
  Bandwidth(Peer peer, int64_t bytes, const Tensor& in, const Tensor& out)
      : peer_(peer),
        bytes_(bytes),
        from_(AtLeast(bytes, in)),
        to_(peer == Peer::kCopy ? AtLeast(bytes, out) : Tensor()) {}

  void Run() const {
    if (peer_ == Peer::kCopy) {
      std::memcpy(to_.data(), from_.data(), bytes_);
      asm volatile("" ::: "memory");
      return;
    }
    static const bool avx512 = __builtin_cpu_supports("avx512f");
    volatile int64_t sink;
    sink = (avx512 ? ReadAvx512 : ReadAvx2)(from_.flat<char>(), bytes_);
    (void)sink;
  }
  // Read and written.
  int64_t bytes() const { return peer_ == Peer::kCopy ? 2 * bytes_ : bytes_; }

 private:
  static Tensor AtLeast(int64_t bytes, const Tensor& tensor) {
    return static_cast<int64_t>(tensor.bytes()) >= bytes
               ? tensor
               : Filled(DataType::kInt32, Shape({bytes / 4}));
  }

  Peer peer_;
  int64_t bytes_;
  Tensor from_, to_;
};

// Seconds that `calls` calls take.
template <typename F>
double Time(int64_t calls, F f) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
// Calls that take about kBatchSeconds; warms up.
template <typename F>
int64_t CallsPerBatch(F f) {
  int64_t calls = 1;
  for (double took; (took = Time(calls, f)) < kBatchSeconds / 2;) calls *= 2;
  return calls;
}

double Median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

struct Measured {
  double share;        // of the peer's bandwidth
  double nanoseconds;  // of one run
  double peer_rate;    // bytes a second
};

Measured Measure(const Row& row, int64_t size, int rounds) {
  const auto made = BenchKernel::Make(row.op, row.attrs, row.inputs(size / 4), false);
  if (!made.ok()) {
    std::fprintf(stderr, "%s: %s\n", row.name.c_str(), made.status().ToString().c_str());
    std::exit(1);
  }
  const BenchKernel& kernel = **made;
  auto moved = static_cast<int64_t>(kernel.inputs()[0].bytes());
  if (row.peer == Peer::kCopy) {
    moved = static_cast<int64_t>(kernel.output().bytes());
    for (const Tensor& in : kernel.inputs()) moved += static_cast<int64_t>(in.bytes());
    moved /= 2;
  }
  const Bandwidth peer(row.peer, moved / 512 * 512, kernel.inputs()[0], kernel.output());
  const auto run_kernel = [&] { kernel.Run().IgnoreError(); };
  const auto run_peer = [&] { peer.Run(); };
  const int64_t calls = CallsPerBatch(run_kernel), peer_calls = CallsPerBatch(run_peer);
  std::vector<double> share, own, other;
  for (int r = 0; r < rounds; ++r) {
    own.push_back(Time(calls, run_kernel) / static_cast<double>(calls));
    other.push_back(Time(peer_calls, run_peer) / static_cast<double>(peer_calls));
    share.push_back(other.back() / own.back());
  }
  return {Median(share), Median(own) * 1e9, static_cast<double>(peer.bytes()) / Median(other)};
}

void PinToThisCore() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(sched_getcpu(), &set);
  sched_setaffinity(0, sizeof set, &set);
}

void PrintRow(const Row& row, int rounds) {
  std::printf("%-24s %-5s", row.name.c_str(), row.peer == Peer::kCopy ? "copy" : "read");
  std::vector<Measured> measured;
  for (int64_t size : kSizes) measured.push_back(Measure(row, size, rounds));
  for (const Measured& m : measured) std::printf(" %6.0f %%", m.share * 100);
  std::printf("   |");
  for (const Measured& m : measured) std::printf(" %10.0f", m.nanoseconds);
  std::printf("   |");
  for (const Measured& m : measured) std::printf(" %5.0f", m.peer_rate * 1e-9);
  std::printf("\n");
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  int rounds = 15;
  std::vector<std::string_view> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      wanted.push_back(argv[i]);
    }
  }
  PinToThisCore();
  std::printf("%-24s %-5s %-36s | %-43s | %s\n", "", "of", "  share: 16 KB, 256 KB, 4 MB, 64 MB",
              "nanoseconds a run", "copy or read, GB/s");
  for (const Row& row : Rows()) {
    const bool chosen = std::any_of(wanted.begin(), wanted.end(), [&](std::string_view w) {
      return row.name.find(w) != std::string::npos;
    });
    if (wanted.empty() || chosen) PrintRow(row, rounds);
  }
  return 0;
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) { return tenon::Main(argc, argv); }
