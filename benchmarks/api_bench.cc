// The client C API: building, importing and running graphs. The source uses nothing but TensorFlow's
// C API, so that the same program links with libtenon.so or with the libraries of a TensorFlow
// package T:
//   g++ -O2 -IT/include benchmarks/api_bench.cc -lbenchmark -lbenchmark_main T/libtensorflow_cc.so.2
//       T/libtensorflow_framework.so.2 -Wl,-rpath,T
// API_BENCH_MODEL names a GraphDef to import besides those that the program makes.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

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

// A session that is run again and again: two feeds and one node.
void SessionRun(benchmark::State& state) {
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  const TF_Output inputs[] = {{Placeholder(graph, status, "x"), 0},
                              {Placeholder(graph, status, "y"), 0}};
  const TF_Output output{AddV2(graph, status, "z", inputs[0], inputs[1]), 0};
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(status);
  TF_Tensor* const values[] = {Scalar(1), Scalar(2)};
  for (auto _ : state) {
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, inputs, values, 2, &output, &result, 1, nullptr, 0, nullptr,
                  status);
    TF_DeleteTensor(result);
  }
  Check(status);
  for (TF_Tensor* value : values) TF_DeleteTensor(value);
  TF_DeleteSession(session, status);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}
BENCHMARK(SessionRun);

}  // namespace
