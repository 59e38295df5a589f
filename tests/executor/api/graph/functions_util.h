// Functions made of graphs, copied and called, for tests of TF_Function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/text_format.h"
#include "proto/function.pb.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {

using FunctionPtr = std::unique_ptr<TF_Function, testing::Deleter<TF_DeleteFunction>>;

// What TF_GraphToFunction is asked for; defaults are those of most cases.
struct FunctionRequest {
  std::vector<TF_Output> inputs, outputs;
  int num_opers = -1;
  std::vector<TF_Operation*> opers;
  std::vector<const char*> output_names;
  bool append_hash = false;
  std::vector<TF_Operation*> control_outputs;
  std::vector<const char*> control_output_names;
  const char* description = nullptr;
};

class GraphFunctions : public testing::GraphFixture {
 protected:
  GraphFunctions() : host_(TF_NewGraph()) {}
  TF_Graph* host() { return host_.get(); }

  // An operation "split" with three outputs, which reads the axis "zero".
  TF_Operation* SplitInThree(TF_Operation* value) {
    TF_OperationDescription* desc = New("Split", "split");
    TF_AddInput(desc, {ScalarConst("zero", 0), 0});
    TF_AddInput(desc, {value, 0});
    TF_SetAttrInt(desc, "num_split", 3);
    return Finish(desc);
  }

  FunctionPtr Make(const FunctionRequest& r, TF_Code wanted = TF_OK) {
    FunctionPtr function(TF_GraphToFunctionWithControlOutputs(
        g(), "MyFunc", r.append_hash, r.num_opers, r.opers.empty() ? nullptr : r.opers.data(),
        static_cast<int>(r.inputs.size()), r.inputs.data(), static_cast<int>(r.outputs.size()),
        r.outputs.data(), r.output_names.empty() ? nullptr : r.output_names.data(),
        static_cast<int>(r.control_outputs.size()), r.control_outputs.data(),
        r.control_output_names.empty() ? nullptr : r.control_output_names.data(), nullptr,
        r.description, s()));
    EXPECT_EQ(wanted, code()) << message();
    EXPECT_EQ(wanted == TF_OK, function != nullptr);
    return function;
  }

  pb::FunctionDef DefOf(const FunctionPtr& function) {
    const testing::BufferPtr buffer(TF_NewBuffer());
    TF_FunctionToFunctionDef(function.get(), buffer.get(), s());
    ExpectOk();
    pb::FunctionDef def;
    EXPECT_TRUE(def.ParseFromString(testing::BytesOf(buffer.get())));
    return def;
  }

  FunctionPtr FromText(const std::string& text) {
    pb::FunctionDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def));
    const std::string wire = def.SerializeAsString();
    FunctionPtr function(TF_FunctionImportFunctionDef(wire.data(), wire.size(), s()));
    ExpectOk();
    return function;
  }

  void CopyTo(TF_Graph* graph, const FunctionPtr& function, const FunctionPtr& grad = nullptr,
              TF_Code wanted = TF_OK) {
    TF_GraphCopyFunction(graph, function.get(), grad.get(), s());
    EXPECT_EQ(wanted, code()) << message();
  }

  // A node whose attribute squeeze_dims is a placeholder.
  TF_Operation* Squeeze(const char* name, TF_Operation* input, const char* placeholder) {
    TF_OperationDescription* desc = New("Squeeze", name);
    TF_AddInput(desc, {input, 0});
    TF_SetAttrPlaceholder(desc, "squeeze_dims", placeholder);
    return Finish(desc);
  }

  // Calls the function in another graph with these values for its arguments.
  std::vector<std::vector<int32_t>> Call(const FunctionPtr& function,
                                         const std::vector<int32_t>& values) {
    CopyTo(host(), function);
    TF_OperationDescription* desc =
        TF_NewOperation(host(), TF_FunctionName(function.get()), "call");
    std::vector<testing::TensorPtr> tensors;
    testing::SessionRunner::Feeds feeds;
    for (size_t i = 0; i < values.size(); ++i) {
      TF_OperationDescription* feed =
          TF_NewOperation(host(), "Placeholder", absl::StrCat("feed", i).c_str());
      TF_SetAttrType(feed, "dtype", TF_INT32);
      TF_Operation* oper = TF_FinishOperation(feed, s());
      ExpectOk();
      TF_AddInput(desc, {oper, 0});
      tensors.push_back(testing::IntTensor({}, {values[i]}));
      feeds.push_back({{oper, 0}, tensors.back().get()});
    }
    TF_Operation* call = TF_FinishOperation(desc, s());
    ExpectOk();
    std::vector<TF_Output> fetches;
    for (int i = 0; i < TF_OperationNumOutputs(call); ++i) fetches.push_back({call, i});
    testing::SessionRunner session(host());
    std::vector<std::vector<int32_t>> results;
    for (const testing::TensorPtr& t : session.Run(feeds, fetches, {call}))
      results.push_back(testing::IntsOf(t.get()));
    return results;
  }

  static std::vector<std::string> ArgNames(
      const google::protobuf::RepeatedPtrField<pb::OpDef::ArgDef>& args) {
    std::vector<std::string> names;
    for (const pb::OpDef::ArgDef& arg : args) names.push_back(arg.name());
    return names;
  }
  // Each node of the body as "name(inputs)".
  static std::vector<std::string> NodesOf(const pb::FunctionDef& def) {
    std::vector<std::string> nodes;
    for (const pb::NodeDef& node : def.node_def())
      nodes.push_back(absl::StrCat(node.name(), "(", absl::StrJoin(node.input(), " "), ")"));
    return nodes;
  }

 private:
  testing::GraphPtr host_;
};

}  // namespace tenon
