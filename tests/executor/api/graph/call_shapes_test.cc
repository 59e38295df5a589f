// Shapes of what calls return, which follow from the bodies of functions.
#include "tests/executor/api/graph/functions_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class CallShapes : public GraphFunctions {
 protected:
  void SetUp() override {
    CopyTo(g(), FromText(Body("Twice", "AddV2", "z")));
    CopyTo(g(), FromText(Body("Product", "MatMul", "product")));
    CopyTo(g(), FromText(Body("Deep", "Twice", "y")));
  }
  // A function of one input that is both operands of `op`; a function is an op of one operand.
  static std::string Body(const char* name, const char* op, const char* result) {
    const bool is_call = std::string_view(op) == "Twice";
    return absl::StrCat("signature { name: '", name, "' input_arg { name: 'x' type: DT_FLOAT } ",
                        "output_arg { name: 'y' type: DT_FLOAT } } ", "node_def { name: 'm' op: '",
                        op, "' input: 'x' ",
                        is_call ? "" : "input: 'x' attr { key: 'T' value { type: DT_FLOAT } } ",
                        "} ", "ret { key: 'y' value: 'm:", result, ":0' }");
  }
  TF_Output Input(const char* name, const std::vector<int64_t>& dims) {
    return {Placeholder(name, TF_FLOAT, &dims), 0};
  }
  // A call with a number of results.
  TF_Operation* Call(const char* op, const char* name, const char* function,
                     const std::vector<TF_Output>& inputs, int results) {
    TF_OperationDescription* desc = New(op, name);
    TF_AddInputList(desc, inputs.data(), static_cast<int>(inputs.size()));
    const std::vector<TF_DataType> types(results, TF_FLOAT);
    TF_SetAttrTypeList(desc, "Tout", types.data(), results);
    TF_SetAttrFuncName(desc, "f", function, std::string_view(function).size());
    return TF_FinishOperation(desc, s());
  }
  TF_Operation* While(const char* name, const char* body, TF_Output input) {
    TF_OperationDescription* desc = New("StatelessWhile", name);
    TF_AddInputList(desc, &input, 1);
    TF_SetAttrFuncName(desc, "cond", "None", 4);
    TF_SetAttrFuncName(desc, "body", body, std::string_view(body).size());
    return Finish(desc);
  }
  // {-9} for an unknown rank.
  std::vector<int64_t> DimsOf(TF_Operation* oper, int index = 0) {
    const TF_Output output{oper, index};
    const int rank = TF_GraphGetTensorNumDims(g(), output, s());
    if (rank < 0) return {-9};
    std::vector<int64_t> dims(rank);
    TF_GraphGetTensorShape(g(), output, dims.data(), rank, s());
    return dims;
  }
};

TEST_F(CallShapes, FollowFromTheBody) {
  EXPECT_THAT(DimsOf(Unary("Twice", "a", Input("x", {2, -1}))), ElementsAre(2, -1));
  EXPECT_THAT(DimsOf(Unary("Deep", "b", Input("y", {4}))), ElementsAre(4));
  EXPECT_THAT(DimsOf(Call("PartitionedCall", "c", "Product", {Input("z", {3, 3})}, 1)),
              ElementsAre(3, 3));
  EXPECT_THAT(DimsOf(Call("StatefulPartitionedCall", "d", "Deep", {Input("v", {5})}, 1)),
              ElementsAre(5));
  EXPECT_THAT(DimsOf(Call("PartitionedCall", "e", "Missing", {Input("w", {3})}, 1)),
              ElementsAre(-9));
}

TEST_F(CallShapes, ErrorsInTheBodyRefuseTheCall) {
  TF_Operation* none = nullptr;
  EXPECT_EQ(none, Call("PartitionedCall", "call", "Product", {Input("x", {3})}, 1));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(
      "Shape must be rank 2 but is rank 1 for '{{node m}} = MatMul[T=DT_FLOAT, grad_a=false, "
      "grad_b=false, transpose_a=false, transpose_b=false](x, x)' with input shapes: [3], [3].",
      message());
  EXPECT_EQ(none, Find("call"));
}

