// Programs that call the client C API in any order, with objects that are null, deleted, of another
// graph or half made, and with numbers out of range: each call returns. The same seed makes the
// same calls.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proto/graph_def.pb.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/fuzz/mutate_util.h"

namespace tenon {
namespace {

constexpr size_t kMost = 12;  // objects of one kind

// Objects of one kind that a program has, and those that it has deleted.
template <typename T>
struct Pool {
  std::vector<T*> live, dead;
};

class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed), status_(TF_NewStatus()) {
    TFE_ContextOptions* options = TFE_NewContextOptions();
    TFE_ContextOptionsSetAsync(options, static_cast<unsigned char>(Below(4) == 0));
    context_ = TFE_NewContext(options, status_);
    TFE_DeleteContextOptions(options);
  }

  ~Program() {
    while (!descriptions_.live.empty()) FinishOne(descriptions_.live.back());
    while (!sessions_.live.empty()) DeleteOne(sessions_, &Program::EndSession);
    while (!graphs_.live.empty()) DeleteOne(graphs_, &Program::EndGraph);
    while (!tensors_.live.empty()) DeleteOne(tensors_, &Program::EndTensor);
    while (!functions_.live.empty()) DeleteOne(functions_, &Program::EndFunction);
    while (!handles_.live.empty()) DeleteOne(handles_, &Program::EndHandle);
    while (!eager_ops_.live.empty()) DeleteOne(eager_ops_, &Program::EndEagerOp);
    LeaveHome();
    TF_DeleteGraph(home_);
    TFE_DeleteContext(context_);
    TF_DeleteStatus(status_);
  }

  void Step() {
    if (Below(8) == 0) TF_SetStatus(status_, static_cast<TF_Code>(Below(20)), "left over");
    switch (Below(30)) {
      case 0:
        return Add(graphs_, TF_NewGraph());
      case 1:
        return Add(tensors_, NewTensor());
      case 2:
        return NewDescription();
      case 3:
        return NewDescription();
      case 4:
        return SetSomething(Pick(descriptions_));
      case 5:
        return SetSomething(Pick(descriptions_));
      case 6:
        return FinishOne(Pick(descriptions_));
      case 7:
        return WholeOperation();
      case 8:
        return WholeOperation();
      case 9:
        return NewSession();
      case 10:
        return Run();
      case 11:
        return Run();
      case 12:
        return Run();
      case 13:
        return AskOperation(PickOperation());
      case 14:
        return AskGraph(PickGraph());
      case 15:
        return Import(PickGraph());
      case 16:
        return MakeFunction();
      case 17:
        return AskFunction(Pick(functions_));
      case 18:
        return Gradients();
      case 19:
        return Loop();
      case 20:
        return AskTensor(PickTensor());
      case 21:
        return NewHandle();
      case 22:
        return AskHandle(Pick(handles_));
      case 23:
        return NewEagerOp();
      case 24:
        return SetEagerOp(Pick(eager_ops_));
      case 25:
        return Execute(Pick(eager_ops_));
      case 26:
        return Execute(Pick(eager_ops_));
      case 27:
        return DeleteAny();
      case 28:
        return DeleteAny();
      default:
        return PartialRun();
    }
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }

  // Mostly a live object; now and then null or a deleted one.
  template <typename T>
  T* Pick(const Pool<T>& pool) {
    const uint64_t kind = Below(12);
    if (kind == 0) return nullptr;
    if (kind == 1 && !pool.dead.empty()) return pool.dead[Below(pool.dead.size())];
    return pool.live.empty() ? nullptr : pool.live[Below(pool.live.size())];
  }

  template <typename T>
  void Add(Pool<T>& pool, T* object) {
    if (object == nullptr) return;
    pool.live.push_back(object);
  }

  template <typename T>
  void DeleteOne(Pool<T>& pool, void (Program::*end)(T*)) {
    T* const object = pool.live.back();
    pool.live.pop_back();
    (this->*end)(object);
    pool.dead.push_back(object);
    if (pool.dead.size() > kMost) pool.dead.erase(pool.dead.begin());
  }
  template <typename T>
  void DeletePicked(Pool<T>& pool, void (Program::*end)(T*)) {
    if (pool.live.empty()) return;
    if (Below(6) == 0) return (this->*end)(pool.dead.empty() ? nullptr : pool.dead.back());
    std::swap(pool.live[Below(pool.live.size())], pool.live.back());
    DeleteOne(pool, end);
  }

