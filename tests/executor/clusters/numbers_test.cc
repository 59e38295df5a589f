// Numbers of compiled programs that are easily other than those of TensorFlow's CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::numbers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsNan;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

std::string Typed(std::string_view name, std::string_view type) {
  return testing::Type(name, type);
}

// Runs a graph with the node "y" on the reference plug-in.
template <typename T>
std::vector<T> Compute(const std::string& graph, const std::vector<Session::NamedTensor>& feeds) {
  const testing::ReferencePlugin plugin;
  const auto session = plugin.Open(graph, ClusterOptions());
  if (session == nullptr) return {};
  const auto values = session->Run(feeds, {"y"});
  EXPECT_TRUE(values.ok()) << values.status();
  if (!values.ok()) return {};
  const Tensor& y = values->front();
  return {y.flat<T>(), y.flat<T>() + y.num_elements()};
}

std::string Axis() { return testing::Const("axis", "DT_INT32", "tensor_shape {} int_val: 0"); }

TEST(CompiledNumbers, MeansOfIntegersAreSummedIn64Bits) {
  const auto graph = [](std::string_view type) {
    return testing::Placeholder("x", "dim { size: 3 }", type) + Axis() +
           testing::Op("y", "Mean", {"x", "axis"}, Typed("T", type) + Typed("Tidx", "DT_INT32"));
  };
  const Tensor bytes = Tensor::Of<uint8_t>(DataType::kUint8, {250, 251, 252}, Shape({3}));
  EXPECT_THAT(Compute<uint8_t>(graph("DT_UINT8"), {{"x", bytes}}), ElementsAre(251));
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const Tensor ints = Tensor::Of<int32_t>(DataType::kInt32, {kMost, kMost, kMost}, Shape({3}));
  EXPECT_THAT(Compute<int32_t>(graph("DT_INT32"), {{"x", ints}}), ElementsAre(kMost));
}

TEST(CompiledNumbers, ABoolOfAComplexNumberIsThatOfItsRealPart) {
  const std::string graph =
      testing::Placeholder("x", "dim { size: 2 }", "DT_COMPLEX64") +
      testing::Op("y", "Cast", {"x"}, Typed("SrcT", "DT_COMPLEX64") + Typed("DstT", "DT_BOOL"));
  Tensor x = *Tensor::Allocate(DataType::kComplex64, Shape({2}));
  const float parts[] = {0, 1, 1, 0};
  std::copy(std::begin(parts), std::end(parts), x.flat<float>());
  EXPECT_THAT(Compute<uint8_t>(graph, {{"x", x}}), ElementsAre(0, 1));
}

TEST(CompiledNumbers, GradientsOfReluAreProducts) {
  const std::string graph = testing::Placeholder("x", "dim { size: 4 }") +
                            testing::Placeholder("dy", "dim { size: 4 }") +
                            testing::Node("y", "ReluGrad", {"dy", "x"});
  EXPECT_THAT(Compute<float>(graph, {{"x", testing::Floats({-1, -1, -1, 1}, Shape({4}))},
                                     {"dy", testing::Floats({kNan, kInfinity, 3, 3}, Shape({4}))}}),
              ElementsAre(IsNan(), IsNan(), Eq(0), Eq(3)));
}

TEST(CompiledNumbers, DigammaOfZeroIsNan) {
  const std::string graph =
      testing::Placeholder("x", "dim { size: 3 }") + testing::Node("y", "Digamma", {"x"});
  EXPECT_THAT(Compute<float>(graph, {{"x", testing::Floats({0, -0.0F, 1}, Shape({3}))}}),
              ElementsAre(IsNan(), IsNan(), ::testing::FloatNear(-0.5772157F, 1e-5F)));
}

// A division by what is broadcast: 110 / 110 is 1.
TEST(CompiledNumbers, FloorDivOfEqualNumbersIsOne) {
  const std::string graph = testing::Placeholder("x", "dim { size: 1 } dim { size: 2 }") +
                            testing::Placeholder("z", "dim { size: 2 } dim { size: 1 }") +
                            testing::Node("y", "FloorDiv", {"x", "z"});
  EXPECT_THAT(Compute<float>(graph, {{"x", testing::Floats({-110, 41}, Shape({1, 2}))},
                                     {"z", testing::Floats({-110, 41}, Shape({2, 1}))}}),
              ElementsAre(1, -1, -3, 1));
}

}  // namespace
}  // namespace tenon::numbers_test
