// Prints what eager calls of the C API answer: codes, values and the words that clients match on.
// Linked to libtenon and to a TensorFlow, it should print the same (eager_answers.sh).
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace {

TF_Status* const status = TF_NewStatus();
TFE_Context* context;
using Set = std::function<void(TFE_Op*)>;

// Code and message, without what names values, hosts or registrations.
void Say(const char* what, bool words = true) {
  std::string text = TF_Message(status);
  for (const char* const end : {"\n", " (", " running on", "', KernelDef"})
    text = text.substr(0, text.find(end));
  std::printf("%-36s %d %s\n", what, TF_GetCode(status), words ? text.c_str() : "");
  TF_SetStatus(status, TF_OK, "");
}

TFE_TensorHandle* Handle(TF_DataType type, std::vector<int64_t> dims, const void* data,
                         size_t bytes) {
  TF_Tensor* const tensor =
      TF_AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), bytes);
  std::memcpy(TF_TensorData(tensor), data, bytes);
  TFE_TensorHandle* const handle = TFE_NewTensorHandle(tensor, status);
  TF_DeleteTensor(tensor);
  return handle;
}
TFE_TensorHandle* Floats(std::vector<int64_t> dims, std::vector<float> values) {
  return Handle(TF_FLOAT, std::move(dims), values.data(), values.size() * sizeof(float));
}
TFE_TensorHandle* Ints(std::vector<int64_t> dims, std::vector<int32_t> values) {
  return Handle(TF_INT32, std::move(dims), values.data(), values.size() * sizeof(int32_t));
}

void Show(TFE_TensorHandle* handle) {
  TF_Tensor* const tensor = TFE_TensorHandleResolve(handle, status);
  if (tensor == nullptr) return Say("  no value");
  std::printf("  type %d dims", TF_TensorType(tensor));
  for (int i = 0; i < TF_NumDims(tensor); ++i)
    std::printf(" %lld", static_cast<long long>(TF_Dim(tensor, i)));
  for (int64_t i = 0; i < TF_TensorElementCount(tensor) && i < 8; ++i) {
    const void* const data = TF_TensorData(tensor);
    if (TF_TensorType(tensor) == TF_FLOAT) std::printf(" | %g", static_cast<const float*>(data)[i]);
    if (TF_TensorType(tensor) == TF_INT32)
      std::printf(" | %d", static_cast<const int32_t*>(data)[i]);
    if (TF_TensorType(tensor) == TF_BOOL) std::printf(" | %d", static_cast<const bool*>(data)[i]);
    if (TF_TensorType(tensor) == TF_STRING)
      std::printf(" | %s", TF_StringGetDataPointer(static_cast<const TF_TString*>(data) + i));
  }
  std::printf("\n");
  TF_DeleteTensor(tensor);
}

// Executes an op, and shows its results, or the error.
std::vector<TFE_TensorHandle*> Run(const char* what, const char* name,
                                   const std::vector<TFE_TensorHandle*>& inputs, int results,
                                   const Set& set = {}, bool words = true) {
  TFE_Op* const op = TFE_NewOp(context, name, status);
  if (op == nullptr) {
    Say(what, words);
    return {};
  }
  if (set) set(op);
  for (TFE_TensorHandle* const input : inputs) TFE_OpAddInput(op, input, status);
  std::vector<TFE_TensorHandle*> handles(8);
  int count = results;
  TFE_Execute(op, handles.data(), &count, status);
  handles.resize(TF_GetCode(status) == TF_OK ? count : 0);
  Say(what, words);
  for (TFE_TensorHandle* const handle : handles) {
    if (TFE_TensorHandleDataType(handle) != TF_RESOURCE) Show(handle);
  }
  std::printf("  inputs left: %d\n", TFE_OpGetFlatInputCount(op, status));
  TFE_DeleteOp(op);
  return handles;
}

TFE_Context* NewContext(bool async = false) {
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  TFE_ContextOptionsSetAsync(options, async ? 1 : 0);
  TFE_Context* const made = TFE_NewContext(options, status);
  TFE_DeleteContextOptions(options);
  return made;
}