  void EndSession(TF_Session* session) {
    if (Below(2) == 0) TF_CloseSession(session, MaybeStatus());
    TF_DeleteSession(session, status_);
  }
  // A graph that a session or a description still has lives on until they go, but its operations
  // are the program's no longer.
  void EndGraph(TF_Graph* graph) {
    for (TF_Operation* operation : operations_.live) operations_.dead.push_back(operation);
    operations_.live.clear();
    TF_DeleteGraph(graph);
  }
  void EndTensor(TF_Tensor* tensor) { TF_DeleteTensor(tensor); }
  void EndFunction(TF_Function* function) { TF_DeleteFunction(function); }
  void EndHandle(TFE_TensorHandle* handle) { TFE_DeleteTensorHandle(handle); }
  void EndEagerOp(TFE_Op* op) { TFE_DeleteOp(op); }

  void DeleteAny() {
    switch (Below(6)) {
      case 0:
        return DeletePicked(sessions_, &Program::EndSession);
      case 1:
        if (Below(4) == 0) DeletePicked(graphs_, &Program::EndGraph);
        if (Below(8) == 0) LeaveHome();
        return;
      case 2:
        return DeletePicked(tensors_, &Program::EndTensor);
      case 3:
        return DeletePicked(functions_, &Program::EndFunction);
      case 4:
        return DeletePicked(handles_, &Program::EndHandle);
      default:
        return DeletePicked(eager_ops_, &Program::EndEagerOp);
    }
  }

  TF_Status* MaybeStatus() { return Below(20) == 0 ? nullptr : status_; }

  TF_DataType Type() {
    static constexpr TF_DataType kTypes[] = {TF_FLOAT,  TF_FLOAT,    TF_FLOAT,
                                             TF_INT32,  TF_INT32,    TF_BOOL,
                                             TF_STRING, TF_RESOURCE, static_cast<TF_DataType>(0)};
    return kTypes[Below(std::size(kTypes))];
  }
  int Number() {
    static constexpr int kNumbers[] = {0, 0, 0, 1, 1, 2, -1, -7, 100, 2147483647};
    return kNumbers[Below(std::size(kNumbers))];
  }
  int64_t Dim() {
    static constexpr int64_t kDims[] = {2, 2, 2, 0, 1, 3, -1, -2, int64_t{1} << 62};
    return kDims[Below(std::size(kDims))];
  }
  const char* OpName() {
    static constexpr const char* kNames[] = {
        "AddV2",    "Mul",      "MatMul",     "Const",  "Placeholder", "Identity",        "Reshape",
        "ConcatV2", "Split",    "VariableV2", "Assign", "VarHandleOp", "ReadVariableOp",  "Switch",
        "Merge",    "NoOp",     "Sum",        "Cast",   "Square",      "PartitionedCall", "If",
        "While",    "NoSuchOp", "F0",         ""};
    return kNames[Below(std::size(kNames))];
  }
  // Ops of two inputs.
  const char* Simple() {
    static constexpr const char* kNames[] = {"AddV2", "Mul", "Sub", "Maximum"};
    return kNames[Below(std::size(kNames))];
  }
  std::string Name() { return Below(10) == 0 ? "" : std::string("n") + std::to_string(Below(400)); }
  // Mostly what fits: the graph, an operation and a session that go together.
  bool Sane() { return Below(8) != 0; }
  TF_Graph* PickGraph() { return Sane() ? home_ : Pick(graphs_); }
  TF_Session* PickSession() {
    if (!Sane()) return Pick(sessions_);
    if (session_ == nullptr) {
      TF_SessionOptions* const options = TF_NewSessionOptions();
      session_ = TF_NewSession(home_, options, status_);
      TF_DeleteSessionOptions(options);
    }
    return session_;
  }
  TF_Operation* PickOperation() {
    return Sane() && !at_home_.empty() ? at_home_[Below(at_home_.size())] : Pick(operations_);
  }
  TF_Output Output() { return {PickOperation(), Sane() ? 0 : Number()}; }
  TF_Tensor* PickTensor() {
    if (!Sane()) return Pick(tensors_);
    if (tensors_.live.size() < kMost) Add(tensors_, NewTensor());
    return tensors_.live.back();
  }
  // Ends the graph that most calls are about before or after its session, and begins another.
  void LeaveHome() {
    const bool graph_first = Below(2) == 0;
    if (graph_first) TF_DeleteGraph(home_);
    if (session_ != nullptr) {
      EndSession(session_);
      sessions_.dead.push_back(session_);
    }
    if (!graph_first) TF_DeleteGraph(home_);
    graphs_.dead.push_back(home_);
    operations_.dead.insert(operations_.dead.end(), at_home_.begin(), at_home_.end());
    at_home_.clear();
    session_ = nullptr;
    home_ = TF_NewGraph();
  }

