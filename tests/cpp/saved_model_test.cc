// Checkpoints and SavedModels that the C++ library writes. TensorFlow reads the same files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

using CppCheckpoint = testing::FolderTest;
using CppSavedModel = testing::FolderTest;

TEST_F(CppCheckpoint, KeepsValuesByName) {
  Variable w(Tensor::Of<float>({1, 2}), {.name = "w"}), n(Tensor(7), {.name = "n"});
  SaveCheckpoint(Path("ck"), {&w, &n});
  SaveCheckpoint(Path("same"), {w, n});
  RestoreCheckpoint(Path("same"), {w, n});
  w.Assign(Tensor::Of<float>({0, 0}));
  n.Assign(Tensor(0));
  RestoreCheckpoint(Path("ck"), {&n, &w});
  EXPECT_EQ(Floats(w), (std::vector<float>{1, 2}));
  EXPECT_EQ(n.Read().item<int32_t>(), 7);
}

TEST_F(CppCheckpoint, LeavesVariablesAfterAnError) {
  Variable w(Tensor::Of<float>({1, 2}), {.name = "w"});
  Variable same(Tensor(1.f), {.name = "w"}), other(Tensor(1.f), {.name = "other"});
  SaveCheckpoint(Path("ck"), {&w});
  w.Assign(Tensor::Of<float>({5, 5}));
  EXPECT_THROW(RestoreCheckpoint(Path("ck"), {&w, &other}), Error);
  EXPECT_THROW(RestoreCheckpoint(Path("none"), {&w}), Error);
  // Names that the program did not give are the same, too.
  Variable first(Tensor(1.f)), second(Tensor(2.f));
  for (const std::vector<Variable*>& pair : {std::vector{&w, &same}, {&first, &second}}) {
    try {
      SaveCheckpoint(Path("ck"), pair);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find("Give each its own"), std::string::npos) << error.message();
    }
  }
  try {
    RestoreCheckpoint(Path("ck"), {&same});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("\"w\""), std::string::npos) << error.message();
  }
  EXPECT_EQ(Floats(w), (std::vector<float>{5, 5}));
}

TEST_F(CppSavedModel, KeepsFunctionsAndVariables) {
  Variable w(Tensor::Of<float>({{1, 2}, {3, 4}}), {.name = "w"});
  Variable calls(Tensor(0.f), {.name = "calls"});
  const Tensor large = Tensor::Of<float>(Shape{200}, std::vector<float>(200, 0.5f));
  Function layer([&](Tensor x) {
    calls.AssignAdd(Tensor(1.f));
    return std::make_pair(ops::Relu(ops::MatMul(x, w)), calls.Read());
  });
  Function scale([&](Tensor x) { return x * large; });
  const std::map<std::string, ConcreteFunction> functions = {
      {"serving_default", layer.Concrete(TensorSpec(DType::kFloat, {-1, 2}, "x"))},
      {"scale", scale.Concrete(TensorSpec(DType::kFloat, {}, "factor"))}};
  SaveSavedModel(functions, {&w}, Path("model"));
  w.Assign(Tensor::Of<float>({{0, 0}, {0, 0}}));

  const Session session = Session::Load(Path("model"));
  ASSERT_EQ(session.inputs().size(), 1u);
  EXPECT_EQ(session.inputs()[0].shape, (Shape{-1, 2}));
  for (const float count : {1.f, 2.f}) {
    const std::vector<Tensor> results =
        session.Run({{"x", Tensor::Of<float>({{1, 1}})}}, {"output_0", "output_1"});
    EXPECT_EQ(Floats(results[0]), (std::vector<float>{4, 6}));
    EXPECT_EQ(results[1].item<float>(), count);
  }
  const Session other = Session::Load(Path("model"), {.signature = "scale"});
  EXPECT_EQ(Floats(other.Run({{"factor", Tensor(4.f)}}, {"output_0"})[0])[199], 2);
  EXPECT_THROW(SaveSavedModel(functions, {&w}, Path("model")), Error);
  EXPECT_FALSE(std::filesystem::exists(Path("model.unfinished")));
}

