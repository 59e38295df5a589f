// Nodes that rules add: attributes from inputs, constants, errors that wait.
#include "graph/gradients/graph_builder.h"

#include "graph/gradients/math.h"
#include "tests/support/parse_graph.h"

namespace tenon::gradients {
namespace {

using ::testing::HasSubstr;

class GraphBuilderTest : public ::testing::Test {
 protected:
  GraphBuilderTest() : shapes_(*GraphShapes::Infer(graph_)), builder_(graph_, shapes_, options_) {
    builder_.EnterScope("g");
  }
  Value Input(DataType type, const PartialShape& shape) {
    return builder_.Op("Placeholder", {},
                       {{"dtype", attr::Type(type)}, {"shape", attr::Shape(shape)}});
  }
  std::string OpOf(Value v) { return std::string(graph_.op_name(v.output().node)); }

  Graph graph_ = testing::Parse("versions { producer: 2000 }");
  ShapeOptions options_;
  GraphShapes shapes_;
  GraphBuilder builder_;
};

TEST_F(GraphBuilderTest, InfersTypesAndNumbers) {
  const Value x = Input(DataType::kDouble, {2, 3}), n = Input(DataType::kInt64, {2});
  const Value stitched = Op("DynamicStitch", {builder_.Ints({0, 1}), builder_.Ints({2, 3}), x, x});
  ASSERT_TRUE(builder_.ok()) << builder_.status();
  EXPECT_EQ(stitched.dtype(), DataType::kDouble);
  EXPECT_EQ(graph_.attr(stitched.output().node, "N")->AsInt().value(), 2);
  const Value joined = Concat({x, x, x}, 1);
  EXPECT_EQ(joined.shape().ToString(), "[2,9]");
  const NodeId both = builder_.AddNode("IdentityN", {x, n});
  EXPECT_EQ(builder_.At(both, 1).dtype(), DataType::kInt64);
  EXPECT_TRUE(builder_.ok()) << builder_.status();
}

// The kernel refuses them, as in TensorFlow.
TEST_F(GraphBuilderTest, SizesBeyondInt32AreLeftToTheKernel) {
  const Value x = Input(DataType::kFloat, {3, 4'294'967'300});
  EXPECT_EQ(OpOf(ShapeOf(x)), "Shape");
  EXPECT_EQ(OpOf(ShapeOf(x, DataType::kInt64)), "Const");
  EXPECT_EQ(OpOf(DimOf(x, 0)), "Const");
  EXPECT_EQ(OpOf(DimOf(x, 1)), "Reshape");
  EXPECT_TRUE(builder_.ok()) << builder_.status();
  builder_.Ints({4'294'967'300});
  EXPECT_THAT(std::string(builder_.status().message()), HasSubstr("4294967300 is beyond int32"));
}

TEST_F(GraphBuilderTest, SharesSmallConstants) {
  const Value one = builder_.Scalar(DataType::kFloat, 1);
  EXPECT_EQ(one.output(), builder_.Scalar(DataType::kFloat, 1).output());
  EXPECT_FALSE(one.output() == builder_.Scalar(DataType::kDouble, 1).output());
  EXPECT_FALSE(builder_.Ints({1}).output() == builder_.Ints({1}, DataType::kInt64).output());
  EXPECT_FALSE(builder_.Ints({1, 2}).output() ==
               builder_.IntMatrix({1, 2}, 1, DataType::kInt32).output());
}

TEST_F(GraphBuilderTest, ScalarsOfEachNumberType) {
  for (const DataType type :
       {DataType::kHalf, DataType::kBfloat16, DataType::kFloat, DataType::kDouble,
        DataType::kComplex64, DataType::kComplex128, DataType::kInt8, DataType::kUint8,
        DataType::kInt16, DataType::kUint16, DataType::kInt32, DataType::kUint32, DataType::kInt64,
        DataType::kUint64, DataType::kBool, DataType::kFloat8E5m2}) {
    const Value one = builder_.Scalar(type, 1);
    ASSERT_TRUE(builder_.ok()) << builder_.status();
    EXPECT_EQ(one.dtype(), type);
  }
  builder_.Scalar(DataType::kString, 1);
  EXPECT_THAT(builder_.status().message(), HasSubstr("string"));
}

// The first error stays, and nothing is added behind it.
TEST_F(GraphBuilderTest, ErrorsWait) {
  const Value x = Input(DataType::kFloat, {2}), y = Input(DataType::kDouble, {2});
  const Value sum = x + y;
  EXPECT_FALSE(builder_.ok());
  const int nodes = graph_.num_node_ids();
  const Value more = Sum(Conj(sum * sum), AllAxes(sum)) / x;
  EXPECT_EQ(graph_.num_node_ids(), nodes);
  EXPECT_EQ(more.output().node, kNoNode);
  EXPECT_EQ(builder_.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(builder_.status().message(), HasSubstr("AddV2: input 1 has type double, not float"));
}

TEST_F(GraphBuilderTest, RefusesTypesShapesAndOps) {
  const Value x = Input(DataType::kFloat, {2}), b = Input(DataType::kBool, {2});
  const auto status_of = [&](const auto& add) {
    GraphBuilder builder(graph_, shapes_, options_);
    builder.EnterScope("g");
    add(builder);
    return std::string(builder.status().message());
  };
  EXPECT_THAT(status_of([&](GraphBuilder& g) { g.Op("Exp", {b}); }), HasSubstr("bool"));
  EXPECT_THAT(status_of([&](GraphBuilder& g) { g.Op("MatMul", {x, x}); }), HasSubstr("rank"));
  EXPECT_THAT(status_of([&](GraphBuilder& g) { g.Op("NoSuchOp", {x}); }), HasSubstr("NoSuchOp"));
  EXPECT_THAT(status_of([&](GraphBuilder& g) { g.Op("Exp", {Value()}); }), HasSubstr("missing"));
  EXPECT_THAT(status_of([&](GraphBuilder& g) { g.Op("Exp", {x, x}); }), HasSubstr("1 inputs"));
  EXPECT_THAT(status_of([&](GraphBuilder& g) { g.Op("Cast", {x}); }), HasSubstr("DstT"));
}

// Errors of new nodes are found too where those of old ones are collected.
TEST_F(GraphBuilderTest, FindsErrorsBesideCollectedOnes) {
  const Value x = Input(DataType::kFloat, {2});
  std::vector<std::pair<NodeId, absl::Status>> errors;
  options_.errors = &errors;
  Op("MatMul", {x, x});
  EXPECT_FALSE(builder_.ok());
  EXPECT_TRUE(errors.empty());
}

// Where nothing is to be done no node is added.
TEST_F(GraphBuilderTest, AddsNoIdleNodes) {
  const Value x = Input(DataType::kFloat, {2, 3});
  EXPECT_EQ(Conj(x).output(), x.output());
  EXPECT_EQ(Cast(x, DataType::kFloat).output(), x.output());
  EXPECT_EQ(ReshapeLike(x, x).output(), x.output());
  EXPECT_EQ(SumToShapeOf(x, x, x).output(), x.output());
  EXPECT_EQ(Concat({x}, 0).output(), x.output());
  for (const Value known : {ShapeOf(x), RankOf(x), SizeOf(x), DimOf(x, 1), AllAxes(x)})
    EXPECT_EQ(OpOf(known), "Const");
  const Value u = Input(DataType::kFloat, PartialShape());
  EXPECT_EQ(OpOf(ShapeOf(u)), "Shape");
  EXPECT_EQ(OpOf(AllAxes(u)), "Range");
  EXPECT_EQ(KnownInts(ShapeOf(x)), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(KnownInts(ShapeOf(u)), std::nullopt);
}

}  // namespace
}  // namespace tenon::gradients
