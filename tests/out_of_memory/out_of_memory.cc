// Calls functions of the C API while the N-th allocation of the call fails, for each N until the
// call needs no more. No exception may come out of a function; a status is OK or
// TF_RESOURCE_EXHAUSTED; and what the functions work on is as good as before: the last call of each
// row has all memory, and must succeed. Functions that fill new hash tables of Abseil or messages
// of protobuf with maps (imports, functions, gradients, sessions) are not among these rows: such
// tables are not whole any more after an allocation in them has failed. What adds many nodes to a
// graph is called in a process of its own each time, and must leave none where it fails; a process
// that such a table ends says nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/kernels.h"

namespace {

constexpr int64_t kNever = INT64_MAX;
thread_local int64_t left = kNever;  // allocations until one fails
thread_local bool has_failed = false;

void* Allocate(size_t bytes, size_t alignment) {
  if (left != kNever && left-- == 0) {
    left = kNever;
    has_failed = true;
    throw std::bad_alloc();
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment,
                     bytes == 0 ? 1 : bytes) != 0)
    throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes, 16); }
void* operator new[](size_t bytes) { return Allocate(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t a) {
  return Allocate(bytes, static_cast<size_t>(a));
}
void* operator new[](size_t bytes, std::align_val_t a) {
  return Allocate(bytes, static_cast<size_t>(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }

namespace {

int faults = 0, rows = 0;
int64_t failures = 0;

void Fault(const char* what, int64_t n, const char* how) {
  ++faults;
  std::printf("%s, at allocation %lld: %s\n", what, static_cast<long long>(n), how);
}

// The last call has all memory.
void Try(const char* what, const std::function<void(TF_Status*)>& call) {
  ++rows;
  TF_Status* const status = TF_NewStatus();
  for (int64_t n = 0; n < 100000; ++n) {
    TF_SetStatus(status, TF_OK, "");
    has_failed = false;
    left = n;
    const char* thrown = nullptr;
    try {
      call(status);
    } catch (const std::bad_alloc&) {
      thrown = "bad_alloc comes out";
    } catch (...) {
      thrown = "an exception comes out";
    }
    left = kNever;
    if (thrown != nullptr) Fault(what, n, thrown);
    const TF_Code code = TF_GetCode(status);
    if (code != TF_OK && (code != TF_RESOURCE_EXHAUSTED || !has_failed))
      Fault(what, n, TF_Message(status));
    if (!has_failed) break;
    ++failures;
  }
  TF_DeleteStatus(status);
}

void Must(bool right, const char* what) {
  if (!right) Fault(what, 0, "is not so");
}

TF_Operation* Placeholder(TF_Graph* graph, const char* name, TF_Status* status) {
  TF_OperationDescription* const node = TF_NewOperation(graph, "Placeholder", name);
  if (node == nullptr) return nullptr;
  TF_SetAttrType(node, "dtype", TF_FLOAT);
  TF_SetAttrShape(node, "shape", nullptr, -1);
  return TF_FinishOperation(node, status);
}

TF_Operation* Unary(TF_Graph* graph, const char* op, const char* name, TF_Operation* input,
                    TF_Status* status) {
  TF_OperationDescription* const node = TF_NewOperation(graph, op, name);
  if (node == nullptr) return nullptr;
  TF_AddInput(node, {input, 0});
  return TF_FinishOperation(node, status);
}

TF_Tensor* Scalar(float value) {
  TF_Tensor* const tensor = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof value);
  if (tensor != nullptr) std::memcpy(TF_TensorData(tensor), &value, sizeof value);
  return tensor;
}

int NumNodes(TF_Graph* graph) {
  int nodes = 0;
  for (size_t at = 0; TF_GraphNextOperation(graph, &at) != nullptr;) ++nodes;
  return nodes;
}

// What a process says of a call at its end.
enum Outcome { kLeftNothing, kLeftNodes, kNeedsNoMore, kThrown, kOtherError };

Outcome AddWithLittleMemory(int64_t n, const std::function<void(TF_Graph*, TF_Status*)>& add) {
  TF_Status* const status = TF_NewStatus();
  TF_Graph* const graph = TF_NewGraph();
  Unary(graph, "Square", "y", Placeholder(graph, "x", status), status);
  const int before = NumNodes(graph);
  left = n;
  try {
    add(graph, status);
  } catch (...) {
    return kThrown;
  }
  left = kNever;
  if (!has_failed) return TF_GetCode(status) == TF_OK ? kNeedsNoMore : kOtherError;
  if (TF_GetCode(status) == TF_OK) return kLeftNothing;  // it did without
  if (TF_GetCode(status) != TF_RESOURCE_EXHAUSTED) return kOtherError;
  return NumNodes(graph) == before ? kLeftNothing : kLeftNodes;
}

// `add` adds nodes to a graph that has the nodes x and y. It sets `left` itself if it prepares
// something before.
void LeavesNoNodes(const char* what, const std::function<void(TF_Graph*, TF_Status*)>& add) {
  ++rows;
  int64_t told = 0, ended = 0;
  for (int64_t n = 0; n < 100000; ++n) {
    const pid_t child = fork();
    if (child == 0) _exit(AddWithLittleMemory(n, add));
    int state = 0;
    waitpid(child, &state, 0);
    if (!WIFEXITED(state) || WEXITSTATUS(state) > kOtherError) {
      ++ended;
      continue;
    }
    if (WEXITSTATUS(state) == kNeedsNoMore) break;
    ++failures;
    ++told;
    if (WEXITSTATUS(state) == kLeftNodes) Fault(what, n, "nodes stay behind");
    if (WEXITSTATUS(state) == kThrown) Fault(what, n, "an exception comes out");
    if (WEXITSTATUS(state) == kOtherError) Fault(what, n, "another error");
  }
  std::printf("%s: %lld failures, %lld processes ended\n", what, static_cast<long long>(told),
              static_cast<long long>(ended));
  Must(told > 2 * ended && told > 20, what);
}

void ManyNodes() {
  TF_Status* const status = TF_NewStatus();
  TF_Graph* const from = TF_NewGraph();
  TF_Operation* last = Placeholder(from, "first", status);
  for (int i = 0; i < 20; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "node%d", i);
    last = Unary(from, "Neg", name, last, status);
  }
  TF_Buffer* const def = TF_NewBuffer();
  TF_GraphToGraphDef(from, def, status);
  Must(TF_GetCode(status) == TF_OK, "the GraphDef is made");
  LeavesNoNodes("TF_GraphImportGraphDef", [def](TF_Graph* graph, TF_Status* s) {
    const int64_t room = left;
    left = kNever;
    TF_ImportGraphDefOptions* const options = TF_NewImportGraphDefOptions();
    left = room;
    TF_GraphImportGraphDef(graph, def, options, s);
  });
  LeavesNoNodes("TF_AddGradients", [](TF_Graph* graph, TF_Status* s) {
    const int64_t room = left;
    left = kNever;
    TF_Output y = {TF_GraphOperationByName(graph, "y"), 0};
    TF_Output x = {TF_GraphOperationByName(graph, "x"), 0}, dx;
    left = room;
    TF_AddGradients(graph, &y, 1, &x, 1, nullptr, s, &dx);
  });
  LeavesNoNodes("TF_FinishWhile", [](TF_Graph* graph, TF_Status* s) {
    const int64_t room = left;
    left = kNever;
    TF_Output x = {TF_GraphOperationByName(graph, "x"), 0}, result;
    TF_WhileParams loop = TF_NewWhile(graph, &x, 1, s);
    TF_OperationDescription* const less = TF_NewOperation(loop.cond_graph, "Less", "less");
    TF_AddInput(less, loop.cond_inputs[0]);
    TF_AddInput(less, loop.cond_inputs[0]);
    loop.cond_output = {TF_FinishOperation(less, s), 0};
    loop.body_outputs[0] = {Unary(loop.body_graph, "Neg", "neg", loop.body_inputs[0].oper, s), 0};
    loop.name = "loop";
    if (TF_GetCode(s) != TF_OK) return;
    left = room;
    TF_FinishWhile(&loop, s, &result);
  });
  TF_DeleteBuffer(def);
  TF_DeleteGraph(from);
  TF_DeleteStatus(status);
}

void Objects() {
  Try("TF_NewStatus", [](TF_Status*) { TF_DeleteStatus(TF_NewStatus()); });
  Try("TF_SetStatus", [](TF_Status*) {
    TF_Status* const other = TF_NewStatus();
    if (other == nullptr) return;
    TF_SetStatus(other, TF_CANCELLED, "a message that is too long to lie in the string itself");
    TF_SetPayload(other, "a key that is long, too, for it must be kept", "and a long value");
    TF_DeleteStatus(other);
  });
  Try("TF_NewBufferFromString",
      [](TF_Status*) { TF_DeleteBuffer(TF_NewBufferFromString("bytes", 5)); });
  Try("TF_NewGraph", [](TF_Status*) { TF_DeleteGraph(TF_NewGraph()); });
  Try("TF_NewSessionOptions", [](TF_Status* status) {
    TF_SessionOptions* const options = TF_NewSessionOptions();
    if (options == nullptr) return;
    TF_SetTarget(options, "a target whose name does not fit into the string itself");
    TF_SetTarget(options, "");
    TF_SetConfig(options, "", 0, status);
    TF_DeleteSessionOptions(options);
  });
  Try("TF_NewImportGraphDefOptions", [](TF_Status*) {
    TF_ImportGraphDefOptions* const options = TF_NewImportGraphDefOptions();
    if (options == nullptr) return;
    TF_ImportGraphDefOptionsSetPrefix(options, "a prefix that takes memory of its own, being long");
    TF_ImportGraphDefOptionsAddReturnOutput(options, "a_node_that_is_given_back_by_its_name", 0);
    TF_DeleteImportGraphDefOptions(options);
  });
  Try("TF_AllocateTensor", [](TF_Status*) {
    const int64_t dims[] = {3, 5};
    TF_DeleteTensor(TF_AllocateTensor(TF_FLOAT, dims, 2, 60));
  });
  Try("TF_NewTensor", [](TF_Status*) {
    static float values[16];
    const int64_t dim = 16;
    TF_DeleteTensor(TF_NewTensor(
        TF_FLOAT, &dim, 1, values, sizeof values, [](void*, size_t, void*) {}, nullptr));
  });
}

void Graphs() {
  TF_Status* const status = TF_NewStatus();
  TF_Graph* const graph = TF_NewGraph();
  TF_Operation* const x = Placeholder(graph, "x", status);
  TF_Operation* const y = Unary(graph, "Square", "y", x, status);
  Must(TF_GetCode(status) == TF_OK, "the graph is built");
  // What failed has left nothing behind: the name is free.
  TF_Operation* added = nullptr;
  Try("TF_FinishOperation", [&](TF_Status* s) { added = Unary(graph, "Neg", "node", x, s); });
  Must(added != nullptr && TF_GraphOperationByName(graph, "node") == added, "the node is added");
  Try("TF_SetAttr", [&](TF_Status* s) {
    static int number = 0;
    char name[32];
    std::snprintf(name, sizeof name, "split%d", number++);
    TF_OperationDescription* const node = TF_NewOperation(graph, "Squeeze", name);
    if (node == nullptr) return;
    const int64_t dims[] = {0, 2, 4, 6, 8, 10, 12, 14};
    TF_AddInput(node, {x, 0});
    TF_SetAttrIntList(node, "squeeze_dims", dims, 8);
    added = TF_FinishOperation(node, s);
    if (added == nullptr) return;
    const int64_t room = left;
    left = kNever;
    const TF_AttrMetadata list = TF_OperationGetAttrMetadata(added, "squeeze_dims", s);
    Must(list.list_size == 8, "a node that is finished has its attribute");
    left = room;
  });
  Try("TF_OperationGetAttrValueProto", [&](TF_Status* s) {
    TF_Buffer* const value = TF_NewBuffer();
    if (value == nullptr) return;
    TF_OperationGetAttrValueProto(y, "T", value, s);
    TF_DeleteBuffer(value);
  });
  Try("TF_GraphGetTensorNumDims", [&](TF_Status* s) {
    TF_GraphGetTensorNumDims(graph, {y, 0}, s);
  });
  Try("TF_OperationToNodeDef", [&](TF_Status* s) {
    TF_Buffer* const node = TF_NewBuffer();
    if (node == nullptr) return;
    TF_OperationToNodeDef(y, node, s);
    TF_DeleteBuffer(node);
  });
  Try("TF_GraphToGraphDef", [&](TF_Status* s) {
    TF_Buffer* const again = TF_NewBuffer();
    if (again == nullptr) return;
    TF_GraphToGraphDef(graph, again, s);
    TF_DeleteBuffer(again);
  });
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
}

void Eager() {
  TF_Status* const status = TF_NewStatus();
  Try("TFE_NewContext", [](TF_Status* s) {
    TFE_ContextOptions* const options = TFE_NewContextOptions();
    TFE_Context* const context = options == nullptr ? nullptr : TFE_NewContext(options, s);
    TFE_DeleteContextOptions(options);
    if (context != nullptr) TFE_DeleteContext(context);
  });
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  TFE_Context* const context = TFE_NewContext(options, status);
  TFE_DeleteContextOptions(options);
  TF_Tensor* const two = Scalar(2);
  TFE_TensorHandle* const handle = TFE_NewTensorHandle(two, status);
  Must(TF_GetCode(status) == TF_OK, "there is a context with a tensor");
  Try("TFE_NewTensorHandle", [&](TF_Status* s) {
    TFE_TensorHandle* const made = TFE_NewTensorHandle(two, s);
    if (made != nullptr) TFE_DeleteTensorHandle(made);
  });
  const auto add = [&](TF_Status* s) {
    TFE_Op* const op = TFE_NewOp(context, "AddV2", s);
    if (op == nullptr) return;
    for (int i = 0; i < 2 && TF_GetCode(s) == TF_OK; ++i) TFE_OpAddInput(op, handle, s);
    TFE_TensorHandle* result = nullptr;
    int count = 1;
    if (TF_GetCode(s) == TF_OK) TFE_Execute(op, &result, &count, s);
    TFE_DeleteOp(op);
    if (TF_GetCode(s) == TF_OK) TF_DeleteTensor(TFE_TensorHandleResolve(result, s));
    if (result != nullptr) TFE_DeleteTensorHandle(result);
  };
  add(status);  // the tables of kernels are there
  Try("TFE_Execute", add);
  Try("TFE_OpSetAttr", [&](TF_Status* s) {
    TFE_Op* const op = TFE_NewOp(context, "Placeholder", s);
    if (op == nullptr) return;
    const int64_t dims[] = {1, 2, 3, 4, 5, 6, 7, 8};
    TFE_OpSetAttrShape(op, "shape", dims, 8, s);
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    TFE_DeleteOp(op);
  });
  const auto squeeze = [&](TF_Status* s) {
    TFE_Op* const op = TFE_NewOp(context, "Squeeze", s);
    if (op == nullptr) return;
    const int64_t dims[] = {0, 0, 0, 0, 0, 0, 0, 0};
    TFE_OpAddInput(op, handle, s);
    if (TF_GetCode(s) == TF_OK) {
      TFE_OpSetAttrIntList(op, "squeeze_dims", dims, 8);
      TFE_TensorHandle* result = nullptr;
      int count = 1;
      TFE_Execute(op, &result, &count, s);  // a scalar has no dimension 0
      Must(TF_GetCode(s) != TF_OK, "an op does not run without its attribute");
      if (TF_GetCode(s) == TF_INVALID_ARGUMENT) TF_SetStatus(s, TF_OK, "");
    }
    TFE_DeleteOp(op);
  };
  squeeze(status);
  Try("TFE_OpSetAttrIntList", squeeze);
  Try("TFE_ContextClearCaches", [&](TF_Status*) { TFE_ContextClearCaches(context); });
  add(status);  // the caches have what ClearCaches took out
  Try("TFE_Execute, again", add);
  Try("TFE_ContextListDevices",
      [&](TF_Status* s) { TF_DeleteDeviceList(TFE_ContextListDevices(context, s)); });
  Try("TFE_NewExecutor", [](TF_Status*) {
    TFE_Executor* const executor = TFE_NewExecutor(false, true, 0);
    if (executor != nullptr) TFE_DeleteExecutor(executor);
  });
  TFE_DeleteTensorHandle(handle);
  TF_DeleteTensor(two);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
}

void Monitoring() {
  Try("TFE_MonitoringGetCellCounter1", [](TF_Status* s) {
    TFE_MonitoringCounter1* const counter = TFE_MonitoringNewCounter1("/steps", s, "", "label");
    if (counter == nullptr) return;
    for (const char* const label : {"a label that takes memory of its own", "another"}) {
      TFE_MonitoringCounterCell* const cell = TFE_MonitoringGetCellCounter1(counter, label);
      if (cell != nullptr) TFE_MonitoringCounterCellIncrementBy(cell, 1);
    }
    TFE_MonitoringDeleteCounter1(counter);
  });
  Try("TFE_MonitoringGetCellSampler0", [](TF_Status* s) {
    TFE_MonitoringBuckets* const buckets = TFE_MonitoringNewExponentialBuckets(1, 2, 10);
    TFE_MonitoringSampler0* const sampler =
        buckets == nullptr ? nullptr : TFE_MonitoringNewSampler0("/sizes", buckets, s, "");
    TFE_MonitoringDeleteBuckets(buckets);
    if (sampler == nullptr) return;
    TFE_MonitoringSamplerCell* const cell = TFE_MonitoringGetCellSampler0(sampler);
    if (cell != nullptr) TFE_MonitoringSamplerCellAdd(cell, 3);
    TFE_MonitoringDeleteSampler0(sampler);
  });
}

// The functions for plug-ins, which a null context or object makes refuse the call.
void Plugins() {
  const auto refused = [](const char* what, const std::function<void(TF_Status*)>& call) {
    Try(what, [&call](TF_Status* status) {
      call(status);
      if (TF_GetCode(status) == TF_INVALID_ARGUMENT || TF_GetCode(status) == TF_OUT_OF_RANGE)
        TF_SetStatus(status, TF_OK, "");
    });
  };
  refused("TF_NumInputs", [](TF_Status*) {
    TF_NumInputs(nullptr);
    TF_NumOutputs(nullptr);
    TF_StepId(nullptr);
    TF_GetOpKernelName(nullptr);
    TF_GetDeviceName(nullptr);
    TF_OpKernelConstruction_GetName(nullptr);
  });
  refused("TF_InputDatatype", [](TF_Status*) {
    TF_InputDatatype(nullptr, 0);
    TF_ExpectedOutputDataType(nullptr, 0);
  });
  refused("TF_InputRange", [](TF_Status* s) {
    TF_InputRange_Args args = {};
    args.status = s;
    TF_InputRange(nullptr, "a name that takes memory of its own", &args);
    TF_InputRange(nullptr, "a name that takes memory of its own", nullptr);
  });
  refused("TF_RunAsyncOpKernelDoneCallback",
          [](TF_Status*) { TF_RunAsyncOpKernelDoneCallback(nullptr); });
  refused("TF_GetNodesToPreserveListSize", [](TF_Status* s) {
    int count = 0;
    size_t bytes = 0;
    TF_GetNodesToPreserveListSize(nullptr, &count, &bytes, s);
    if (TF_GetCode(s) == TF_INVALID_ARGUMENT) TF_GetFetchNodesListSize(nullptr, &count, &bytes, s);
  });
  refused("TF_GetNodesToPreserveList", [](TF_Status* s) {
    TF_GetNodesToPreserveList(nullptr, nullptr, nullptr, 0, nullptr, 0, s);
    if (TF_GetCode(s) == TF_INVALID_ARGUMENT)
      TF_GetFetchNodesList(nullptr, nullptr, nullptr, 0, nullptr, 0, s);
  });
  refused("TF_NewGraphProperties",
          [](TF_Status*) { TF_DeleteGraphProperties(TF_NewGraphProperties(nullptr)); });
  refused("TF_InferStatically", [](TF_Status* s) { TF_InferStatically(nullptr, 1, 1, 1, 1, s); });
  refused("TF_GetInputPropertiesListSize", [](TF_Status* s) {
    int count = 0;
    TF_GetInputPropertiesListSize(nullptr, "x", &count, s);
    if (TF_GetCode(s) == TF_INVALID_ARGUMENT)
      TF_GetOutputPropertiesListSize(nullptr, "x", &count, s);
  });
  refused("TF_LookUpOpDef", [](TF_Status* s) { TF_LookUpOpDef(nullptr, "Add", nullptr, s); });
}

}  // namespace

int main() {
  ManyNodes();
  Objects();
  Graphs();
  Eager();
  Monitoring();
  Plugins();
  std::printf("%d rows, %lld allocations that failed, %d faults\n", rows,
              static_cast<long long>(failures), faults);
  if (failures < 80)
    std::printf("too few allocations have failed: is operator new the library's?\n");
  return faults == 0 && failures >= 80 ? 0 : 1;
}