TEST_F(CppSavedModel, RunsEachSignatureByItself) {
  Variable sum(Tensor(0.f), {.name = "sum"});
  Function add([&](Tensor x) { return sum.AssignAdd(x).Read(); });
  Function set([&](Tensor x) { return sum.Assign(x).Read(); });
  const TensorSpec spec(DType::kFloat, {}, "x");
  // An error of another call is over once it was caught.
  EXPECT_THROW(Session::Load(Path("absent.pb")), Error);
  SaveSavedModel({{"add", add.Concrete(spec)}, {"set", set.Concrete(spec)}}, {&sum}, Path("model"));
  // Where one waited for the other, its input would be needed as well.
  const auto run = [&](const char* signature) {
    const Session session = Session::Load(Path("model"), {.signature = signature});
    return session.Run({{"x", Tensor(2.f)}}, {"output_0"})[0].item<float>();
  };
  EXPECT_EQ(run("set"), 2);
  EXPECT_EQ(run("add"), 2);
}

TEST_F(CppSavedModel, LetsResultsWaitForSideEffects) {
  Variable calls(Tensor(0.f), {.name = "calls"});
  Function count([&](Tensor x) {
    calls.AssignAdd(1);
    return x * 2;
  });
  SaveSavedModel({{"count", count.Concrete(TensorSpec(DType::kFloat, {}, "x"))}}, {&calls},
                 Path("model"));
  std::ifstream file(Path("model/saved_model.pb"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(bytes.find("^StatefulPartitionedCall"), std::string::npos);
  const Session session = Session::Load(Path("model"), {.signature = "count"});
  EXPECT_EQ(session.Run({{"x", Tensor(2.f)}}, {"output_0"})[0].item<float>(), 4);
}

TEST_F(CppSavedModel, TakesAnEmptyFolderAndNamesThatEndInASlash) {
  Variable w(Tensor(2.f), {.name = "w"});
  Function twice([&](Tensor x) { return x * w; });
  const std::map<std::string, ConcreteFunction> functions = {
      {"serving_default", twice.Concrete(TensorSpec(DType::kFloat, {}, "x"))}};
  std::filesystem::create_directory(Path("empty"));
  std::filesystem::create_directory(Path("left"));
  std::filesystem::create_directory(Path("left.unfinished"));
  for (const char* const name : {"empty", "slash/", "left"}) {
    SaveSavedModel(functions, {}, Path(name));
    const Session session = Session::Load(Path(name));
    EXPECT_EQ(session.Run({{"x", Tensor(4.f)}}, {"output_0"})[0].item<float>(), 8) << name;
  }
  // A folder that another program left is not touched.
  EXPECT_TRUE(std::filesystem::exists(Path("left.unfinished")));
}

TEST_F(CppSavedModel, RefusesWhatNoSessionTakes) {
  const TensorSpec scalar(DType::kFloat, {}, "x");
  Function twice([](Tensor x) { return x * 2; });
  try {
    SaveSavedModel({{"my sig", twice.Concrete(scalar)}}, {}, Path("model"));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
    EXPECT_NE(error.message().find("\"my sig\" is no name of a signature"), std::string::npos)
        << error.what();
  }
  // A function that uses a symbol of a trace that is over.
  std::optional<ConcreteFunction> inner;
  Function outer([&](Tensor x) {
    Function sum([&](Tensor y) { return x + y; });
    inner = sum.Concrete(scalar);
    return x;
  });
  outer(Tensor(1.f));
  try {
    SaveSavedModel({{"sum", *inner}}, {}, Path("model"));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_FAILED_PRECONDITION) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(Path("model")));
}

TEST_F(CppSavedModel, LeavesNothingAfterAnError) {
  Variable w(Tensor(2.f), {.name = "w"}), same(Tensor(3.f), {.name = "w"});
  std::filesystem::create_directory(Path("full"));
  Write("full/file", "kept");
  Write("file", "kept");
  EXPECT_THROW(SaveSavedModel({}, {&w}, Path("full")), Error);
  EXPECT_THROW(SaveSavedModel({}, {&w}, Path("file")), Error);
  EXPECT_THROW(SaveSavedModel({}, {&w, &same}, Path("two")), Error);
  EXPECT_THROW(SaveSavedModel({}, {&w}, Path("nowhere/model")), Error);
  EXPECT_THROW(SaveSavedModel({}, {&w}, ""), Error);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"file", "full"}));
  EXPECT_TRUE(std::filesystem::exists(Path("full/file")));
}

}  // namespace
}  // namespace tenon
