// Sessions of the C++ library, and traced functions as files.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

class CppSession : public testing::FolderTest {
 protected:
  // relu(x w), where the program may count the calls.
  ConcreteFunction Layer(bool counts) {
    Function f(
        [=, this](Tensor x) {
          if (counts) calls.AssignAdd(Tensor(1.f));
          const NameScope scope("layer");
          return std::make_pair(Op("Relu").Input(Op("MatMul").Input(x).Input(w).RunOne()).RunOne(),
                                calls.Read());
        },
        {.name = "layer"});
    return f.Concrete(TensorSpec(DType::kFloat, {-1, 2}, "x"));
  }

  Variable w{Tensor::Of<float>({{1, -2}, {3, -4}}), {.name = "w"}};
  Variable calls{Tensor(5.f), {.name = "calls"}};
  const Tensor x = Tensor::Of<float>({{1, 1}});
};

TEST_F(CppSession, SharesThreads) {
  Layer(false).Save(Path("m.pb"));
  const ThreadPool pool(3);
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(ThreadPool().size(), 0);
  EXPECT_THROW(ThreadPool(-1), Error);
  const Session first = Session::Load(Path("m.pb"), {.threads = 1, .pool = pool});
  EXPECT_EQ(first.pool().size(), 3);
  const Session alone = Session::Load(Path("m.pb"), {.threads = 2});
  const Session second = Session::Load(Path("m.pb"), {.pool = alone.pool()});
  EXPECT_EQ(second.pool().size(), 2);
  EXPECT_EQ(Floats(second.Run({{"x", x}}, {"output_0"})[0]), (std::vector<float>{4, 0}));
}

TEST_F(CppSession, RunsWhatAFunctionSaved) {
  for (const std::string name : {"m.pb", "m.pbtxt", "m.pbtxt.xz"}) {
    Layer(false).Save(Path(name));
    const Session session = Session::Load(Path(name), {.threads = 1, .opt_level = 0});
    ASSERT_EQ(session.inputs().size(), 1u);
    EXPECT_EQ(session.inputs()[0].name, "x");
    EXPECT_EQ(session.inputs()[0].shape, (Shape{-1, 2}));
    EXPECT_EQ(session.outputs().size(), 2u);
    const std::vector<Tensor> results = session.Run({{"x", x}}, {"output_0", "output_1:0"});
    EXPECT_EQ(Floats(results[0]), (std::vector<float>{4, 0}));
    EXPECT_EQ(results[1].item<float>(), 5);
  }
}

// A product of enough weights for all precisions.
TEST_F(CppSession, APrecisionChangesProductsAlone) {
  std::vector<float> weights(64 * 32), row(64);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = 0.01f * static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = 0.03f * static_cast<float>(static_cast<int>(i * 29 % 67) - 33);
  const Tensor many = Tensor::Of<float>(Shape{64, 32}, std::span<const float>(weights));
  const Tensor one = Tensor::Of<float>(Shape{1, 64}, std::span<const float>(row));
  Function f([&](Tensor v) { return Op("MatMul").Input(v).Input(many).RunOne(); });
  const ConcreteFunction traced = f.Concrete(TensorSpec(DType::kFloat, {-1, 64}, "x"));
  traced.Save(Path("product.pb"));
  const auto run = [&](Precision precision) {
    const Session session =
        Session::Load(Path("product.pb"), {.threads = 1, .precision = precision});
    return Floats(session.Run({{"x", one}}, {"output_0"})[0]);
  };
  const std::vector<float> right = run(Precision::kFloat32);
  double squares = 0;
  for (const float y : right) squares += y * y;
  for (const auto& [precision, bound] :
       {std::pair(Precision::kBfloat16, 0.02), std::pair(Precision::kHalf, 0.003),
        std::pair(Precision::kInt8Dynamic, 0.03), std::pair(Precision::kInt8Weights, 0.02),
        std::pair(Precision::kInt4Weights, 0.3)}) {
    const std::vector<float> y = run(precision);
    ASSERT_EQ(y.size(), right.size());
    double errors = 0;
    for (size_t i = 0; i < y.size(); ++i) errors += (y[i] - right[i]) * (y[i] - right[i]);
    EXPECT_GT(errors, 0) << static_cast<int>(precision);
    EXPECT_LT(std::sqrt(errors / squares), bound) << static_cast<int>(precision);
  }
  EXPECT_THROW(Session::Load(Path("product.pb"), {.opt_level = 0, .precision = Precision::kHalf}),
               Error);
}

