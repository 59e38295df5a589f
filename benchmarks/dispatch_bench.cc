// What a node costs when its arithmetic costs nothing, optimizer off, one thread: scalars in chains
// of one op and of several, NoOps, a random and a wide graph, and a chain whose shape only the run
// tells. A chain of one op calls one function over and over, which the processor predicts; graphs
// of models mix ops.
#include <benchmark/benchmark.h>

#include <random>

#include "executor/session/session.h"

namespace tenon {
namespace {

struct Prepared {
  std::unique_ptr<Session> session;
  Executable* executable = nullptr;
  std::vector<Tensor> feeds;
};

Output AddPlaceholder(Graph& g, std::string_view name) {
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"dtype", attr::Type(DataType::kFloat)});
  attrs.push_back({"shape", attr::Shape(Shape())});
  return {*g.AddNode(name, "Placeholder", {}, std::move(attrs)), 0};
}

Output Binary(Graph& g, std::string_view op, int64_t i, Output a, Output b) {
  const Output inputs[] = {a, b};
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"T", attr::Type(DataType::kFloat)});
  return {*g.AddNode("n" + std::to_string(i), op, inputs, std::move(attrs)), 0};
}

Output Add(Graph& g, int64_t i, Output a, Output b) { return Binary(g, "AddV2", i, a, b); }

// Builds the graph over placeholders x and y; returns what to fetch.
using Builder = Output (*)(Graph&, int64_t n, Output x, Output y);

Output Chain(Graph& g, int64_t n, Output x, Output y) {
  for (int64_t i = 0; i < n; ++i) x = Add(g, i, x, y);
  return x;
}

Output TwoOpsInTurns(Graph& g, int64_t n, Output x, Output y) {
  for (int64_t i = 0; i < n; ++i) x = Binary(g, i % 2 == 0 ? "AddV2" : "Mul", i, x, y);
  return x;
}

// No branch predictor learns the order.
Output RandomOps(Graph& g, int64_t n, Output x, Output y) {
  constexpr std::string_view kOps[] = {
      "AddV2", "Mul", "Sub", "Maximum", "Minimum", "SquaredDifference", "Atan2", "RealDiv"};
  std::mt19937 random(1);
  for (int64_t i = 0; i < n; ++i) x = Binary(g, kOps[random() % std::size(kOps)], i, x, y);
  return x;
}

// Unique gives a vector of a length that only the run tells.
Output LateShapes(Graph& g, int64_t n, Output x, Output y) {
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"N", attr::Int(1)});
  attrs.push_back({"T", attr::Type(DataType::kFloat)});
  const Output inputs[] = {x};
  const Output vector = {*g.AddNode("vector", "Pack", inputs, std::move(attrs)), 0};
  attrs.clear();
  attrs.push_back({"T", attr::Type(DataType::kFloat)});
  const Output unique[] = {vector};
  Output late = {*g.AddNode("late", "Unique", unique, std::move(attrs)), 0};
  for (int64_t i = 0; i < n; ++i) late = Add(g, i, late, y);
  return late;
}

Output RandomDag(Graph& g, int64_t n, Output x, Output y) {
  // Every value is used: the first operand is one that nothing uses yet, in the end they are
  // summed.
  std::mt19937 random(1);
  std::vector<Output> values = {x, y}, unused = {x};
  int64_t i = 0;
  while (i + static_cast<int64_t>(unused.size()) <= n) {
    const size_t a = random() % unused.size();
    const Output sum = Add(g, i++, unused[a], values[random() % values.size()]);
    if (random() % 3 == 0) {
      unused.push_back(sum);
    } else {
      unused[a] = sum;
    }
    values.push_back(sum);
  }
  Output total = unused[0];
  for (size_t k = 1; k < unused.size(); ++k) total = Add(g, i++, total, unused[k]);
  return total;
}

// n/2 values that all live at once, then summed.
Output Wide(Graph& g, int64_t n, Output x, Output y) {
  std::vector<Output> values;
  int64_t i = 0;
  for (; i < n / 2; ++i) values.push_back(Add(g, i, x, y));
  Output sum = values[0];
  for (size_t k = 1; k < values.size(); ++k) sum = Add(g, i++, sum, values[k]);
  return sum;
}

Output NoOps(Graph& g, int64_t n, Output x, Output) {
  NodeId last = kNoNode;
  for (int64_t i = 0; i < n; ++i) {
    const Output control[] = {{last, kControlPort}};
    last = *g.AddNode("noop" + std::to_string(i), "NoOp",
                      last == kNoNode ? std::span<const Output>() : control, {});
  }
  const Output inputs[] = {x, {last, kControlPort}};
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"T", attr::Type(DataType::kFloat)});
  return {*g.AddNode("out", "Neg", inputs, std::move(attrs)), 0};
}

Prepared Make(Builder builder, int64_t n) {
  Graph g;
  const Output x = AddPlaceholder(g, "x"), y = AddPlaceholder(g, "y");
  const Output last = builder(g, n, x, y);
  const std::string fetch = g.OutputName(last);
  SessionOptions options;
  options.opt_level = 0;
  options.threads = 1;
  Prepared p;
  p.session = *Session::Create(std::move(g), {}, options);
  p.executable = *p.session->Prepare({"x", "y"}, {fetch});
  const float zero = 0, tiny = 1e-6f;
  p.feeds = {Tensor::CopyOf(DataType::kFloat, {}, &zero, sizeof(zero)),
             Tensor::CopyOf(DataType::kFloat, {}, &tiny, sizeof(tiny))};
  return p;
}

void CountNodes(benchmark::State& state) {
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Run(benchmark::State& state, Builder builder) {
  Prepared p = Make(builder, state.range(0));
  for (auto _ : state) {
    auto out = p.session->Run(p.executable, p.feeds);
    if (!out.ok()) state.SkipWithError(std::string(out.status().message()).c_str());
    benchmark::DoNotOptimize(out);
  }
  CountNodes(state);
}

// 1,000 to 100,000 nodes.
void Sizes(benchmark::internal::Benchmark* b) {
  b->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(Run, chain, Chain)->Arg(1)->Apply(Sizes);
BENCHMARK_CAPTURE(Run, two_ops_in_turns, TwoOpsInTurns)->Apply(Sizes);
BENCHMARK_CAPTURE(Run, random_ops, RandomOps)->Apply(Sizes);
BENCHMARK_CAPTURE(Run, late_shapes, LateShapes)->Arg(1000);
BENCHMARK_CAPTURE(Run, noop, NoOps)->Apply(Sizes);
BENCHMARK_CAPTURE(Run, random_dag, RandomDag)->Apply(Sizes);
BENCHMARK_CAPTURE(Run, wide, Wide)->Apply(Sizes);

// Session, placement and plan of a chain, bytes to first result without import.
void FirstRun(benchmark::State& state) {
  for (auto _ : state) {
    Prepared p = Make(Chain, state.range(0));
    benchmark::DoNotOptimize(p.session->Run(p.executable, p.feeds));
  }
  CountNodes(state);
}
BENCHMARK(FirstRun)->Arg(1000)->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenon
