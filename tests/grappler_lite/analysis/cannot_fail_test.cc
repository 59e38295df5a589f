// Nodes of which facts and shapes tell that no run finds an error in them.
#include "grappler_lite/analysis/cannot_fail.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/op_registry.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

// Whether node `n` of these two float placeholders, whose shapes are known, cannot fail.
bool CannotFailWith(std::string_view op, const PartialShape& a, const PartialShape& b) {
  Graph graph;
  std::vector<Output> in;
  for (std::string_view name : {"a", "b"}) {
    in.push_back(
        {*graph.AddNode(name, "Placeholder", {}, {{"dtype", attr::Type(DataType::kFloat)}}), 0});
  }
  const NodeId n = *graph.AddNode("n", op, in, {{"T", attr::Type(DataType::kFloat)}});
  const TensorInfo infos[] = {{.shape = a}, {.shape = b}}, none;
  return CannotFail(graph, n, [&](Output o) -> const TensorInfo& {
    return o == in[0] ? infos[0] : o == in[1] ? infos[1] : none;
  });
}

TEST(CannotFail, AsTheRowOfTheOpSays) {
  EXPECT_TRUE(CannotFailWith("AddV2", {2, 3}, {1, 3}));
  EXPECT_FALSE(CannotFailWith("AddV2", {2, 3}, {2, 2}));
  EXPECT_FALSE(CannotFailWith("AddV2", {2, -1}, {2, -1}));
  EXPECT_TRUE(CannotFailWith("MatMul", {-1, 3}, {3, 2}));
  EXPECT_FALSE(CannotFailWith("MatMul", {-1, 3}, {2, 2}));
  EXPECT_FALSE(CannotFailWith("Pow", {2, 3}, {2, 3}));
}

// Registers an op of two inputs that states this list of itself.
void RegisterStating(std::string_view name, std::string_view list) {
  OpDefBuilder builder(name);
  ASSERT_TRUE(builder.AddInput("x: T").ok());
  ASSERT_TRUE(builder.AddInput("y: T").ok());
  ASSERT_TRUE(builder.AddOutput("z: T").ok());
  ASSERT_TRUE(builder.AddAttr("T: type").ok());
  ASSERT_TRUE(builder.AddAttr(absl::StrCat("tenon_facts: list(string) = ", list)).ok());
  ASSERT_TRUE(OpRegistry::Global().Register(*std::move(builder).Finish()).ok());
}

TEST(CannotFail, AsAnOpOfAPlugInStates) {
  RegisterStating("FailsNever", "['never_fails']");
  RegisterStating("FailsPerhaps", "['elementwise']");
  EXPECT_TRUE(CannotFailWith("FailsNever", {2, 3}, {7}));
  EXPECT_FALSE(CannotFailWith("FailsPerhaps", {2, 3}, {2, 3}));
}

}  // namespace
}  // namespace tenon
