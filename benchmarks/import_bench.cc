// Import: GraphDef bytes to a verified Graph with resolved edges and types. Items are nodes.
// API_BENCH_MODEL names a GraphDef to import besides those that the program makes, as in api_bench.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/base/file_bytes.h"
#include "graph/io/graph_reader.h"
#include "graph/io/io.h"
#include "graph/op_defs/attr_value.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

void AppendNode(std::string* graph, std::string_view name, std::string_view op,
                std::initializer_list<std::string> inputs,
                std::initializer_list<std::pair<std::string_view, std::string>> attrs) {
  std::string node;
  WireWriter writer(&node);
  writer.Bytes(1, name);
  writer.Bytes(2, op);
  for (const std::string& input : inputs) writer.Bytes(3, input);
  for (const auto& [key, value] : attrs) {
    std::string entry;
    WireWriter(&entry).Bytes(1, key);
    WireWriter(&entry).Bytes(2, value);
    writer.Bytes(5, entry);
  }
  WireWriter(graph).Bytes(1, node);
}

void AppendPlaceholder(std::string* graph) {
  AppendNode(graph, "layer/x", "Placeholder", {},
             {{"dtype", attr::Type(DataType::kFloat)}, {"shape", attr::Shape(Shape({}))}});
}

std::string Name(int64_t i) {
  return i < 0 ? "layer/x" : absl::StrCat("layer/block_", i % 100, "/add_", i);
}

// x + 1 - 1 …: every node feeds the next.
std::string Chain(int64_t nodes) {
  std::string graph;
  AppendPlaceholder(&graph);
  for (int64_t i = 0; i + 1 < nodes; ++i) {
    AppendNode(&graph, Name(i), "Neg", {Name(i - 1)}, {{"T", attr::Type(DataType::kFloat)}});
  }
  return graph;
}

// Two inputs anywhere before, each.
std::string RandomDag(int64_t nodes) {
  std::string graph;
  AppendPlaceholder(&graph);
  std::mt19937_64 random(7);
  for (int64_t i = 0; i + 1 < nodes; ++i) {
    const auto any = [&] {
      return Name(static_cast<int64_t>(random() % static_cast<uint64_t>(i + 1)) - 1);
    };
    AppendNode(&graph, Name(i), "AddV2", {any(), any()}, {{"T", attr::Type(DataType::kFloat)}});
  }
  return graph;
}

// A third of the nodes are constants, no two of them equal: what freezing makes of a trained model.
std::string Constants(int64_t nodes) {
  std::string graph;
  AppendPlaceholder(&graph);
  for (int64_t i = 0; i + 2 < nodes; i += 3) {
    std::string tensor("\x08\x01\x12\x00\x2a\x04", 6);
    const auto value = static_cast<float>(i);
    tensor.append(reinterpret_cast<const char*>(&value), sizeof(value));
    const std::string constant = absl::StrCat(Name(i), "/y");
    AppendNode(&graph, constant, "Const", {},
               {{"dtype", attr::Type(DataType::kFloat)}, {"value", attr::TensorWire(tensor)}});
    AppendNode(&graph, Name(i), "AddV2", {Name(i == 0 ? -1 : i - 2), constant},
               {{"T", attr::Type(DataType::kFloat)}});
    AppendNode(&graph, Name(i + 1), "Relu", {Name(i)}, {{"T", attr::Type(DataType::kFloat)}});
  }
  return graph;
}

using Generator = std::string (*)(int64_t);

// Bytes to Graph: names, edges, kinds with types; no verification.
template <Generator kMake>
void BM_Read(benchmark::State& state) {
  const FileBytes bytes = BytesOf(kMake(state.range(0)));
  for (auto _ : state) {
    DefectLog log;
    absl::StatusOr<Graph> graph =
        GraphReader::Read({bytes.bytes, bytes.owner, "bench", {}, {}, {}}, ImportLimits(), &log);
    if (!graph.ok() || log.size() != 0) state.SkipWithError("the graph does not import");
    benchmark::DoNotOptimize(graph);
  }
  state.counters["per_node"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Reads and verifies a copy of the bytes; the time of the copy does not count.
absl::StatusOr<Imported> ImportCopy(benchmark::State& state, const std::string& bytes) {
  state.PauseTiming();
  std::string copy = bytes;
  state.ResumeTiming();
  absl::StatusOr<Imported> imported = ImportBytes(std::move(copy), "bench");
  if (!imported.ok() || !imported->defects.empty())
    state.SkipWithError("the graph does not import");
  benchmark::DoNotOptimize(imported);
  return imported;
}

// What users wait for: read and verified. The end of the graph counts.
template <Generator kMake>
void BM_Import(benchmark::State& state) {
  const std::string bytes = kMake(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ImportCopy(state, bytes).ok());
  state.counters["per_node"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Without the end of the graph, as api_bench measures the C API.
void BM_ImportModel(benchmark::State& state) {
  const char* path = std::getenv("API_BENCH_MODEL");
  if (path == nullptr) return state.SkipWithError("API_BENCH_MODEL names no GraphDef");
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (auto _ : state) {
    {
      const absl::StatusOr<Imported> imported = ImportCopy(state, bytes);
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
}
BENCHMARK(BM_ImportModel)->Unit(benchmark::kMillisecond);

#define TENON_IMPORT_SIZES \
  Arg(1000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond)
BENCHMARK(BM_Read<Chain>)->TENON_IMPORT_SIZES;
BENCHMARK(BM_Read<RandomDag>)->TENON_IMPORT_SIZES;
BENCHMARK(BM_Read<Constants>)->TENON_IMPORT_SIZES;
BENCHMARK(BM_Import<Chain>)->TENON_IMPORT_SIZES;
BENCHMARK(BM_Import<RandomDag>)->TENON_IMPORT_SIZES;
BENCHMARK(BM_Import<Constants>)->TENON_IMPORT_SIZES;

}  // namespace
}  // namespace tenon
