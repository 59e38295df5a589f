// Single kernels, prepared as a plan prepares them, one thread: matrix products and the
// convolutions of ResNet-50. Rate is floating point operations a second.
#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/bench_kernel.h"
#include "graph/op_defs/attr_value.h"

namespace tenon {
namespace {

// Runs one float kernel over and over; inputs from the second on are constants if `constant`.
void RunKernel(benchmark::State& state, const char* op, std::map<std::string, std::string> attrs,
               const std::vector<Shape>& shapes, bool constant, double flops, int64_t threads) {
  attrs["T"] = attr::Type(DataType::kFloat);
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) inputs.push_back(Filled(DataType::kFloat, shape));
  const auto kernel =
      BenchKernel::Make(op, attrs, std::move(inputs), constant, static_cast<int>(threads));
  if (!kernel.ok()) return state.SkipWithError(kernel.status().ToString().c_str());
  for (auto _ : state) {
    benchmark::DoNotOptimize((*kernel)->Run());
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

// {m, n, k, constant, threads}
void BM_MatMul(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  RunKernel(state, "MatMul",
            {{"transpose_a", attr::Bool(false)}, {"transpose_b", attr::Bool(false)}},
            {Shape({m, k}), Shape({k, n})}, state.range(3) != 0, 2.0 * m * n * k, state.range(4));
}
BENCHMARK(BM_MatMul)
    ->Args({128, 768, 768, 1, 1})
    ->Args({128, 3072, 768, 1, 1})
    ->Args({128, 768, 3072, 1, 1})
    ->Args({1024, 1024, 1024, 1, 1})
    ->Args({128, 768, 768, 0, 1})
    ->Args({1, 1024, 1024, 1, 1})
    ->Args({1, 1024, 784, 1, 1})
    ->Args({1, 10, 1024, 1, 1})
    ->Args({1, 64, 13, 1, 1})
    ->Args({8, 8, 8, 1, 1})
    ->Args({32, 1024, 1024, 1, 1})
    ->Args({128, 3072, 768, 1, 2});

// {batches, m, n, k, adj_y, threads}
void BM_BatchMatMul(benchmark::State& state) {
  const int64_t b = state.range(0), m = state.range(1), n = state.range(2), k = state.range(3);
  const bool adj = state.range(4) != 0;
  RunKernel(state, "BatchMatMulV2", {{"adj_x", attr::Bool(false)}, {"adj_y", attr::Bool(adj)}},
            {Shape({b, m, k}), adj ? Shape({b, n, k}) : Shape({b, k, n})}, false,
            2.0 * b * m * n * k, state.range(5));
}
BENCHMARK(BM_BatchMatMul)
    ->Args({12, 128, 128, 64, 0, 1})
    ->Args({12, 128, 128, 64, 1, 1})
    ->Args({12, 128, 64, 128, 0, 1});

// {rows and columns, in, out, filter, stride, threads}
void BM_Conv(benchmark::State& state) {
  const int64_t size = state.range(0), in = state.range(1), out = state.range(2),
                filter = state.range(3), stride = state.range(4),
                result = (size + stride - 1) / stride;
  RunKernel(state, "_FusedConv2D",
            {{"strides", attr::IntList({1, stride, stride, 1})},
             {"padding", attr::String("SAME")},
             {"num_args", attr::Int(1)},
             {"TArgs", attr::TypeList({DataType::kFloat})},
             {"fused_ops", attr::StringList({"BiasAdd", "Relu"})}},
            {Shape({1, size, size, in}), Shape({filter, filter, in, out}), Shape({out})}, true,
            2.0 * result * result * out * in * filter * filter, state.range(5));
}
BENCHMARK(BM_Conv)
    ->Args({224, 3, 64, 7, 2, 1})
    ->Args({56, 64, 64, 1, 1, 1})
    ->Args({56, 64, 64, 3, 1, 1})
    ->Args({56, 64, 256, 1, 1, 1})
    ->Args({56, 256, 128, 1, 2, 1})
    ->Args({28, 128, 128, 3, 1, 1})
    ->Args({14, 256, 256, 3, 1, 1})
    ->Args({14, 256, 1024, 1, 1, 1})
    ->Args({7, 512, 512, 3, 1, 1})
    ->Args({7, 512, 2048, 1, 1, 1})
    ->Args({224, 3, 64, 7, 2, 2})
    ->Args({56, 64, 64, 3, 1, 2})
    ->Args({56, 64, 256, 1, 1, 2})
    ->Args({56, 256, 128, 1, 2, 2})
    ->Args({28, 512, 1024, 1, 2, 2})
    ->Args({14, 256, 256, 3, 1, 2})
    ->Args({14, 1024, 2048, 1, 2, 2})
    ->Args({7, 512, 512, 3, 1, 2})
    ->Args({7, 512, 2048, 1, 1, 2});

// {rows and columns, channels, stride, threads}
void BM_Depthwise(benchmark::State& state) {
  const int64_t size = state.range(0), channels = state.range(1), stride = state.range(2),
                result = (size + stride - 1) / stride;
  RunKernel(state, "DepthwiseConv2dNative",
            {{"strides", attr::IntList({1, stride, stride, 1})}, {"padding", attr::String("SAME")}},
            {Shape({1, size, size, channels}), Shape({3, 3, channels, 1})}, true,
            18.0 * result * result * channels, state.range(3));
}
BENCHMARK(BM_Depthwise)->Args({112, 32, 1, 1})->Args({56, 144, 1, 1})->Args({14, 384, 1, 1});

// {rows, columns, threads}
void BM_Softmax(benchmark::State& state) {
  RunKernel(state, "Softmax", {}, {Shape({state.range(0), state.range(1)})}, false,
            state.range(0) * state.range(1), state.range(2));
}
BENCHMARK(BM_Softmax)->Args({1536, 128, 1})->Args({1, 10, 1})->Args({64, 1000, 1});

// {rows, columns, threads}
void BM_BiasAdd(benchmark::State& state) {
  RunKernel(state, "BiasAdd", {},
            {Shape({state.range(0), state.range(1)}), Shape({state.range(1)})}, false,
            state.range(0) * state.range(1), state.range(2));
}
BENCHMARK(BM_BiasAdd)->Args({128, 768, 1})->Args({3136, 64, 1});

}  // namespace
}  // namespace tenon