  TF_Tensor* NewTensor() {
    const bool plain = Sane();
    const int64_t dims[] = {plain ? 2 : static_cast<int64_t>(Below(3)),
                            static_cast<int64_t>(Below(4))};
    const int rank = plain ? 1 : static_cast<int>(Below(3));
    const TF_DataType type = plain ? TF_FLOAT : TF_INT32;
    size_t bytes = 4;
    for (int i = 0; i < rank; ++i) bytes *= dims[i];
    TF_Tensor* const tensor = TF_AllocateTensor(type, dims, rank, bytes);
    for (size_t i = 0; tensor != nullptr && i < bytes / 4; ++i)
      static_cast<int32_t*>(TF_TensorData(tensor))[i] = static_cast<int32_t>(Below(3));
    return tensor;
  }

  void NewDescription() {
    if (descriptions_.live.size() >= kMost) return FinishOne(descriptions_.live.front());
    Add(descriptions_, TF_NewOperation(PickGraph(), OpName(), Name().c_str()));
  }

  void SetSomething(TF_OperationDescription* desc) {
    const int64_t dims[] = {Dim(), Dim()};
    const TF_DataType types[] = {Type(), Type()};
    const TF_Output outputs[] = {Output(), Output()};
    switch (Below(14)) {
      case 0:
        return TF_SetAttrType(desc, "dtype", Type());
      case 1:
        return TF_SetAttrType(desc, "T", Type());
      case 2:
        return TF_SetAttrShape(desc, "shape", dims, static_cast<int>(Below(4)) - 1);
      case 3:
        return TF_SetAttrTensor(desc, "value", PickTensor(), MaybeStatus());
      case 4:
        return TF_AddInput(desc, Output());
      case 5:
        return TF_AddInput(desc, Output());
      case 6:
        return TF_AddInputList(desc, outputs, static_cast<int>(Below(4)) - 1);
      case 7:
        return TF_AddControlInput(desc, PickOperation());
      case 8:
        return TF_SetDevice(desc, Below(2) == 0 ? "/cpu:0" : "nonsense//");
      case 9:
        return TF_ColocateWith(desc, PickOperation());
      case 10:
        return TF_SetAttrTypeList(desc, "Tout", types, static_cast<int>(Below(3)));
      case 11:
        return TF_SetAttrFuncName(desc, Below(2) == 0 ? "f" : "body", "F0", 2);
      case 12:
        return TF_SetAttrInt(desc, "N", Number());
      default:
        return TF_SetAttrValueProto(desc, "T", "\x30\x01garbage", Below(10), MaybeStatus());
    }
  }

  void FinishOne(TF_OperationDescription* desc) {
    std::erase(descriptions_.live, desc);
    TF_Operation* const made = TF_FinishOperation(desc, status_);
    if (desc != nullptr) descriptions_.dead.push_back(desc);
    if (made == nullptr) return;
    const bool here = TF_GraphOperationByName(home_, TF_OperationName(made)) == made;
    (here ? at_home_ : operations_.live).push_back(made);
  }

  // Something that is likely to run.
  void WholeOperation() {
    TF_Graph* const graph = PickGraph();
    const bool constant = Below(3) == 0 || at_home_.empty();
    TF_OperationDescription* const desc = TF_NewOperation(graph,
                                                          constant ? "Const"
                                                          : Sane() ? Simple()
                                                                   : OpName(),
                                                          Name().c_str());
    if (constant) {
      TF_Tensor* const value = PickTensor();
      TF_SetAttrTensor(desc, "value", value, status_);
      TF_SetAttrType(desc, "dtype", TF_TensorType(value));
    } else {
      for (uint64_t i = Sane() ? 2 : Below(3); i > 0; --i) TF_AddInput(desc, {PickOperation(), 0});
    }
    FinishOne(desc);
  }

