// The time of one op that is executed alone, through TensorFlow's C API. The source uses nothing
// else, so that benchmarks/api_ratios.sh runs it with TensorFlow too.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"

namespace {

TF_Status* const status = TF_NewStatus();

void Check() {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "eager_bench: %s\n", TF_Message(status));
  std::exit(1);
}

TFE_Context* Context() {
  static TFE_Context* const context = [] {
    TFE_ContextOptions* const options = TFE_NewContextOptions();
    TFE_Context* const made = TFE_NewContext(options, status);
    Check();
    TFE_DeleteContextOptions(options);
    return made;
  }();
  return context;
}

TFE_TensorHandle* Floats(std::initializer_list<int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  TF_Tensor* const tensor = TF_AllocateTensor(TF_FLOAT, dims.begin(), static_cast<int>(dims.size()),
                                              count * sizeof(float));
  for (size_t i = 0; i < count; ++i)
    static_cast<float*>(TF_TensorData(tensor))[i] = static_cast<float>(i % 7);
  TFE_TensorHandle* const handle = TFE_NewTensorHandle(tensor, status);
  Check();
  TF_DeleteTensor(tensor);
  return handle;
}

// Makes, fills, executes and deletes an op with two inputs, and deletes its result.
void Execute(const char* name, TFE_TensorHandle* a, TFE_TensorHandle* b) {
  TFE_Op* const op = TFE_NewOp(Context(), name, status);
  TFE_OpAddInput(op, a, status);
  TFE_OpAddInput(op, b, status);
  TFE_TensorHandle* result = nullptr;
  int count = 1;
  TFE_Execute(op, &result, &count, status);
  TFE_DeleteOp(op);
  TFE_DeleteTensorHandle(result);
}

void BM_ScalarAdd(benchmark::State& state) {
  TFE_TensorHandle* const x = Floats({});
  for (auto _ : state) Execute("AddV2", x, x);
  Check();
  TFE_DeleteTensorHandle(x);
}
BENCHMARK(BM_ScalarAdd);

// The same with the type as an attribute, as generated wrappers set it, and a device.
void BM_ScalarAddWithAttrs(benchmark::State& state) {
  TFE_TensorHandle* const x = Floats({});
  for (auto _ : state) {
    TFE_Op* const op = TFE_NewOp(Context(), "AddV2", status);
    TFE_OpSetDevice(op, "/job:localhost/replica:0/task:0/device:CPU:0", status);
    TFE_OpSetAttrType(op, "T", TF_FLOAT);
    TFE_OpAddInput(op, x, status);
    TFE_OpAddInput(op, x, status);
    TFE_TensorHandle* result = nullptr;
    int count = 1;
    TFE_Execute(op, &result, &count, status);
    TFE_DeleteOp(op);
    TFE_DeleteTensorHandle(result);
  }
  Check();
  TFE_DeleteTensorHandle(x);
}
BENCHMARK(BM_ScalarAddWithAttrs);

void BM_MatMul(benchmark::State& state) {
  TFE_TensorHandle* const x = Floats({state.range(0), state.range(0)});
  for (auto _ : state) Execute("MatMul", x, x);
  Check();
  TFE_DeleteTensorHandle(x);
}
BENCHMARK(BM_MatMul)->Arg(2)->Arg(128);

// From memory of the caller to an op and back.
void BM_NewTensorAddResolve(benchmark::State& state) {
  for (auto _ : state) {
    TFE_TensorHandle* const x = Floats({2});
    TFE_Op* const op = TFE_NewOp(Context(), "AddV2", status);
    TFE_OpAddInput(op, x, status);
    TFE_OpAddInput(op, x, status);
    TFE_TensorHandle* result = nullptr;
    int count = 1;
    TFE_Execute(op, &result, &count, status);
    TF_Tensor* const value = TFE_TensorHandleResolve(result, status);
    benchmark::DoNotOptimize(TF_TensorData(value));
    TF_DeleteTensor(value);
    TFE_DeleteTensorHandle(result);
    TFE_DeleteOp(op);
    TFE_DeleteTensorHandle(x);
  }
  Check();
}
BENCHMARK(BM_NewTensorAddResolve);

// FunctionDef bytes: fields with a length, and with a small number.
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string Number(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

// y = x + x, in float.
std::string Twice() {
  const auto arg = [](const char* name) { return Field(1, name) + Number(3, TF_FLOAT); };
  const std::string signature = Field(1, "Twice") + Field(2, arg("x")) + Field(3, arg("y"));
  const std::string type = Field(5, Field(1, "T") + Field(2, Number(6, TF_FLOAT)));
  const std::string node =
      Field(1, "sum") + Field(2, "AddV2") + Field(3, "x") + Field(3, "x") + type;
  return Field(1, signature) + Field(3, node) + Field(4, Field(1, "y") + Field(2, "sum:z:0"));
}

void BM_FunctionCall(benchmark::State& state) {
  const std::string function = Twice();
  TFE_ContextAddFunctionDef(Context(), function.data(), function.size(), status);
  Check();
  TFE_TensorHandle* const x = Floats({});
  for (auto _ : state) {
    TFE_Op* const op = TFE_NewOp(Context(), "Twice", status);
    TFE_OpAddInput(op, x, status);
    TFE_TensorHandle* result = nullptr;
    int count = 1;
    TFE_Execute(op, &result, &count, status);
    TFE_DeleteOp(op);
    TFE_DeleteTensorHandle(result);
  }
  Check();
  TFE_DeleteTensorHandle(x);
}
BENCHMARK(BM_FunctionCall);

}  // namespace
