// Rules of ranks: what their words ask for and give. Rules of ops are in the table of shapes.
#include "graph/shapes/rank_rules.h"

#include <gmock/gmock.h>

#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using Shapes = std::vector<PartialShape>;

PartialShape P(Dims dims) { return PartialShape(dims); }

// A node of ApplyMomentum's types with these inputs, of which the first two are handles if
// `handle`.
struct RuleNode {
  explicit RuleNode(Shapes shapes, bool handle = false) {
    for (PartialShape& shape : shapes) {
      const bool is_handle = handle && infos.size() < 2;
      types.inputs.push_back(is_handle ? DataType::kResource : DataType::kFloat);
      TensorInfo& info = infos.emplace_back();
      info.shape = is_handle ? PartialShape(Shape()) : shape;
      if (is_handle) info.handle_shape = std::make_shared<const PartialShape>(std::move(shape));
    }
    types.outputs = {DataType::kFloat, DataType::kFloat};
  }

  // The status of the rule and the shapes of both outputs.
  std::string Apply(std::string_view rule) {
    InferenceContext::Infos inputs;
    for (const TensorInfo& info : infos) inputs.push_back(&info);
    InferenceContext c(*OpRegistry::Global().Find("TopKUnique"), attrs, types, inputs);
    const absl::Status status = ops::ApplyRankRule(c, rule);
    if (!status.ok()) return status.ToString();
    return c.output(0).shape.ToString() + " " + c.output(1).shape.ToString();
  }

  AttrSet attrs;
  NodeTypes types;
  std::vector<TensorInfo> infos;
};

const PartialShape kUnknown;

TEST(RankRules, GiveDimensionsOfInputs) {
  EXPECT_EQ(RuleNode(Shapes{P({4, 2}), P({-1})}).Apply("2n 1n -> [n,7] =0"), "[4,7] [4,2]");
  EXPECT_EQ(RuleNode(Shapes{P({-1, 2}), P({5})}).Apply("1+n 1n -> [n] []"), "[5] []");
  EXPECT_EQ(RuleNode(Shapes{kUnknown, P({3})}).Apply("0 1- -> [-1] =1"), "[?] [3]");
}

TEST(RankRules, RefuseOtherRanks) {
  EXPECT_THAT(RuleNode(Shapes{PartialShape{4}}).Apply("2 ->"),
              HasSubstr("Shape must be rank 2 but is rank 1"));
  EXPECT_THAT(RuleNode(Shapes{PartialShape{4}}).Apply("2+ ->"),
              HasSubstr("Shape must be at least rank 2 but is rank 1"));
  EXPECT_THAT(RuleNode(Shapes{PartialShape{4, 1}}).Apply("1- ->"),
              HasSubstr("Shape must be at most rank 1 but is rank 2"));
  EXPECT_THAT(RuleNode(Shapes{PartialShape{3}}).Apply("[2] ->"),
              HasSubstr("Dimension must be 2 but is 3"));
  EXPECT_THAT(RuleNode(Shapes{P({3}), P({4})}).Apply("1n 1n ->"),
              HasSubstr("must be equal, but are 3 and 4"));
}

TEST(RankRules, VariablesAgreeBehindTheirHandles) {
  for (const bool handle : {false, true}) {
    EXPECT_EQ(RuleNode(Shapes{P({2, -1}), P({-1, 3})}, handle).Apply("v v -> v"),
              "[2,3] <unknown>");
    EXPECT_THAT(RuleNode(Shapes{P({2, 4}), P({-1, 3})}, handle).Apply("v v ->"),
                HasSubstr("but are 4 and 3"));
    EXPECT_EQ(
        RuleNode(Shapes{P({9, 3}), P({9, 3}), P({2, 3}), P({2})}, handle).Apply("v v r 1 -> v"),
        "[9,3] <unknown>");
    EXPECT_THAT(
        RuleNode(Shapes{P({9, 3}), P({9, 3}), P({2, 3}), P({4})}, handle).Apply("v v r 1 ->"),
        HasSubstr("Dimensions must be equal, but are 4 and 2"));
    EXPECT_THAT(
        RuleNode(Shapes{P({9, 3}), P({9, 3}), P({2, 5}), P({2})}, handle).Apply("v v r 1 ->"),
        HasSubstr("but are 3 and 5"));
    EXPECT_THAT(RuleNode(Shapes{P({9, 3}), P({9, 3}), Shape(), P({2})}, handle).Apply("v v r 1 ->"),
                HasSubstr("must not be a scalar"));
  }
}

TEST(RankRules, UnknownWordsAreErrorsOfOurOwn) {
  for (const std::string_view rule :
       {"x ->", "1nn ->", "1", "", "-> [m,z9]", "-> 3", "-> [2", "[a b] ->"}) {
    EXPECT_THAT(RuleNode(Shapes{P({1}), P({1})}).Apply(rule), HasSubstr("INTERNAL")) << rule;
  }
}

}  // namespace
}  // namespace tenon