  void NewSession() {
    if (sessions_.live.size() >= kMost) return DeleteOne(sessions_, &Program::EndSession);
    TF_SessionOptions* const options = TF_NewSessionOptions();
    if (Below(4) == 0) TF_SetConfig(options, "\x10\x01\xff", Below(4), status_);
    Add(sessions_, TF_NewSession(PickGraph(), options, status_));
    TF_DeleteSessionOptions(options);
  }

  void Run() {
    const TF_Output feeds[] = {Output(), Output()};
    TF_Tensor* const values[] = {PickTensor(), PickTensor()};
    const TF_Output fetches[] = {Output(), Output()};
    const TF_Operation* const targets[] = {PickOperation(), PickOperation()};
    TF_Tensor* results[2] = {nullptr, nullptr};
    const int fetched = static_cast<int>(Below(3));
    TF_SessionRun(PickSession(), nullptr, feeds, values, static_cast<int>(Below(6) / 4), fetches,
                  results, fetched, targets, static_cast<int>(Below(3)), nullptr, status_);
    for (TF_Tensor* result : results) Keep(result);
  }

  void PartialRun() {
    TF_Session* const session = PickSession();
    const TF_Output feeds[] = {Output()}, fetches[] = {Output()};
    const char* handle = nullptr;
    TF_SessionPRunSetup(session, feeds, 1, fetches, 1, nullptr, 0, &handle, status_);
    TF_Tensor* const value = PickTensor();
    TF_Tensor* result = nullptr;
    TF_SessionPRun(session, handle, feeds, &value, 1, fetches, &result, 1, nullptr, 0, status_);
    Keep(result);
    TF_DeletePRunHandle(handle);
  }

  void Keep(TF_Tensor* tensor) {
    if (tensors_.live.size() < kMost) return Add(tensors_, tensor);
    TF_DeleteTensor(tensor);
  }

  void AskOperation(TF_Operation* operation) {
    TF_OperationName(operation);
    TF_OperationOpType(operation);
    TF_OperationDevice(operation);
    TF_OperationNumOutputs(operation);
    TF_OperationOutputType({operation, Number()});
    TF_OperationOutputNumConsumers({operation, Number()});
    TF_OperationInput({operation, Number()});
    TF_OperationInputType({operation, Number()});
    TF_OperationOutputListLength(operation, "output", status_);
    TF_OperationInputListLength(operation, "values", status_);
    TF_Operation* controls[4];
    TF_OperationGetControlInputs(operation, controls, 4);
    TF_OperationGetControlOutputs(operation, controls, 4);
    TF_Input consumers[4];
    TF_OperationOutputConsumers({operation, Number()}, consumers, 4);
    TF_OperationGetAttrMetadata(operation, "T", status_);
    TF_DataType type;
    TF_OperationGetAttrType(operation, "T", &type, MaybeStatus());
    TF_Tensor* value = nullptr;
    TF_OperationGetAttrTensor(operation, "value", &value, status_);
    Keep(value);
    TF_Buffer* const bytes = TF_NewBuffer();
    TF_OperationToNodeDef(operation, bytes, status_);
    TF_DeleteBuffer(bytes);
  }

  void AskGraph(TF_Graph* graph) {
    size_t at = static_cast<size_t>(Number());
    TF_GraphNextOperation(graph, &at);
    if (TF_Operation* const found = TF_GraphOperationByName(graph, Name().c_str());
        found != nullptr && operations_.live.size() < 100)
      operations_.live.push_back(found);
    const TF_Output output = Output();
    TF_GraphGetTensorNumDims(graph, output, status_);
    int64_t dims[4] = {Dim(), Dim(), 1, 1};
    TF_GraphGetTensorShape(graph, output, dims, static_cast<int>(Below(5)), status_);
    TF_GraphSetTensorShape(graph, output, dims, static_cast<int>(Below(4)) - 1, status_);
    TF_Tensor* value = nullptr;
    TF_TryEvaluateConstant(graph, output, &value, status_);
    Keep(value);
    TF_Buffer* const bytes = TF_NewBuffer();
    TF_GraphToGraphDef(graph, bytes, status_);
    if (bytes->length > 0 && bytes->length < 100000)
      exported_.assign(static_cast<const char*>(bytes->data), bytes->length);
    TF_DeleteBuffer(bytes);
    TF_GraphNumFunctions(graph);
    TF_GraphCopyFunction(graph, Pick(functions_), Pick(functions_), status_);
  }