TEST_F(CppSession, RunsAFunctionThatAssigns) {
  Layer(true).Save(Path("m.pb"));
  const Session session = Session::Load(Path("m.pb"));
  EXPECT_THROW(session.Run({{"x", x}}, {"output_1"}), Error);  // before init
}

TEST_F(CppSession, CallablesRunOnSeveralThreads) {
  const Session session = Session::FromGraphDef(Layer(false).graph_def());
  const Callable layer = session.MakeCallable({"x"}, {"output_0"});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) EXPECT_EQ(Floats(layer({x})[0]), (std::vector<float>{4, 0}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THROW(layer({}), Error);
}

TEST_F(CppSession, SaysWhichNameIsWrong) {
  const Session session = Session::FromGraphDef(Layer(false).graph_def());
  try {
    session.Run({{"y", x}}, {"output_0"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_NOT_FOUND);
    EXPECT_NE(error.message().find("there are x"), std::string::npos);
  }
  EXPECT_THROW(session.Run({{"x", x}}, {"output_0:1"}), Error);
  EXPECT_THROW(Session::Load(Path("none.pb")), Error);
  // A file of one byte, that of a node's tag.
  std::ofstream(Path("cut.pb")) << '\n';
  EXPECT_THROW(Session::Load(Path("cut.pb")), Error);
  EXPECT_THROW(Session::Load(Path("none")), Error);
}

TEST_F(CppSession, RunsNodesThatGiveNothing) {
  const Variable count(Tensor(2.f), {.name = "count"});
  Function f([&](Tensor t) {
    count.AssignAdd(t);
    return count.Read();
  });
  const Session session =
      Session::FromGraphDef(f.Concrete(TensorSpec(DType::kFloat, {}, "t")).graph_def());
  EXPECT_TRUE(session.Run({}, {"init"}).empty());
  EXPECT_EQ(session.Run({{"t", Tensor(3.f)}}, {"output_0"})[0].item<float>(), 5);
  EXPECT_TRUE(session.MakeCallable({}, {"init"})({}).empty());
  EXPECT_EQ(session.Run({{"t", Tensor(1.f)}}, {"output_0"})[0].item<float>(), 3);
  EXPECT_THROW(session.Run({}, {"init:0"}), Error);
  EXPECT_THROW(session.Run({{"init", Tensor(1.f)}}, {"output_0"}), Error);
}

TEST_F(CppSession, LoadsASavedModelsSignatures) {
  const std::string model = "tests/golden/saved_models/affine_state/model";
  const Session session = Session::Load(model, {.signature = "count"});
  EXPECT_TRUE(session.signatures().contains("serving_default"));
  const Tensor batch = Tensor::Of<float>({{1, 1, 1, 1}});
  EXPECT_EQ(session.Run({{"x", batch}}, {"calls"})[0].shape().rank(), 0);
  EXPECT_THROW(Session::Load(model, {.signature = "none"}), Error);
}

TEST_F(CppSession, IsCancelled) {
  Session session = Session::FromGraphDef(Layer(false).graph_def());
  session.Cancel();
  EXPECT_THROW(session.Run({{"x", x}}, {"output_0"}), Error);
}

TEST_F(CppSession, FunctionsTellWhatBecomesOfThem) {
  const ConcreteFunction layer = Layer(true);
  const std::string text = layer.Explain();
  EXPECT_NE(text.find("layer/MatMul: MatMul on /device:CPU:0"), std::string::npos) << text;
  EXPECT_NE(text.find("made at session_test.cc:"), std::string::npos) << text;
  const Session optimized = Session::FromGraphDef(layer.Optimized());
  EXPECT_EQ(optimized.inputs().size(), 1u);
}

// A function without results has nothing to fetch, but its side effects are what it is.
TEST_F(CppSession, FunctionsWithoutResultsTellWhatTheyDo) {
  const Variable v(Tensor(1.f));
  Function f([&] { v.AssignAdd(1.f); });
  const std::string text = f.Concrete().Explain();
  EXPECT_NE(text.find("AssignAddVariableOp on /device:CPU:0"), std::string::npos) << text;
  EXPECT_NE(f.Concrete().Optimized().find("AssignAddVariableOp"), std::string::npos);
}

}  // namespace
}  // namespace tenon
