// What a call of a plug-in's kernel costs over the same kernel built in: chains of scalar
// additions, AddV2 and the op of bench_plugin.c, optimizer off, one thread.
#include <benchmark/benchmark.h>

#include "executor/session/session.h"
#include "plugin/host/loading/loader.h"

namespace tenon {
namespace {

Output AddPlaceholder(Graph& g, std::string_view name) {
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"dtype", attr::Type(DataType::kFloat)});
  attrs.push_back({"shape", attr::Shape(Shape())});
  return {*g.AddNode(name, "Placeholder", {}, std::move(attrs)), 0};
}

void Chain(benchmark::State& state, const char* op) {
  if (const auto loaded = LoadPlugin(TENON_BENCH_PLUGIN); !loaded.ok())
    return state.SkipWithError(loaded.status().ToString().c_str());
  Graph g;
  const Output x = AddPlaceholder(g, "x"), y = AddPlaceholder(g, "y");
  Output last = x;
  for (int64_t i = 0; i < state.range(0); ++i) {
    const Output inputs[] = {last, y};
    std::vector<Graph::NewAttr> attrs;
    if (std::string_view(op) == "AddV2") attrs.push_back({"T", attr::Type(DataType::kFloat)});
    last = {*g.AddNode("add" + std::to_string(i), op, inputs, std::move(attrs)), 0};
  }
  const std::string fetch = g.OutputName(last);
  SessionOptions options;
  options.opt_level = 0;
  options.threads = 1;
  auto session = Session::Create(std::move(g), {}, options);
  if (!session.ok()) return state.SkipWithError(session.status().ToString().c_str());
  auto executable = (*session)->Prepare({"x", "y"}, {fetch});
  if (!executable.ok()) return state.SkipWithError(executable.status().ToString().c_str());
  const float zero = 0, tiny = 1e-6f;
  const std::vector<Tensor> feeds = {Tensor::CopyOf(DataType::kFloat, {}, &zero, sizeof(zero)),
                                     Tensor::CopyOf(DataType::kFloat, {}, &tiny, sizeof(tiny))};
  for (auto _ : state) {
    auto out = (*session)->Run(*executable, feeds);
    if (!out.ok()) state.SkipWithError(out.status().ToString().c_str());
    benchmark::DoNotOptimize(out);
  }
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(Chain, built_in, "AddV2")->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Chain, plug_in, "BenchAdd")->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tenon