  void Import(TF_Graph* graph) {
    std::string bytes = exported_;
    testing::Mutator mutator(random_());
    if (Below(2) == 0) mutator.Damage(&bytes);
    TF_Buffer* const buffer = TF_NewBufferFromString(bytes.data(), bytes.size());
    TF_ImportGraphDefOptions* const options = TF_NewImportGraphDefOptions();
    if (Below(2) == 0) TF_ImportGraphDefOptionsSetPrefix(options, Name().c_str());
    TF_ImportGraphDefOptionsSetUniquifyNames(options, static_cast<unsigned char>(Below(2)));
    if (Below(3) == 0) {
      TF_ImportGraphDefOptionsAddInputMapping(options, Name().c_str(), Number(), Output());
      TF_ImportGraphDefOptionsAddControlDependency(options, PickOperation());
    }
    if (Below(3) == 0) {
      TF_ImportGraphDefOptionsAddReturnOutput(options, Name().c_str(), Number());
      TF_ImportGraphDefOptionsAddReturnOperation(options, Name().c_str());
    }
    TF_ImportGraphDefResults* const results =
        TF_GraphImportGraphDefWithResults(graph, buffer, options, status_);
    int count = 0;
    TF_Output* outputs = nullptr;
    TF_ImportGraphDefResultsReturnOutputs(results, &count, &outputs);
    TF_DeleteImportGraphDefResults(results);
    TF_DeleteImportGraphDefOptions(options);
    TF_DeleteBuffer(buffer);
  }

  void MakeFunction() {
    if (functions_.live.size() >= kMost) return DeleteOne(functions_, &Program::EndFunction);
    const TF_Output inputs[] = {Output()}, outputs[] = {Output(), Output()};
    const char* const names[] = {"a", "b"};
    const TF_Operation* const opers[] = {PickOperation()};
    const bool some = Below(3) == 0;
    Add(functions_, TF_GraphToFunction(PickGraph(), Below(3) == 0 ? "F1" : "F0", 0, some ? 1 : -1,
                                       some ? opers : nullptr, static_cast<int>(Below(2)), inputs,
                                       static_cast<int>(Below(3)), outputs,
                                       Below(2) == 0 ? names : nullptr, nullptr, "text", status_));
  }

  void AskFunction(TF_Function* function) {
    TF_FunctionName(function);
    TF_Buffer* const bytes = TF_NewBuffer();
    TF_FunctionToFunctionDef(function, bytes, status_);
    Add(functions_, TF_FunctionImportFunctionDef(bytes->data, bytes->length, status_));
    TF_DeleteBuffer(bytes);
    if (functions_.live.size() >= kMost) DeleteOne(functions_, &Program::EndFunction);
    TFE_ContextAddFunction(context_, function, status_);
    if (Below(3) == 0) TFE_ContextRemoveFunction(context_, "F0", status_);
  }

  void Gradients() {
    TF_Output ys[] = {Output()}, xs[] = {Output(), Output()}, dx[] = {Output()};
    TF_Output results[2] = {};
    TF_AddGradients(PickGraph(), ys, 1, xs, static_cast<int>(Below(3)),
                    Below(2) == 0 ? dx : nullptr, status_, results);
  }

  void Loop() {
    TF_Output inputs[] = {Output()}, outputs[1] = {};
    TF_WhileParams params = TF_NewWhile(PickGraph(), inputs, 1, status_);
    if (params.ninputs == 0) return;
    if (Below(2) == 0) params.name = "loop";
    params.cond_output = Below(2) == 0 ? params.cond_inputs[0] : Output();
    if (Below(2) == 0) params.body_outputs[0] = params.body_inputs[0];
    if (Below(2) == 0) return TF_AbortWhile(&params);
    TF_FinishWhile(&params, status_, outputs);
  }

