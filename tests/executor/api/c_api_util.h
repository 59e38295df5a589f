// Short forms of the client C API for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/graph_def.pb.h"
#include "tensorflow/c/c_api.h"

namespace tenon::testing {

template <auto Delete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Delete(object);
  }
};
using StatusPtr = std::unique_ptr<TF_Status, Deleter<TF_DeleteStatus>>;
using GraphPtr = std::unique_ptr<TF_Graph, Deleter<TF_DeleteGraph>>;
using BufferPtr = std::unique_ptr<TF_Buffer, Deleter<TF_DeleteBuffer>>;
using TensorPtr = std::unique_ptr<TF_Tensor, Deleter<TF_DeleteTensor>>;

// Code and text of a status, for messages of assertions.
std::string TextOf(const TF_Status* status);

// Tensors of host memory.
TensorPtr FloatTensor(const std::vector<int64_t>& dims, const std::vector<float>& values);
TensorPtr IntTensor(const std::vector<int64_t>& dims, const std::vector<int32_t>& values);
std::vector<float> FloatsOf(const TF_Tensor* tensor);
std::vector<int32_t> IntsOf(const TF_Tensor* tensor);

BufferPtr BufferOf(const std::string& bytes);
std::string BytesOf(const TF_Buffer* buffer);

// A graph with a status of its own. Functions that add operations expect success unless the name
// says otherwise, and return null after a failure.
class GraphFixture : public ::testing::Test {
 protected:
  GraphFixture() : status_(TF_NewStatus()), graph_(TF_NewGraph()) {}

  TF_Graph* g() { return graph_.get(); }
  TF_Status* s() { return status_.get(); }
  TF_Code code() const { return TF_GetCode(status_.get()); }
  std::string message() const { return TF_Message(status_.get()); }
  void ExpectOk() { EXPECT_EQ(TF_OK, code()) << message(); }

  TF_OperationDescription* New(const char* op, const char* name) {
    return TF_NewOperation(g(), op, name);
  }
  TF_Operation* Finish(TF_OperationDescription* desc);
  TF_Operation* Placeholder(const char* name, TF_DataType type = TF_INT32,
                            const std::vector<int64_t>* dims = nullptr);
  TF_Operation* Const(const char* name, const TF_Tensor* value);
  TF_Operation* ScalarConst(const char* name, int32_t value);
  TF_Operation* Unary(const char* op, const char* name, TF_Output x);
  TF_Operation* Binary(const char* op, const char* name, TF_Output x, TF_Output y);
  TF_Operation* AddN(const char* name, const std::vector<TF_Output>& inputs);
  TF_Operation* Find(const char* name) { return TF_GraphOperationByName(g(), name); }

  pb::GraphDef GraphDefOf(TF_Graph* graph);
  pb::GraphDef GraphDef() { return GraphDefOf(g()); }
  pb::NodeDef NodeDefOf(TF_Operation* oper);
  // The names of all operations, in the order of TF_GraphNextOperation.
  std::vector<std::string> Names();

 private:
  StatusPtr status_;
  GraphPtr graph_;
};

// A session of a graph, made and run with expectations of success unless `wanted` says otherwise.
class SessionRunner {
 public:
  explicit SessionRunner(TF_Graph* graph);
  ~SessionRunner();
  TF_Session* get() { return session_; }
  using Feeds = std::vector<std::pair<TF_Output, TF_Tensor*>>;
  std::vector<TensorPtr> Run(const Feeds& feeds, const std::vector<TF_Output>& fetches,
                             const std::vector<const TF_Operation*>& targets = {},
                             TF_Code wanted = TF_OK);
  std::string message() const { return TF_Message(status_.get()); }

 private:
  StatusPtr status_;
  TF_Session* session_;
};

}  // namespace tenon::testing
