#include "tests/executor/api/c_api_util.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tenon::testing {
namespace {

template <typename T>
TensorPtr Make(TF_DataType type, const std::vector<int64_t>& dims, const std::vector<T>& values) {
  const size_t bytes = values.size() * sizeof(T);
  TF_Tensor* t = TF_AllocateTensor(type, dims.data(), static_cast<int>(dims.size()), bytes);
  if (bytes > 0) std::memcpy(TF_TensorData(t), values.data(), bytes);
  return TensorPtr(t);
}

template <typename T>
std::vector<T> Elements(const TF_Tensor* tensor) {
  if (tensor == nullptr) return {};
  const T* data = static_cast<const T*>(TF_TensorData(tensor));
  return std::vector<T>(data, data + TF_TensorElementCount(tensor));
}

}  // namespace

std::string TextOf(const TF_Status* status) {
  return absl::StrCat(TF_GetCode(status), ": ", TF_Message(status));
}

TensorPtr FloatTensor(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  return Make(TF_FLOAT, dims, values);
}
TensorPtr IntTensor(const std::vector<int64_t>& dims, const std::vector<int32_t>& values) {
  return Make(TF_INT32, dims, values);
}
std::vector<float> FloatsOf(const TF_Tensor* tensor) { return Elements<float>(tensor); }
std::vector<int32_t> IntsOf(const TF_Tensor* tensor) { return Elements<int32_t>(tensor); }

BufferPtr BufferOf(const std::string& bytes) {
  return BufferPtr(TF_NewBufferFromString(bytes.data(), bytes.size()));
}
std::string BytesOf(const TF_Buffer* buffer) {
  return std::string(static_cast<const char*>(buffer->data), buffer->length);
}

TF_Operation* GraphFixture::Finish(TF_OperationDescription* desc) {
  TF_Operation* oper = TF_FinishOperation(desc, s());
  ExpectOk();
  return oper;
}

TF_Operation* GraphFixture::Placeholder(const char* name, TF_DataType type,
                                        const std::vector<int64_t>* dims) {
  TF_OperationDescription* desc = New("Placeholder", name);
  TF_SetAttrType(desc, "dtype", type);
  if (dims != nullptr) TF_SetAttrShape(desc, "shape", dims->data(), static_cast<int>(dims->size()));
  return Finish(desc);
}

TF_Operation* GraphFixture::Const(const char* name, const TF_Tensor* value) {
  TF_OperationDescription* desc = New("Const", name);
  TF_SetAttrTensor(desc, "value", const_cast<TF_Tensor*>(value), s());
  ExpectOk();
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  return Finish(desc);
}

TF_Operation* GraphFixture::ScalarConst(const char* name, int32_t value) {
  return Const(name, IntTensor({}, {value}).get());
}

TF_Operation* GraphFixture::Unary(const char* op, const char* name, TF_Output x) {
  TF_OperationDescription* desc = New(op, name);
  TF_AddInput(desc, x);
  return Finish(desc);
}

TF_Operation* GraphFixture::Binary(const char* op, const char* name, TF_Output x, TF_Output y) {
  TF_OperationDescription* desc = New(op, name);
  TF_AddInput(desc, x);
  TF_AddInput(desc, y);
  return Finish(desc);
}

TF_Operation* GraphFixture::AddN(const char* name, const std::vector<TF_Output>& inputs) {
  TF_OperationDescription* desc = New("AddN", name);
  TF_AddInputList(desc, inputs.data(), static_cast<int>(inputs.size()));
  return Finish(desc);
}

pb::GraphDef GraphFixture::GraphDefOf(TF_Graph* graph) {
  const BufferPtr buffer(TF_NewBuffer());
  TF_GraphToGraphDef(graph, buffer.get(), s());
  ExpectOk();
  pb::GraphDef def;
  EXPECT_TRUE(def.ParseFromString(BytesOf(buffer.get())));
  return def;
}

pb::NodeDef GraphFixture::NodeDefOf(TF_Operation* oper) {
  const BufferPtr buffer(TF_NewBuffer());
  TF_OperationToNodeDef(oper, buffer.get(), s());
  ExpectOk();
  pb::NodeDef def;
  EXPECT_TRUE(def.ParseFromString(BytesOf(buffer.get())));
  return def;
}

std::vector<std::string> GraphFixture::Names() {
  std::vector<std::string> names;
  size_t pos = 0;
  while (TF_Operation* oper = TF_GraphNextOperation(g(), &pos))
    names.emplace_back(TF_OperationName(oper));
  return names;
}

SessionRunner::SessionRunner(TF_Graph* graph) : status_(TF_NewStatus()) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  session_ = TF_NewSession(graph, options, status_.get());
  EXPECT_EQ(TF_OK, TF_GetCode(status_.get())) << message();
  TF_DeleteSessionOptions(options);
}

SessionRunner::~SessionRunner() {
  if (session_ == nullptr) return;
  TF_CloseSession(session_, status_.get());
  EXPECT_EQ(TF_OK, TF_GetCode(status_.get())) << message();
  TF_DeleteSession(session_, status_.get());
  EXPECT_EQ(TF_OK, TF_GetCode(status_.get())) << message();
}

std::vector<TensorPtr> SessionRunner::Run(const Feeds& feeds, const std::vector<TF_Output>& fetches,
                                          const std::vector<const TF_Operation*>& targets,
                                          TF_Code wanted) {
  std::vector<TF_Output> inputs;
  std::vector<TF_Tensor*> values, results(fetches.size());
  for (const auto& [input, value] : feeds) {
    inputs.push_back(input);
    values.push_back(value);
  }
  TF_SessionRun(session_, nullptr, inputs.data(), values.data(), static_cast<int>(inputs.size()),
                fetches.data(), results.data(), static_cast<int>(fetches.size()), targets.data(),
                static_cast<int>(targets.size()), nullptr, status_.get());
  EXPECT_EQ(wanted, TF_GetCode(status_.get())) << message();
  std::vector<TensorPtr> owned;
  for (TF_Tensor* result : results) owned.emplace_back(result);
  return owned;
}

}  // namespace tenon::testing