  void AskTensor(TF_Tensor* tensor) {
    TF_TensorType(tensor);
    TF_NumDims(tensor);
    TF_TensorByteSize(tensor);
    TF_TensorElementCount(tensor);
    const int64_t dims[] = {Dim(), Dim()};
    TF_Tensor* const to = PickTensor();
    TF_TensorBitcastFrom(tensor, Type(), to, dims, static_cast<int>(Below(3)), status_);
  }

  void NewHandle() {
    if (handles_.live.size() >= kMost) return DeleteOne(handles_, &Program::EndHandle);
    Add(handles_, TFE_NewTensorHandle(PickTensor(), MaybeStatus()));
  }

  void AskHandle(TFE_TensorHandle* handle) {
    TFE_TensorHandleDataType(handle);
    TFE_TensorHandleNumDims(handle, status_);
    TFE_TensorHandleDim(handle, Number(), status_);
    TFE_TensorHandleDeviceName(handle, status_);
    Keep(TFE_TensorHandleResolve(handle, MaybeStatus()));
    TFE_TensorHandle* const copy =
        TFE_TensorHandleCopyToDevice(handle, context_, Below(2) == 0 ? "/cpu:0" : "?", status_);
    if (copy != nullptr) TFE_DeleteTensorHandle(copy);
  }

  void NewEagerOp() {
    if (eager_ops_.live.size() >= kMost) return DeleteOne(eager_ops_, &Program::EndEagerOp);
    Add(eager_ops_, TFE_NewOp(context_, OpName(), status_));
  }

  void SetEagerOp(TFE_Op* op) {
    TFE_TensorHandle* handles[] = {Pick(handles_), Pick(handles_)};
    switch (Below(8)) {
      case 0:
        return TFE_OpAddInputList(op, handles, static_cast<int>(Below(3)), status_);
      case 1:
        return TFE_OpSetAttrType(op, "T", Type());
      case 2:
        return TFE_OpSetDevice(op, Below(2) == 0 ? "/cpu:0" : "?", status_);
      case 3:
        return TFE_OpSetAttrInt(op, "N", Number());
      case 4:
        return TFE_OpSetAttrFunctionName(op, "f", "F0", 2);
      case 5:
        return TFE_OpReset(op, OpName(), nullptr, status_);
      default:
        return TFE_OpAddInput(op, Pick(handles_), status_);
    }
  }

  void Execute(TFE_Op* op) {
    if (Sane() && handles_.live.size() > 1) {
      op = TFE_NewOp(context_, Simple(), status_);
      Add(eager_ops_, op);
      TFE_OpAddInput(op, handles_.live.front(), status_);
      TFE_OpAddInput(op, Sane() ? handles_.live.front() : Pick(handles_), status_);
    }
    TFE_TensorHandle* results[4] = {};
    int count = static_cast<int>(Below(5));
    TFE_Execute(op, results, &count, status_);
    if (TF_GetCode(status_) != TF_OK) count = 0;
    for (int i = 0; i < count; ++i) {
      if (handles_.live.size() < kMost) {
        Add(handles_, results[i]);
      } else {
        TFE_DeleteTensorHandle(results[i]);
      }
    }
  }

  std::mt19937_64 random_;
  TF_Status* status_;
  TFE_Context* context_ = nullptr;
  Pool<TF_Graph> graphs_;
  Pool<TF_Operation> operations_;
  Pool<TF_OperationDescription> descriptions_;
  Pool<TF_Session> sessions_;
  Pool<TF_Tensor> tensors_;
  Pool<TF_Function> functions_;
  Pool<TFE_TensorHandle> handles_;
  Pool<TFE_Op> eager_ops_;
  std::string exported_;
  TF_Graph* home_ = TF_NewGraph();
  TF_Session* session_ = nullptr;
  std::vector<TF_Operation*> at_home_;
};

TEST(ClientApiFuzz, CallsInAnyOrderReturn) {
  const int programs = testing::FuzzIterations(60);
  for (int seed = 0; seed < programs; ++seed) {
    SCOPED_TRACE(seed);
    Program program(static_cast<uint64_t>(seed));
    for (int i = 0; i < 400; ++i) program.Step();
  }
}

}  // namespace
}  // namespace tenon
