// The client C API: building, importing and running graphs, and making sessions. The source uses
// nothing but TensorFlow's C API, so that benchmarks/api_ratios.sh runs it with TensorFlow too.
// API_BENCH_MODEL names a GraphDef to import besides those that the program makes.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tensorflow/c/c_api.h"

namespace {

// Ends the program where a call fails: a time for it would mean nothing.
void Check(const TF_Status* status) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "api_bench: %s\n", TF_Message(status));
  std::exit(1);
}

TF_Operation* Placeholder(TF_Graph* graph, TF_Status* status, const char* name) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_Operation* oper = TF_FinishOperation(desc, status);
  Check(status);
  return oper;
}

TF_Operation* AddV2(TF_Graph* graph, TF_Status* status, const char* name, TF_Output x,
                    TF_Output y) {
  TF_OperationDescription* desc = TF_NewOperation(graph, "AddV2", name);
  TF_AddInput(desc, x);
  TF_AddInput(desc, y);
  TF_Operation* oper = TF_FinishOperation(desc, status);
  Check(status);
  return oper;
}

TF_Tensor* Scalar(float value) {
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof(value));
  std::memcpy(TF_TensorData(t), &value, sizeof(value));
  return t;
}

void AddChain(TF_Graph* graph, TF_Status* status, int64_t nodes) {
  TF_Output last{Placeholder(graph, status, "x"), 0};
  char name[32];
  for (int64_t i = 0; i < nodes; ++i) {
    std::snprintf(name, sizeof(name), "n%ld", static_cast<long>(i));
    last = {AddV2(graph, status, name, last, last), 0};
  }
}

void BuildChain(benchmark::State& state) {
  TF_Status* status = TF_NewStatus();
  for (auto _ : state) {
    TF_Graph* graph = TF_NewGraph();
    AddChain(graph, status, state.range(0));
    state.PauseTiming();
    TF_DeleteGraph(graph);
    state.ResumeTiming();
  }
  TF_DeleteStatus(status);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BuildChain)->Arg(1000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

// Each node has a value of its own.
void BuildConstants(benchmark::State& state) {
  TF_Status* status = TF_NewStatus();
  char name[32];
  for (auto _ : state) {
    TF_Graph* graph = TF_NewGraph();
    for (int64_t i = 0; i < state.range(0); ++i) {
      std::snprintf(name, sizeof(name), "c%ld", static_cast<long>(i));
      TF_Tensor* value = Scalar(static_cast<float>(i));
      TF_OperationDescription* desc = TF_NewOperation(graph, "Const", name);
      TF_SetAttrType(desc, "dtype", TF_FLOAT);
      TF_SetAttrTensor(desc, "value", value, status);
      TF_DeleteTensor(value);
      TF_FinishOperation(desc, status);
      Check(status);
    }
    state.PauseTiming();
    TF_DeleteGraph(graph);
    state.ResumeTiming();
  }
  TF_DeleteStatus(status);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BuildConstants)->Arg(1000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

void Import(benchmark::State& state, const TF_Buffer* def) {
  TF_Status* status = TF_NewStatus();
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  for (auto _ : state) {
    TF_Graph* graph = TF_NewGraph();
    TF_GraphImportGraphDef(graph, def, options, status);
    Check(status);
    state.PauseTiming();
    TF_DeleteGraph(graph);
    state.ResumeTiming();
  }
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteStatus(status);
}

void ImportChain(benchmark::State& state) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  AddChain(graph, status, state.range(0));
  TF_Buffer* def = TF_NewBuffer();
  TF_GraphToGraphDef(graph, def, status);
  Check(status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  Import(state, def);
  TF_DeleteBuffer(def);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ImportChain)->Arg(1000)->Arg(100000)->Unit(benchmark::kMillisecond);

void ImportModel(benchmark::State& state) {
  const char* path = std::getenv("API_BENCH_MODEL");
  if (path == nullptr) return state.SkipWithError("API_BENCH_MODEL names no GraphDef");
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  TF_Buffer* def = TF_NewBufferFromString(bytes.data(), bytes.size());
  Import(state, def);
  TF_DeleteBuffer(def);
}
BENCHMARK(ImportModel)->Unit(benchmark::kMillisecond);

TF_Session* NewSession(TF_Graph* graph, TF_Status* status) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(status);
  TF_DeleteSessionOptions(options);
  return session;
}

// A session that runs one node again and again.
void RunNode(benchmark::State& state, TF_Graph* graph, TF_Operation* node,
             const std::vector<TF_Output>& inputs) {
  TF_Status* status = TF_NewStatus();
  TF_Session* session = NewSession(graph, status);
  const TF_Output output{node, 0};
  std::vector<TF_Tensor*> values;
  for (size_t i = 0; i < inputs.size(); ++i) values.push_back(Scalar(static_cast<float>(i)));
  for (auto _ : state) {
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, inputs.data(), values.data(), static_cast<int>(inputs.size()),
                  &output, &result, 1, nullptr, 0, nullptr, status);
    TF_DeleteTensor(result);
  }
  Check(status);
  for (TF_Tensor* value : values) TF_DeleteTensor(value);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

void SessionRunOneFeed(benchmark::State& state) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  const TF_Output x{Placeholder(graph, status, "x"), 0};
  TF_OperationDescription* desc = TF_NewOperation(graph, "Neg", "y");
  TF_AddInput(desc, x);
  TF_Operation* node = TF_FinishOperation(desc, status);
  Check(status);
  TF_DeleteStatus(status);
  RunNode(state, graph, node, {x});
}
BENCHMARK(SessionRunOneFeed);

void SessionRunTwoFeeds(benchmark::State& state) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  const TF_Output x{Placeholder(graph, status, "x"), 0}, y{Placeholder(graph, status, "y"), 0};
  TF_Operation* node = AddV2(graph, status, "z", x, y);
  TF_DeleteStatus(status);
  RunNode(state, graph, node, {x, y});
}
BENCHMARK(SessionRunTwoFeeds);

// Bytes of memory that the process has.
double ResidentBytes() {
  long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) std::exit(1);
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Sessions of one graph, each made, run once, closed and deleted. bytes_kept: what one of them
// leaves behind, after the first thousand.
void Sessions(benchmark::State& state) {
  constexpr int64_t kFirst = 1000;
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  const TF_Output x{Placeholder(graph, status, "x"), 0};
  const TF_Output y{AddV2(graph, status, "y", x, x), 0};
  TF_Tensor* value = Scalar(1);
  int64_t made = 0;
  double before = 0;
  for (auto _ : state) {
    if (made++ == kFirst) before = ResidentBytes();
    TF_Session* session = NewSession(graph, status);
    if (state.range(0) != 0) {
      TF_Tensor* result = nullptr;
      TF_SessionRun(session, nullptr, &x, &value, 1, &y, &result, 1, nullptr, 0, nullptr, status);
      TF_DeleteTensor(result);
    }
    TF_CloseSession(session, status);
    TF_DeleteSession(session, status);
  }
  Check(status);
  state.counters["bytes_kept"] = (ResidentBytes() - before) / static_cast<double>(made - kFirst);
  TF_DeleteTensor(value);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}
BENCHMARK(Sessions)->ArgName("runs")->Arg(0)->Arg(1)->Iterations(100000);

}  // namespace