void Ops() {
  TFE_TensorHandle* const two = Floats({2}, {1, 2});
  TFE_TensorHandle* const three = Floats({3}, {1, 2, 3});
  TFE_TensorHandle* const ints = Ints({2}, {3, 4});
  TFE_TensorHandle* const m = Floats({2, 2}, {1, 2, 3, 4});
  TFE_TensorHandle* const wide = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  Run("add", "AddV2", {two, two}, 1);
  Run("room for two", "AddV2", {two, two}, 2);
  Run("no room", "AddV2", {two, two}, 0);
  Run("shapes", "AddV2", {two, three}, 1);
  Run("types", "AddV2", {two, ints}, 1);
  Run("one input", "AddV2", {two}, 1);
  Run("unknown op", "NoSuchOp", {two}, 1);
  Run("attribute before inputs", "AddV2", {two, two}, 1,
      [](TFE_Op* op) { TFE_OpSetAttrType(op, "T", TF_INT32); });
  Run("type that is not allowed", "AddV2", {two, two}, 1,
      [](TFE_Op* op) { TFE_OpSetAttrType(op, "T", TF_BOOL); });
  Run("attribute that the op lacks", "AddV2", {two, two}, 1,
      [](TFE_Op* op) { TFE_OpSetAttrType(op, "_other", TF_BOOL); });
  Run("attribute twice", "Cast", {two}, 1, [](TFE_Op* op) {
    TFE_OpSetAttrType(op, "DstT", TF_INT32);
    TFE_OpSetAttrType(op, "DstT", TF_INT64);
  });
  Run("missing type", "Cast", {two}, 1);
  Run("missing value", "Const", {}, 1,
      [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); });
  Run("placeholder", "Placeholder", {}, 1,
      [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); });
  Run("matrices", "MatMul", {m, wide}, 1, {}, /*words=*/true);
  Run("product", "MatMul", {m, m}, 1, [](TFE_Op* op) { TFE_OpSetAttrBool(op, "transpose_a", 1); });
  Run("denormals", "Mul", {Floats({1}, {1e-38f}), Floats({1}, {0.01f})}, 1);
  Run("no op", "NoOp", {}, 0);
  Run("value of a list's length", "Pack", {}, 1, [](TFE_Op* op) {
    TFE_OpSetAttrInt(op, "N", 0);
    TFE_OpSetAttrType(op, "T", TF_FLOAT);
  });
  Run("string that is not allowed", "MaxPool", {Floats({1, 1, 1, 1}, {1})}, 1, [](TFE_Op* op) {
    const int64_t ones[] = {1, 1, 1, 1};
    TFE_OpSetAttrIntList(op, "ksize", ones, 4);
    TFE_OpSetAttrIntList(op, "strides", ones, 4);
    TFE_OpSetAttrString(op, "padding", "FOO", 3);
  });
  Run("short list", "MaxPool", {Floats({1, 1, 1, 1}, {1})}, 1, [](TFE_Op* op) {
    const int64_t ones[] = {1, 1, 1, 1};
    TFE_OpSetAttrIntList(op, "ksize", ones, 2);
    TFE_OpSetAttrIntList(op, "strides", ones, 4);
    TFE_OpSetAttrString(op, "padding", "SAME", 4);
  });
  Run("strings", "AsString", {two}, 1);
  for (const char* const device :
       {"/CPU:0", "/device:CPU:0", "/GPU:0", "/CPU:3", "/job:foo/device:CPU:0", "foo"}) {
    Run(device, "Neg", {two}, 1, [device](TFE_Op* op) {
      TFE_OpSetDevice(op, device, status);
      Say("  set device", false);
      std::printf("  asks for '%s'\n", TFE_OpGetDevice(op, status));
    });
  }
  unsigned char list = 9;
  std::printf("%d", TFE_OpNameGetAttrType(context, "Pack", "T", &list, status));
  Say(" type of an attribute");
  std::printf("%d", TFE_OpNameGetAttrType(context, "Pack", "none", &list, status));
  Say(" type of no attribute");
}

void Lists() {
  TFE_TensorHandle* inputs[] = {Floats({2}, {1, 2}), Floats({2}, {3, 4}), Ints({1}, {5})};
  for (const int count : {2, 3}) {
    TFE_Op* const op = TFE_NewOp(context, "Pack", status);
    TFE_OpAddInputList(op, inputs, count, status);
    Say("list");
    std::printf("  %d", TFE_OpGetInputLength(op, "values", status));
    Say(" input length");
    std::printf("  %d", TFE_OpGetInputLength(op, "none", status));
    Say(" input length");
    std::printf("  %d", TFE_OpGetOutputLength(op, "output", status));
    Say(" output length");
    TFE_TensorHandle* result = nullptr;
    int results = 1;
    TFE_Execute(op, &result, &results, status);
    const bool done = TF_GetCode(status) == TF_OK;
    Say("  executed");
    if (done) Show(result);
    TFE_DeleteOp(op);
  }
}

void Variables() {
  const auto make = [](const char* name) {
    return Run("variable", "VarHandleOp", {}, 1, [name](TFE_Op* op) {
      const int64_t dims[] = {2};
      TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
      TFE_OpSetAttrShape(op, "shape", dims, 1, status);
      TFE_OpSetAttrString(op, "shared_name", name, std::strlen(name));
    })[0];
  };
  const auto read = [](TFE_TensorHandle* variable) {
    Run(
        "read", "ReadVariableOp", {variable}, 1,
        [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); }, false);
  };
  TFE_TensorHandle* const x = Floats({2}, {1, 2});
  TFE_TensorHandle *const a = make("a"), *const other = make("a");
  read(a);
  Run("initialized", "VarIsInitializedOp", {a}, 1);
  Run("assign", "AssignVariableOp", {a, x}, 0);
  Run("add", "AssignAddVariableOp", {a, x}, 0);
  read(other);
  Run(
      "destroy", "DestroyResourceOp", {a}, 0,
      [](TFE_Op* op) { TFE_OpSetAttrBool(op, "ignore_lookup_error", 0); }, false);
  read(other);
  Run(
      "destroy", "DestroyResourceOp", {a}, 0,
      [](TFE_Op* op) { TFE_OpSetAttrBool(op, "ignore_lookup_error", 0); }, false);
  const char* const anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";
  TFE_TensorHandle *const first = make(anonymous), *const second = make(anonymous);
  Run("assign", "AssignVariableOp", {first, x}, 0);
  Run("assign", "AssignVariableOp", {second, Floats({2}, {5, 6})}, 0);
  read(first);
  read(second);
  Run("destroy", "DestroyResourceOp", {first}, 0);
  read(first);
}

void Random() {
  for (const char* const name : {"RandomUniform", "RandomUniform", "RandomStandardNormal", "clear",
                                 "RandomUniform", "TruncatedNormal"}) {
    if (std::strcmp(name, "clear") == 0) {
      TFE_ContextClearCaches(context);
      continue;
    }
    Run(name, name, {Ints({1}, {3})}, 1, [](TFE_Op* op) {
      TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
      TFE_OpSetAttrInt(op, "seed", 1);
      TFE_OpSetAttrInt(op, "seed2", 2);
    });
  }
}

// FunctionDef bytes: fields with a length, and with a small number.
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string Number(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}
std::string Function(const char* name, const char* op) {
  const auto arg = [](const char* text) { return Field(1, text) + Number(3, TF_FLOAT); };
  const std::string type = Field(5, Field(1, "T") + Field(2, Number(6, TF_FLOAT)));
  return Field(1, Field(1, name) + Field(2, arg("x")) + Field(3, arg("y"))) +
         Field(3, Field(1, "node") + Field(2, op) + Field(3, "x") + Field(3, "x") + type) +
         Field(4, Field(1, "y") + Field(2, "node:z:0"));
}