// As in TensorFlow, a call is refused whose function cannot become a graph.
TEST_F(CallShapes, MistakesInTheBodyRefuseTheCall) {
  const std::string signature =
      "signature { name: 'F' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: "
      "DT_FLOAT } } ";
  const auto neg = [](std::string_view input, std::string_view rest) {
    return absl::StrCat("node_def { name: 'n' op: 'Neg' input: '", input, "' ", rest, " } ");
  };
  constexpr char kType[] = "attr { key: 'T' value { type: DT_FLOAT } }";
  const std::string ret = "ret { key: 'y' value: 'n:y:0' }";
  const std::pair<std::string, std::string> mistakes[] = {
      {"node_def { name: 'n' op: 'Nope' input: 'x' } " + ret, "5 Op type not registered 'Nope'"},
      {neg("x", ""), "5 type attr not found: T\n\tIn {{node n}}"},
      {neg("x", kType), "3 Return y missing.\n\tIn function output y:float"},
      {neg("x", kType) + "ret { key: 'y' value: 'z:y:0' }",
       "3 Return y -> z:y:0 is not found.\n\tIn function output y:float"},
      {neg("none", kType) + ret, "3 'none'"},
      {neg("x", kType) + neg("x", kType) + ret, "3 "}};
  for (const auto& [body, error] : mistakes) {
    CopyTo(g(), FromText(signature + body));
    for (const char* op : {"F", "PartitionedCall", "StatefulPartitionedCall"}) {
      const TF_Output x = Input(absl::StrCat("x", Names().size()).c_str(), {3});
      TF_OperationDescription* desc = New(op, "call");
      if (op[0] == 'F') {
        TF_AddInput(desc, x);
      } else {
        const TF_DataType type = TF_FLOAT;
        TF_AddInputList(desc, &x, 1);
        TF_SetAttrTypeList(desc, "Tout", &type, 1);
        TF_SetAttrFuncName(desc, "f", "F", 1);
      }
      EXPECT_EQ(nullptr, TF_FinishOperation(desc, s())) << body;
      EXPECT_THAT(absl::StrCat(code(), " ", message()), StartsWith(error));
    }
    TF_GraphRemoveFunction(g(), "F", s());
    ExpectOk();
  }
}

TEST_F(CallShapes, NumbersOfInputsAndResults) {
  TF_Operation* none = nullptr;
  EXPECT_EQ(none, Call("PartitionedCall", "few", "Twice", {}, 1));
  EXPECT_EQ(TF_INTERNAL, code());
  EXPECT_EQ("Function instantiation included invalid input index: 0 not in [0, 0).", message());
  const TF_Output x = Input("x", {3});
  EXPECT_EQ(none, Call("PartitionedCall", "less", "Twice", {x}, 0));
  EXPECT_EQ(TF_INTERNAL, code());
  EXPECT_EQ("Function instantiation included invalid output index: 0 not in [0, 0).", message());
  // As in TensorFlow, the run refuses what is too much.
  TF_Operation* more = Call("PartitionedCall", "more", "Twice", {x, x}, 2);
  ASSERT_NE(none, more) << message();
  EXPECT_THAT(DimsOf(more, 0), ElementsAre(3));
  EXPECT_THAT(DimsOf(more, 1), ElementsAre(-9));
}

TEST_F(CallShapes, OfALoopWhoseBodyKeepsThem) {
  EXPECT_THAT(DimsOf(While("kept", "Twice", Input("x", {2, 3}))), ElementsAre(2, 3));
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'Grow'
             input_arg { name: 'x' type: DT_FLOAT }
             output_arg { name: 'y' type: DT_FLOAT }
           }
           node_def {
             name: 'axis'
             op: 'Const'
             attr {
               key: 'dtype'
               value { type: DT_INT32 }
             }
             attr {
               key: 'value'
               value {
                 tensor {
                   dtype: DT_INT32
                   tensor_shape {}
                   int_val: 0
                 }
               }
             }
           }
           node_def {
             name: 'm'
             op: 'ConcatV2'
             input: 'x'
             input: 'x'
             input: 'axis:output:0'
             attr {
               key: 'T'
               value { type: DT_FLOAT }
             }
             attr {
               key: 'N'
               value { i: 2 }
             }
           }
           ret { key: 'y' value: 'm:output:0' })pb"));
  EXPECT_THAT(DimsOf(While("grown", "Grow", Input("y", {2, 3}))), ElementsAre(-1, 3));
}

TEST_F(CallShapes, OfAFunctionThatCallsItselfStayUnknown) {
  CopyTo(g(), FromText(R"pb(
           signature {
             name: 'Self'
             input_arg { name: 'x' type: DT_FLOAT }
             output_arg { name: 'y' type: DT_FLOAT }
           }
           node_def { name: 'a' op: 'Self' input: 'x' }
           node_def { name: 'b' op: 'Self' input: 'a:y:0' }
           ret { key: 'y' value: 'b:y:0' })pb"));
  EXPECT_THAT(DimsOf(Unary("Self", "a", Input("x", {2}))), ElementsAre(-9));
}

}  // namespace
}  // namespace tenon
