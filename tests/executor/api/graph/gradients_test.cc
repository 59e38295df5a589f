// TF_AddGradients.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tenon/tenon_c.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::FloatsOf;
using testing::FloatTensor;
using testing::SessionRunner;
using ::testing::StartsWith;

class CGradients : public testing::GraphFixture {
 protected:
  std::vector<TF_Output> Add(std::vector<TF_Output> y, std::vector<TF_Output> x,
                             std::vector<TF_Output> dx = {}, const char* prefix = nullptr,
                             TF_Code wanted = TF_OK) {
    std::vector<TF_Output> dy(x.size(), {nullptr, 77});
    TF_AddGradientsWithPrefix(g(), prefix, y.data(), static_cast<int>(y.size()), x.data(),
                              static_cast<int>(x.size()), dx.empty() ? nullptr : dx.data(), s(),
                              dy.data());
    EXPECT_EQ(wanted, code()) << message();
    return dy;
  }
  // y = matmul(a, b) of 2x2 matrices.
  void MatMul() {
    a_ = Const("a", FloatTensor({2, 2}, {1, 2, 3, 4}).get());
    b_ = Const("b", FloatTensor({2, 2}, {1, 0, 0, 1}).get());
    product_ = Binary("MatMul", "product", {a_, 0}, {b_, 0});
  }
  TF_Operation *a_, *b_, *product_;
};

TEST_F(CGradients, OfAProduct) {
  MatMul();
  const auto dy = Add({{product_, 0}}, {{a_, 0}, {b_, 0}});
  SessionRunner session(g());
  const auto out = session.Run({}, dy);
  EXPECT_THAT(FloatsOf(out[0].get()), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(FloatsOf(out[1].get()), ElementsAre(4, 4, 6, 6));
  EXPECT_THAT(TF_OperationName(dy[0].oper), StartsWith("gradients/"));
}

// The names are those of TensorFlow's C API, which programs look up.
TEST_F(CGradients, AreNamedAsInTensorFlow) {
  MatMul();
  const auto dy = Add({{product_, 0}}, {{a_, 0}, {b_, 0}});
  EXPECT_STREQ(TF_OperationName(dy[0].oper), "gradients/MatMul");
  EXPECT_STREQ(TF_OperationName(dy[1].oper), "gradients/MatMul_1");
  EXPECT_STREQ(TF_OperationName(TF_OperationInput({dy[0].oper, 0}).oper), "gradients/OnesLike");
  TF_Output product = {product_, 0}, by = {a_, 0}, of_a;
  TENON_AddGradients(g(), "mine", &product, 1, &by, 1, nullptr, nullptr, 0, s(), &of_a);
  ExpectOk();
  EXPECT_STREQ(TF_OperationName(of_a.oper), "mine/product_grad/MatMul");
}

TEST_F(CGradients, StartWithWhatIsGiven) {
  MatMul();
  TF_Operation* start = Const("start", FloatTensor({2, 2}, {1, 0, 0, 0}).get());
  const auto dy = Add({{product_, 0}}, {{b_, 0}}, {{start, 0}});
  SessionRunner session(g());
  EXPECT_THAT(FloatsOf(session.Run({}, dy)[0].get()), ElementsAre(1, 0, 2, 0));
}

TEST_F(CGradients, HavePrefixes) {
  MatMul();
  EXPECT_THAT(TF_OperationName(Add({{product_, 0}}, {{a_, 0}})[0].oper), StartsWith("gradients/"));
  EXPECT_THAT(TF_OperationName(Add({{product_, 0}}, {{a_, 0}})[0].oper),
              StartsWith("gradients_1/"));
  EXPECT_THAT(TF_OperationName(Add({{product_, 0}}, {{a_, 0}}, {}, "mine")[0].oper),
              StartsWith("mine/"));
  const size_t before = Names().size();
  Add({{product_, 0}}, {{a_, 0}}, {}, "mine", TF_INVALID_ARGUMENT);
  EXPECT_THAT(message(), StartsWith("prefix [mine] conflicts with existing node in the graph"));
  Add({{product_, 0}}, {{a_, 0}}, {}, "product", TF_INVALID_ARGUMENT);
  EXPECT_EQ(before, Names().size());
}

TEST_F(CGradients, WithoutAPathThereIsNone) {
  MatMul();
  TF_Operation* other = Const("other", FloatTensor({}, {1}).get());
  const auto dy = Add({{product_, 0}}, {{other, 0}});
  EXPECT_EQ(nullptr, dy[0].oper);
  EXPECT_EQ(-1, dy[0].index);
}

// As in TensorFlow, an op without a rule that gives integers is an error where it is itself
// differentiated, and ends the path where a result reads it.
TEST_F(CGradients, IntegersOfAnOpWithoutARule) {
  const auto unary = [&](const char* op, const char* name, TF_Output x) {
    TF_OperationDescription* desc = TF_NewOperation(g(), op, name);
    TF_AddInput(desc, x);
    return desc;
  };
  TF_Operation* x = Const("x", FloatTensor({2}, {1, 2}).get());
  TF_OperationDescription* desc = unary("Bucketize", "buckets", {x, 0});
  const float boundaries[] = {0, 1};
  TF_SetAttrFloatList(desc, "boundaries", boundaries, 2);
  TF_Operation* buckets = TF_FinishOperation(desc, s());
  ASSERT_EQ(TF_OK, code()) << message();
  TF_Operation* where = TF_FinishOperation(unary("Where", "where", {x, 0}), s());
  ASSERT_EQ(TF_OK, code()) << message();
  Add({{buckets, 0}}, {{x, 0}}, {}, nullptr, TF_NOT_FOUND);
  EXPECT_THAT(message(), StartsWith("No gradient defined for op: Bucketize."));
  Add({{x, 0}, {where, 0}}, {{x, 0}}, {}, nullptr, TF_NOT_FOUND);
  EXPECT_THAT(message(), StartsWith("No gradient defined for op: Where."));

  TF_Operation* same = TF_FinishOperation(unary("Identity", "same", {buckets, 0}), s());
  ASSERT_EQ(TF_OK, code()) << message();
  EXPECT_EQ(nullptr, Add({{same, 0}}, {{x, 0}})[0].oper);
  TF_Operation* shape = TF_FinishOperation(unary("Shape", "shape", {x, 0}), s());
  EXPECT_EQ(nullptr, Add({{shape, 0}}, {{x, 0}})[0].oper);
  // Nothing leads from the other constant to the op.
  TF_Operation* other = Const("other", FloatTensor({}, {1}).get());
  EXPECT_EQ(nullptr, Add({{buckets, 0}}, {{other, 0}})[0].oper);
}

// While i < 3: y = y * y, from i = 0 and y = x. So y = x^8.
class LoopGradients : public CGradients {
 protected:
  static TF_Operation* ConstIn(TF_Graph* graph, int value, TF_Status* status) {
    const testing::TensorPtr t = testing::IntTensor({}, {value});
    TF_OperationDescription* desc =
        TF_NewOperation(graph, "Const", absl::StrCat("c", value).c_str());
    TF_SetAttrTensor(desc, "value", t.get(), status);
    TF_SetAttrType(desc, "dtype", TF_INT32);
    return TF_FinishOperation(desc, status);
  }
  static TF_Output In(TF_Graph* graph, const char* op, TF_Output a, TF_Output b,
                      TF_Status* status) {
    TF_OperationDescription* desc = TF_NewOperation(graph, op, op);
    TF_AddInput(desc, a);
    TF_AddInput(desc, b);
    return {TF_FinishOperation(desc, status), 0};
  }
  void Loop() {
    x_ = {Const("x", FloatTensor({}, {1.5}).get()), 0};
    TF_Output first[] = {{ConstIn(g(), 0, s()), 0}, x_};
    TF_WhileParams params = TF_NewWhile(g(), first, 2, s());
    ExpectOk();
    params.name = "loop";
    params.cond_output = In(params.cond_graph, "Less", params.cond_inputs[0],
                            {ConstIn(params.cond_graph, 3, s()), 0}, s());
    params.body_outputs[0] = In(params.body_graph, "AddV2", params.body_inputs[0],
                                {ConstIn(params.body_graph, 1, s()), 0}, s());
    params.body_outputs[1] =
        In(params.body_graph, "Mul", params.body_inputs[1], params.body_inputs[1], s());
    TF_FinishWhile(&params, s(), last_);
    ExpectOk();
  }
  TF_Output x_, last_[2];
};

TEST_F(LoopGradients, GoThroughTheIterationsBackward) {
  Loop();
  const auto first = Add({last_[1]}, {x_});
  const auto second = Add(first, {x_});
  SessionRunner session(g());
  const auto out = session.Run({}, {last_[1], first[0], second[0]});
  EXPECT_NEAR(FloatsOf(out[0].get())[0], std::pow(1.5, 8), 1e-3);
  EXPECT_NEAR(FloatsOf(out[1].get())[0], 8 * std::pow(1.5, 7), 1e-3);
  EXPECT_NEAR(FloatsOf(out[2].get())[0], 56 * std::pow(1.5, 6), 1e-2);
}

TEST_F(LoopGradients, OfWhatIsInALoopAreRefused) {
  Loop();
  const size_t before = Names().size();
  Add({{Find("loop/body/Mul"), 0}}, {x_}, {}, nullptr, TF_UNIMPLEMENTED);
  EXPECT_THAT(
      message(),
      ::testing::HasSubstr("'loop/body/Mul' (Mul): it is to be differentiated, and is in a loop"));
  EXPECT_EQ(before, Names().size());
}

TEST_F(CGradients, OfGradients) {
  const std::vector<int64_t> scalar;
  TF_Operation* x = Placeholder("x", TF_FLOAT, &scalar);
  TF_Operation* y = Unary("Tanh", "y", {x, 0});
  const auto first = Add({{y, 0}}, {{x, 0}});
  const auto second = Add(first, {{x, 0}});
  SessionRunner session(g());
  const testing::TensorPtr fed = FloatTensor({}, {0.5f});
  const auto out = session.Run({{{x, 0}, fed.get()}}, {first[0], second[0]});
  const float t = std::tanh(0.5f);
  EXPECT_NEAR(1 - t * t, FloatsOf(out[0].get())[0], 1e-6);
  EXPECT_NEAR(-2 * t * (1 - t * t), FloatsOf(out[1].get())[0], 1e-6);
}

TEST_F(CGradients, TheGraphGrowsOn) {
  MatMul();
  const auto dy = Add({{product_, 0}}, {{a_, 0}});
  TF_Operation* neg = Unary("Neg", "neg", dy[0]);
  EXPECT_EQ(2, TF_GraphGetTensorNumDims(g(), {neg, 0}, s()));
  EXPECT_EQ(1, TF_OperationOutputNumConsumers(dy[0]));
  EXPECT_THAT(Names(), Each(::testing::Not("")));
}

TEST_F(CGradients, OpsWithoutGradientAreNamed) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("Bitcast", "bits");
  TF_AddInput(desc, {x, 0});
  TF_SetAttrType(desc, "type", TF_FLOAT);
  TF_Operation* bits = Finish(desc);
  const size_t before = Names().size();
  Add({{bits, 0}}, {{x, 0}}, {}, nullptr, TF_NOT_FOUND);
  EXPECT_THAT(message(), StartsWith("No gradient defined for op: Bitcast."));
  EXPECT_EQ(before, Names().size());
}

TEST_F(CGradients, GradientsOfGivenOnesAndOfNoneAreOne) {
  MatMul();
  TF_Operation* ones = Const("ones", FloatTensor({2, 2}, {1, 1, 1, 1}).get());
  const auto given = Add({{product_, 0}}, {{a_, 0}, {b_, 0}}, {{ones, 0}});
  const auto plain = Add({{product_, 0}}, {{a_, 0}, {b_, 0}});
  SessionRunner session(g());
  const auto out = session.Run({}, {given[0], given[1], plain[0], plain[1]});
  EXPECT_EQ(FloatsOf(out[0].get()), FloatsOf(out[2].get()));
  EXPECT_EQ(FloatsOf(out[1].get()), FloatsOf(out[3].get()));
}

TEST_F(CGradients, OfOneResultByTwoInputsInTwoCalls) {
  TF_Operation *x = Placeholder("x", TF_FLOAT), *y = Placeholder("y", TF_FLOAT);
  TF_Operation* product = Binary("Mul", "product", {x, 0}, {y, 0});
  const auto by_x = Add({{product, 0}}, {{x, 0}}), by_y = Add({{product, 0}}, {{y, 0}});
  SessionRunner session(g());
  const testing::TensorPtr three = FloatTensor({}, {3}), seven = FloatTensor({}, {7});
  const auto out = session.Run({{{x, 0}, three.get()}, {{y, 0}, seven.get()}}, {by_x[0], by_y[0]});
  EXPECT_THAT(FloatsOf(out[0].get()), ElementsAre(7));
  EXPECT_THAT(FloatsOf(out[1].get()), ElementsAre(3));
}

// y = x * square, square = x * x: 3x² in all, x² if the square counts as constant.
TEST_F(CGradients, NoGradientGoesBeyondAStop) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* square = Binary("Mul", "square", {x, 0}, {x, 0});
  TF_Operation* y = Binary("Mul", "y", {x, 0}, {square, 0});
  const TF_Output of = {y, 0}, by[] = {{x, 0}, {square, 0}};
  TF_Output dy[2] = {};
  TENON_AddGradients(g(), nullptr, &of, 1, by, 2, nullptr, &square, 1, s(), dy);
  ASSERT_EQ(TF_OK, code()) << message();
  SessionRunner session(g());
  const testing::TensorPtr three = FloatTensor({}, {3});
  const auto out = session.Run({{{x, 0}, three.get()}}, {dy[0], dy[1]});
  EXPECT_THAT(FloatsOf(out[0].get()), ElementsAre(9));
  EXPECT_THAT(FloatsOf(out[1].get()), ElementsAre(3));
  TENON_AddGradients(g(), nullptr, &of, 1, by, 2, nullptr, nullptr, 1, s(), dy);
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

// As in TensorFlow: an output that no operation has is one that y does not depend on.
TEST_F(CGradients, AnOutputThatIsNotThereHasNone) {
  MatMul();
  const auto dy = Add({{product_, 0}}, {{a_, 1}, {b_, 0}});
  EXPECT_EQ(nullptr, dy[0].oper);
  SessionRunner session(g());
  EXPECT_THAT(FloatsOf(session.Run({}, {dy[1]})[0].get()), ElementsAre(4, 4, 6, 6));
}

TEST_F(CGradients, AnEntryWithoutAnOperationStartsWithOnes) {
  MatMul();
  const auto dy = Add({{product_, 0}}, {{a_, 0}}, {{nullptr, 0}});
  SessionRunner session(g());
  EXPECT_THAT(FloatsOf(session.Run({}, dy)[0].get()), ElementsAre(1, 1, 1, 1));
}

TEST_F(CGradients, MistakesGiveAStatus) {
  MatMul();
  Add({{product_, 3}}, {{a_, 0}}, {}, nullptr, TF_OUT_OF_RANGE);
  Add({{nullptr, 0}}, {{a_, 0}}, {}, nullptr, TF_INVALID_ARGUMENT);
  Add({{product_, 0}}, {{a_, 0}}, {{a_, 9}}, nullptr, TF_INVALID_ARGUMENT);
  TF_Output y{product_, 0}, x{a_, 0}, dy;
  TF_AddGradients(nullptr, &y, 1, &x, 1, nullptr, s(), &dy);
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_AddGradients(g(), nullptr, 1, &x, 1, nullptr, s(), &dy);
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_AddGradients(g(), &y, 1, &x, 1, nullptr, s(), nullptr);
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_AddGradients(g(), &y, -1, &x, 1, nullptr, s(), &dy);
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CGradients, AnEmptyPrefixNamesNothing) {
  MatMul();
  TF_Output y{product_, 0}, x{a_, 0}, dy;
  const size_t nodes = Names().size();
  TF_AddGradientsWithPrefix(g(), "", &y, 1, &x, 1, nullptr, s(), &dy);
  EXPECT_EQ(TF_INTERNAL, code());
  EXPECT_EQ(nodes, Names().size());
}

}  // namespace
}  // namespace tenon