void Functions() {
  const auto add = [](const std::string& bytes, const char* what) {
    TFE_ContextAddFunctionDef(context, bytes.data(), bytes.size(), status);
    Say(what, false);
  };
  const auto remove = [](const char* name) {
    TFE_ContextRemoveFunction(context, name, status);
    Say("remove");
    std::printf("  has %d\n", TFE_ContextHasFunction(context, name));
  };
  TFE_TensorHandle* const x = Floats({2}, {2, 3});
  add(Function("Twice", "AddV2"), "add");
  add(Function("Twice", "AddV2"), "add again");
  add(Function("Twice", "Mul"), "add another");
  add(Function("AddV2", "Mul"), "add under the name of an op");
  add("\xff\xff", "no function");
  Run("call", "Twice", {x}, 1);
  Run("call with ints", "Twice", {Ints({1}, {1})}, 1);
  Run("call without room", "Twice", {x}, 0);
  Run("call with too few", "Twice", {}, 1, {}, false);
  Run("call by PartitionedCall", "PartitionedCall", {x}, 1, [](TFE_Op* op) {
    const TF_DataType types[] = {TF_FLOAT};
    TFE_OpSetAttrTypeList(op, "Tin", types, 1);
    TFE_OpSetAttrTypeList(op, "Tout", types, 1);
    TFE_OpSetAttrFunctionName(op, "f", "Twice", 5);
  });
  TFE_CancellationManager* const manager = TFE_NewCancellationManager();
  TFE_CancellationManagerStartCancel(manager);
  const Set cancelled = [manager](TFE_Op* op) {
    TFE_OpSetCancellationManager(op, manager, status);
  };
  Run("cancelled op", "Neg", {x}, 1, cancelled);
  Run("cancelled call", "Twice", {x}, 1, cancelled, false);
  remove("Twice");
  Run("call", "Twice", {x}, 1);
  remove("Twice");
  remove("Twice");
  Run("call", "Twice", {x}, 1);
  add(Function("Twice", "Mul"), "add another now");
  Run("call", "Twice", {x}, 1);
}

void Handles() {
  TFE_TensorHandle* const x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  std::printf("%d %lld %s %s %s %d\n", TFE_TensorHandleNumDims(x, status),
              static_cast<long long>(TFE_TensorHandleNumElements(x, status)),
              TFE_TensorHandleDeviceName(x, status), TFE_TensorHandleBackingDeviceName(x, status),
              TFE_TensorHandleDeviceType(x, status), TFE_TensorHandleDeviceID(x, status));
  std::printf("%d\n", TFE_TensorHandleNumDims(nullptr, status));
  Say("no handle");
  for (const char* const device : {"CPU:0", "/device:CPU:0", "/device:GPU:0", "foo", ""}) {
    const bool copied = TFE_TensorHandleCopyToDevice(x, context, device, status) != nullptr;
    std::printf("%d", copied);
    Say(" copied");
  }
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  TFE_ContextOptionsSetConfig(options, "\xff\xff", 2, status);
  Say("config");
}

void Async() {
  TFE_TensorHandle* const two = Floats({2}, {1, 2});
  TFE_TensorHandle* const three = Floats({3}, {1, 2, 3});
  const auto start = [](const char* what, TFE_TensorHandle* a, TFE_TensorHandle* b) {
    TFE_Op* const op = TFE_NewOp(context, "AddV2", status);
    TFE_OpAddInput(op, a, status);
    TFE_OpAddInput(op, b, status);
    TFE_TensorHandle* result = nullptr;
    int count = 1;
    TFE_Execute(op, &result, &count, status);
    Say(what);
    TFE_DeleteOp(op);
    return result;
  };
  TFE_Executor* const executor = TFE_ContextGetExecutorForThread(context);
  Show(start("later", two, two));
  TFE_TensorHandle* const bad = start("wrong later", two, three);
  TFE_TensorHandleNumDims(bad, status);
  Say("  its rank");
  TFE_ExecutorWaitForAllPendingNodes(executor, status);
  Say("  waited");
  start("after an error", two, two);
  TFE_ContextAsyncWait(context, status);
  Say("  waited");
  TFE_ExecutorClearError(executor);
  TFE_ExecutorWaitForAllPendingNodes(executor, status);
  Say("  cleared");
  Show(start("again", two, two));
  TFE_TensorHandle* const of_bad = start("of a value that is missing", bad, bad);
  TFE_ExecutorWaitForAllPendingNodes(executor, status);
  Say("  waited");
  TFE_TensorHandleNumDims(of_bad, status);
  Say("  its rank");
  TFE_ExecutorClearError(executor);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  context = NewContext();
  for (void (*const part)() : {Ops, Lists, Variables, Random, Functions, Handles}) part();
  context = NewContext(/*async=*/true);
  Async();
}
