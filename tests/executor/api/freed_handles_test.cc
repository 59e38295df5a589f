// Objects that a program deletes twice, or uses after it has deleted them: each is told of, and
// nothing else happens. tests/abi/hostile_arguments_test.cc passes a deleted object to every
// function.

#include <functional>

#include "graph/c_api/handles.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tests/executor/api/c_api_util.h"
#include "tests/support/process_memory.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing::StatusPtr;

class CFreedHandles : public testing::GraphFixture {
 protected:
  void ExpectDeleted(const char* what = "was deleted") {
    EXPECT_EQ(TF_INVALID_ARGUMENT, code()) << message();
    EXPECT_THAT(message(), HasSubstr(what));
    TF_SetStatus(s(), TF_OK, "");
  }
  // What `call` writes to stderr. Each line comes once a process.
  static std::string Written(const std::function<void()>& call) {
    ::testing::internal::CaptureStderr();
    call();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(CFreedHandles, Status) {
  TF_Status* const status = TF_NewStatus();
  TF_SetStatus(status, TF_ABORTED, "why");
  TF_SetPayload(status, "key", "value");
  TF_DeleteStatus(status);
  TF_DeleteStatus(status);
  // It must not read as success.
  EXPECT_EQ(TF_INVALID_ARGUMENT, TF_GetCode(status));
  EXPECT_STREQ("the status was deleted", TF_Message(status));
  TF_SetStatus(status, TF_OK, "");
  TF_SetPayload(status, "key", "value");
  TF_ForEachPayload(
      status, [](const char*, const char*, void*) { FAIL(); }, nullptr);
  TF_GraphGetOpDef(g(), "no such op", nullptr, status);
  TF_GraphGetTensorNumDims(g(), {nullptr, 0}, status);
  EXPECT_EQ(TF_INVALID_ARGUMENT, TF_GetCode(status));
  // A new one, at whatever address, knows nothing of it.
  const StatusPtr next(TF_NewStatus());
  const StatusPtr other(TF_NewStatus());
  EXPECT_NE(next.get(), other.get());
  EXPECT_EQ(TF_OK, TF_GetCode(next.get()));
  EXPECT_STREQ("", TF_Message(next.get()));
}

TEST_F(CFreedHandles, OnesWithoutAStatusAreToldOnStderr) {
  TF_DeviceList* list;
  {
    testing::SessionRunner session(g());
    list = TF_SessionListDevices(session.get(), s());
  }
  TF_DeleteDeviceList(list);
  EXPECT_EQ("warning: TF_DeviceListCount: an object that it was given was deleted already\n",
            Written([&] { EXPECT_EQ(-1, TF_DeviceListCount(list)); }));
  EXPECT_EQ("warning: TF_DeleteDeviceList: an object that it was given was deleted already\n",
            Written([&] { TF_DeleteDeviceList(list); }));
  EXPECT_EQ(nullptr, TF_DeviceListName(list, 0, s()));
  ExpectDeleted("argument 'list' was deleted");
}

TEST_F(CFreedHandles, Buffer) {
  TF_Buffer* const buffer = TF_NewBufferFromString("abc", 3);
  TF_DeleteBuffer(buffer);
  TF_DeleteBuffer(buffer);
  EXPECT_EQ(0u, TF_GetBuffer(buffer).length);
  TF_GraphToGraphDef(g(), buffer, s());
  ExpectDeleted("argument 'output_graph_def' was deleted");
  TF_ImportGraphDefOptions* const options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(g(), buffer, options, s());
  ExpectDeleted();
  TF_DeleteImportGraphDefOptions(options);
  // A buffer of the program's own is none of a pool.
  TF_Buffer own{"", 0, nullptr};
  TF_Buffer* const copy = new TF_Buffer(TF_GetBuffer(&own));
  TF_DeleteBuffer(copy);
  TF_DeleteBuffer(copy);
}

TEST_F(CFreedHandles, BufferOfARun) {
  TF_Operation* const one = ScalarConst("one", 1);
  testing::SessionRunner session(g());
  TF_Buffer* const buffer = TF_NewBuffer();
  TF_DeleteBuffer(buffer);
  const TF_Output output{one, 0};
  TF_Tensor* value = nullptr;
  TF_SessionRun(session.get(), buffer, nullptr, nullptr, 0, &output, &value, 1, nullptr, 0, nullptr,
                s());
  ExpectDeleted("argument 'run_options' was deleted");
  TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, &output, &value, 1, nullptr, 0, buffer,
                s());
  ExpectDeleted("argument 'run_metadata' was deleted");
}

TEST_F(CFreedHandles, Tensor) {
  TF_Tensor* const tensor = testing::IntTensor({2}, {1, 2}).release();
  TF_DeleteTensor(tensor);
  TF_DeleteTensor(tensor);
  EXPECT_EQ(nullptr, TF_TensorData(tensor));
  EXPECT_EQ(0u, TF_TensorByteSize(tensor));
  EXPECT_EQ(-1, TF_NumDims(tensor));
  EXPECT_EQ(0, TF_TensorElementCount(tensor));
  EXPECT_EQ(nullptr, TF_TensorMaybeMove(tensor));
  TF_OperationDescription* const desc = New("Const", "c");
  TF_SetAttrTensor(desc, "value", tensor, s());
  ExpectDeleted("argument 'value' was deleted");
  TF_FinishOperation(desc, s());
}

TEST_F(CFreedHandles, OperationDescription) {
  TF_OperationDescription* const desc = New("NoOp", "n");
  EXPECT_NE(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  ExpectDeleted("argument 'desc' was deleted");
  TF_SetDevice(desc, "/cpu:0");
  TF_SetAttrInt(desc, "N", 1);
  TF_SetAttrTypeList(desc, "T", nullptr, 0);
  TF_SetAttrShape(desc, "shape", nullptr, 0);
  TF_AddInput(desc, {Find("n"), 0});
  TF_AddInputList(desc, nullptr, 0);
  TF_AddControlInput(desc, Find("n"));
  TF_ColocateWith(desc, Find("n"));
  TF_SetAttrValueProto(desc, "a", "", 0, s());
  ExpectDeleted("argument 'desc' was deleted");
}

TEST_F(CFreedHandles, DescriptionOfADeletedGraph) {
  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* const desc = TF_NewOperation(graph, "Placeholder", "p");
  TF_OperationDescription* const locked = TF_NewOperationLocked(graph, "NoOp", "n");
  TF_DeleteGraph(graph);
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_AddControlInput(desc, nullptr);
  TF_SetAttrValueProto(desc, "a", "", 0, s());
  ExpectDeleted("the graph of 'desc' was deleted");
  // A new graph may have the address; the description is none of it.
  const testing::GraphPtr next(TF_NewGraph());
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  ExpectDeleted("the graph of 'desc' was deleted");
  EXPECT_EQ(nullptr, TF_FinishOperationLocked(locked, s()));
  ExpectDeleted("the graph of 'desc' was deleted");
  size_t position = 0;
  EXPECT_EQ(nullptr, TF_GraphNextOperation(next.get(), &position));
}

TEST_F(CFreedHandles, Graph) {
  TF_Graph* const graph = TF_NewGraph();
  TF_DeleteGraph(graph);
  TF_DeleteGraph(graph);
  EXPECT_EQ(nullptr, TF_NewOperation(graph, "NoOp", "n"));
  EXPECT_EQ(nullptr, TF_NewOperationLocked(graph, "NoOp", "n"));
  EXPECT_EQ(nullptr, TF_GraphOperationByName(graph, "n"));
  size_t position = 0;
  EXPECT_EQ(nullptr, TF_GraphNextOperation(graph, &position));
  EXPECT_EQ(0, TF_GraphNumFunctions(graph));
  EXPECT_EQ(nullptr, TF_GraphDebugString(graph, nullptr));
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(graph, {nullptr, 0}, s()));
  ExpectDeleted("argument 'graph' was deleted");
  EXPECT_EQ(nullptr, TF_NewSession(graph, nullptr, s()));
  ExpectDeleted("argument 'graph' was deleted");
}

TEST_F(CFreedHandles, OperationsOfADeletedGraph) {
  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* const desc = TF_NewOperation(graph, "Placeholder", "p");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  TF_Operation* const p = TF_FinishOperation(desc, s());
  EXPECT_STREQ("p", TF_OperationName(p));
  TF_DeleteGraph(graph);
  EXPECT_EQ(nullptr, TF_OperationName(p));
  EXPECT_EQ(nullptr, TF_OperationOpType(p));
  EXPECT_EQ(nullptr, TF_OperationDevice(p));
  EXPECT_EQ(0, TF_OperationNumOutputs(p));
  EXPECT_EQ(0, TF_OperationOutputNumConsumers({p, 0}));
  EXPECT_EQ(0, TF_OperationGetNumAttrs(p));
  int64_t value;
  TF_OperationGetAttrInt(p, "dtype", &value, s());
  ExpectDeleted("argument 'oper' was deleted");
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(g(), {p, 0}, s()));
  ExpectDeleted("the graph of an output's operation was deleted");
  TF_OperationDescription* const neg = New("Neg", "neg");
  TF_AddInput(neg, {p, 0});
  EXPECT_EQ(nullptr, TF_FinishOperation(neg, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CFreedHandles, AGraphThatASessionHasStays) {
  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* const desc = TF_NewOperation(graph, "NoOp", "n");
  TF_Operation* const n = TF_FinishOperation(desc, s());
  {
    testing::SessionRunner session(graph);
    TF_DeleteGraph(graph);
    TF_DeleteGraph(graph);  // is told of
    session.Run({}, {}, {n});
    EXPECT_STREQ("n", TF_OperationName(n));
  }
  EXPECT_EQ(nullptr, TF_OperationName(n));
  EXPECT_EQ(nullptr, TF_GraphOperationByName(graph, "n"));
}

TEST_F(CFreedHandles, While) {
  const TF_Output start{Placeholder("start"), 0};
  const auto new_loop = [&] {
    TF_Output input = start;
    return TF_NewWhile(g(), &input, 1, s());
  };
  const TF_WhileParams aborted = new_loop();
  ExpectOk();
  TF_AbortWhile(&aborted);
  TF_AbortWhile(&aborted);
  TF_Output output;
  TF_FinishWhile(&aborted, s(), &output);
  ExpectDeleted("the graphs of the TF_WhileParams were deleted");
  // Finished with an error, and ended all the same.
  TF_WhileParams failed = new_loop();
  failed.name = "loop";
  TF_FinishWhile(&failed, s(), &output);
  EXPECT_THAT(message(), HasSubstr("field isn't set"));
  TF_FinishWhile(&failed, s(), &output);
  ExpectDeleted("were deleted");
  TF_AbortWhile(&failed);
  const TF_WhileParams nowhere = new_loop();
  TF_FinishWhile(&nowhere, s(), nullptr);
  EXPECT_EQ("argument 'outputs' is NULL", message());
  TF_FinishWhile(&nowhere, s(), &output);
  ExpectDeleted("were deleted");
  // Params that no TF_NewWhile has made end no graph of others.
  const TF_WhileParams next = new_loop();
  const TF_WhileParams mixed{1,       next.cond_graph, nullptr, {}, next.body_graph,
                             nullptr, nullptr,         ""};
  TF_AbortWhile(&mixed);
  EXPECT_NE(nullptr, TF_GraphOperationByName(next.cond_graph, "cond_input0"));
  TF_AbortWhile(&next);
}

TEST_F(CFreedHandles, WhileOfADeletedGraph) {
  TF_Graph* const graph = TF_NewGraph();
  TF_OperationDescription* const desc = TF_NewOperation(graph, "Placeholder", "p");
  TF_SetAttrType(desc, "dtype", TF_BOOL);
  TF_Output input{TF_FinishOperation(desc, s()), 0}, output;
  TF_WhileParams params = TF_NewWhile(graph, &input, 1, s());
  ExpectOk();
  params.cond_output = params.cond_inputs[0];
  params.body_outputs[0] = params.body_inputs[0];
  params.name = "loop";
  TF_DeleteGraph(graph);
  TF_FinishWhile(&params, s(), &output);
  ExpectDeleted("the graph of the loop was deleted");
}

TEST_F(CFreedHandles, ImportOptionsAndResults) {
  TF_ImportGraphDefOptions* const options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsAddReturnOutput(options, "x", 0);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteImportGraphDefOptions(options);
  TF_ImportGraphDefOptionsSetPrefix(options, "p");
  EXPECT_EQ(0, TF_ImportGraphDefOptionsNumReturnOutputs(options));
  const testing::BufferPtr bytes = testing::BufferOf("");
  EXPECT_EQ(nullptr, TF_GraphImportGraphDefWithResults(g(), bytes.get(), options, s()));
  ExpectDeleted("argument 'options' was deleted");
  TF_ImportGraphDefOptions* const others = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefResults* const results =
      TF_GraphImportGraphDefWithResults(g(), bytes.get(), others, s());
  ExpectOk();
  TF_DeleteImportGraphDefOptions(others);
  TF_DeleteImportGraphDefResults(results);
  TF_DeleteImportGraphDefResults(results);
  int count = 1;
  TF_Output* outputs;
  TF_ImportGraphDefResultsReturnOutputs(results, &count, &outputs);
  EXPECT_EQ(0, count);
  EXPECT_EQ(nullptr, outputs);
}

TEST_F(CFreedHandles, Function) {
  TF_Operation* const x = Placeholder("x");
  const TF_Output output{x, 0};
  TF_Function* const function = TF_GraphToFunction(g(), "f", 0, -1, nullptr, 1, &output, 1, &output,
                                                   nullptr, nullptr, nullptr, s());
  ExpectOk();
  TF_DeleteFunction(function);
  TF_DeleteFunction(function);
  EXPECT_EQ(nullptr, TF_FunctionName(function));
  TF_GraphCopyFunction(g(), function, nullptr, s());
  ExpectDeleted("argument 'func' was deleted");
  EXPECT_EQ(nullptr, TF_FunctionDebugString(function, nullptr));
}

TEST_F(CFreedHandles, SessionOptions) {
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_DeleteSessionOptions(options);
  TF_DeleteSessionOptions(options);
  TF_SetTarget(options, "x");
  TF_SetConfig(options, "", 0, s());
  ExpectDeleted("argument 'options' was deleted");
  EXPECT_EQ(nullptr, TF_NewSession(g(), options, s()));
  ExpectDeleted("argument 'opts' was deleted");
  EXPECT_EQ(nullptr, TF_NewDeprecatedSession(options, s()));
  ExpectDeleted("argument 'options' was deleted");
}

TEST_F(CFreedHandles, PartialRun) {
  const TF_Output x{Placeholder("x"), 0}, y{Unary("Neg", "y", x), 0};
  testing::SessionRunner session(g());
  const char* handle = nullptr;
  TF_SessionPRunSetup(session.get(), &x, 1, &y, 1, nullptr, 0, &handle, s());
  ExpectOk();
  TF_DeletePRunHandle(handle);
  TF_DeletePRunHandle(handle);
  TF_Tensor* value = nullptr;
  TF_SessionPRun(session.get(), handle, nullptr, nullptr, 0, &y, &value, 1, nullptr, 0, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CFreedHandles, ApiDefMap) {
  const testing::BufferPtr ops(TF_GetAllOpList());
  TF_ApiDefMap* const map = TF_NewApiDefMap(ops.get(), s());
  TF_DeleteApiDefMap(map);
  TF_DeleteApiDefMap(map);
  EXPECT_EQ(nullptr, TF_ApiDefMapGet(map, "Add", 3, s()));
  ExpectDeleted("argument 'api_def_map' was deleted");
}

// A session in each: what is deleted makes room for what comes.
TEST_F(CFreedHandles, ManyGraphsNeedNoMoreMemoryThanFew) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps freed memory for a while";
#endif
  const auto make = [&](int count) {
    for (int i = 0; i < count; ++i) {
      TF_Graph* const graph = TF_NewGraph();
      TF_FinishOperation(TF_NewOperation(graph, "NoOp", "n"), s());
      TF_Session* const session = TF_NewSession(graph, nullptr, s());
      TF_DeleteGraph(graph);
      TF_DeleteSession(session, s());
    }
  };
  make(1000);
  const int64_t before = testing::PeakResidentBytes();
  make(20000);
  EXPECT_LT(testing::PeakResidentBytes() - before, 2000 << 10);
}

TEST(CWeakHandle, KnowsTheObjectFromTheNextOne) {
  struct Thing {
    using Pool = Handles<Thing>;
    int value;
  };
  Thing* const first = Thing::Pool::New(1);
  const WeakHandle<Thing> weak(first);
  EXPECT_EQ(first, weak.get());
  EXPECT_TRUE(Thing::Pool::Delete(first));
  EXPECT_FALSE(Thing::Pool::Delete(first));
  EXPECT_EQ(nullptr, weak.get());
  Thing* const second = Thing::Pool::New(2);
  EXPECT_EQ(first, second);
  EXPECT_EQ(nullptr, weak.get());
  EXPECT_TRUE(Thing::Pool::Delete(second));
}

}  // namespace
}  // namespace tenon
