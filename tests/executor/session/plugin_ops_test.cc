// Ops and kernels of plug-ins in a session: what a kernel is told of its node, and shape functions
// that are wrong.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/pass_on_util.h"

namespace tenon {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using testing::MakeSession;
using testing::Node;
using testing::Op;
using testing::Placeholder;
using testing::Values;

int computed = 0;

void Pass(void* kernel, TF_OpKernelContext* context) {
  ++computed;
  testing::PassOn(kernel, context);
}

std::vector<std::string>& Told() {
  static auto* const told = new std::vector<std::string>;
  return *told;
}

void Tell(void* kernel, TF_OpKernelContext* context) {
  Told() = {absl::StrCat(TF_GetGraphDefVersion(context))};
  for (int i = 0; i < TF_NumInputs(context); ++i) {
    const TF_StringView name = TF_GetOpKernelRequestedInput(context, i);
    Told().emplace_back(name.data, name.len);
  }
  Pass(kernel, context);
}

// 99 elements, whatever the input.
void Promise99(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeHandle* const shape = TF_ShapeInferenceContextVectorFromSize(context, 99);
  TF_ShapeInferenceContextSetOutput(context, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

void Register(const char* name, std::vector<const char*> inputs, bool stateful,
              void (*shape_fn)(TF_ShapeInferenceContext*, TF_Status*),
              void (*compute)(void*, TF_OpKernelContext*)) {
  TF_Status* const status = TF_NewStatus();
  TF_OpDefinitionBuilder* const op = TF_NewOpDefinitionBuilder(name);
  for (const char* input : inputs) TF_OpDefinitionBuilderAddInput(op, input);
  TF_OpDefinitionBuilderAddOutput(op, "out: float");
  if (stateful) TF_OpDefinitionBuilderSetIsStateful(op, true);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape_fn);
  TF_RegisterOpDefinition(op, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  TF_RegisterKernelBuilder(name, TF_NewKernelBuilder(name, "CPU", nullptr, compute, nullptr),
                           status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  TF_DeleteStatus(status);
}

class PluginOpsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Register("TellingOp", {"a: float", "b: float"}, false, TF_ShapeInferenceContextSetUnknownShape,
             Tell);
    Register("WrongShapeOp", {"in: float"}, false, Promise99, Pass);
    Register("WrongShapeCounter", {"in: float"}, true, Promise99, Pass);
  }
  void SetUp() override { computed = 0; }
};

TEST_F(PluginOpsTest, KernelsAreToldVersionAndInputs) {
  const auto session = MakeSession(
      Placeholder("x", "dim { size: 4 }") +
      Const("axis", "DT_INT32", "tensor_shape { } int_val: 0") +
      Node("parts", "Split", {"axis", "x"}, "attr { key: 'num_split' value { i: 2 } }") +
      Op("y", "TellingOp", {"parts:0", "parts:1"}) + "versions { producer: 1882 }\n");
  ASSERT_TRUE(session->Run({{"x", Floats({1, 2, 3, 4}, {4})}}, {"y"}).ok());
  EXPECT_THAT(Told(), ElementsAre("1882", "parts", "parts:1"));
}

// TensorFlow holds no shape function to its word.
TEST_F(PluginOpsTest, AWrongShapeFunctionDoesNoHarm) {
  const auto session = MakeSession(Placeholder("x", "dim { size: 2 }") +
                                   Op("a", "WrongShapeOp", {"x"}) + Node("n", "Neg", {"a"}) +
                                   Op("b", "WrongShapeOp", {"n"}) + Node("y", "Neg", {"b"}));
  for (int i = 0; i < 2; ++i) {
    ::testing::internal::CaptureStderr();
    const auto run = session->Run({{"x", Floats({3, 4}, {2})}}, {"y"});
    const std::string told = ::testing::internal::GetCapturedStderr();
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_EQ((*run)[0].shape(), Shape({2}));
    EXPECT_THAT(Values((*run)[0]), ElementsAre(3, 4));
    if (i == 0) EXPECT_THAT(told, HasSubstr("node 'a' (WrongShapeOp)"));
  }
  // With one more run for each wrong promise; then never again.
  EXPECT_EQ(computed, 1 + 2 + 2 + 2);
}

// What lasts happens once: nothing that could prove wrong is believed then.
TEST_F(PluginOpsTest, AWrongShapeFunctionRepeatsNothingThatLasts) {
  const auto session =
      MakeSession(Placeholder("x", "dim { size: 2 }") + Op("a", "WrongShapeCounter", {"x"}) +
                  Op("b", "WrongShapeOp", {"a"}) + Node("y", "Neg", {"b"}));
  const auto run = session->Run({{"x", Floats({3, 4}, {2})}}, {"y"});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(Values((*run)[0]), ElementsAre(-3, -4));
  EXPECT_EQ(computed, 2);
}

}  // namespace
}  // namespace tenon
