// What AddGradients adds: paths, sums, conventions, errors. Numbers are checked by self-checking
// graphs (tests/golden/gradients).
#include "graph/gradients/gradients.h"

#include "graph/ir/nodes.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const PartialShape kScalar = Shape();

// A graph that is built node by node, all of float unless said, and its gradients.
class Differentiated {
 public:
  Output Input(std::string_view name, const PartialShape& shape, DataType type = DataType::kFloat) {
    return Add(name, "Placeholder", {},
               {{"dtype", attr::Type(type)}, {"shape", attr::Shape(shape)}});
  }
  Output Add(std::string_view name, std::string_view op, std::initializer_list<Output> inputs,
             std::vector<Graph::NewAttr> attrs) {
    const auto node = graph.AddNode(name, op, {inputs.begin(), inputs.size()}, std::move(attrs));
    EXPECT_TRUE(node.ok()) << node.status();
    return {node.value_or(0), 0};
  }
  Output Op(std::string_view name, std::string_view op, std::initializer_list<Output> inputs) {
    return Add(name, op, inputs, {{"T", attr::Type(DataType::kFloat)}});
  }

  absl::Status Run(std::vector<Output> ys, std::vector<Output> xs) {
    gradients.clear();
    request.ys = std::move(ys);
    request.xs = std::move(xs);
    absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph);
    EXPECT_TRUE(shapes.ok()) << shapes.status();
    absl::StatusOr<std::vector<Gradient>> result = AddGradients(graph, *shapes, {}, request);
    if (result.ok()) gradients = *std::move(result);
    EXPECT_EQ(result.ok(), !gradients.empty() || request.xs.empty());
    return result.status();
  }

  // The node of gradient i as a formula: Mul(Fill, x).
  std::string Formula(size_t i, int depth = 4) const { return Formula(gradients[i].values, depth); }
  std::string Formula(Output o, int depth) const {
    const NodeId n = o.node;
    if (n == kNoNode) return "none";
    if (!graph.name(n).starts_with("gradients")) return graph.OutputName(o);
    const std::string op(graph.op_name(n));
    if (graph.num_inputs(n) == 0 || depth == 0) return op;
    std::vector<std::string> inputs;
    for (const Output& in : graph.data_inputs(n)) inputs.push_back(Formula(in, depth - 1));
    return absl::StrCat(op, "(", absl::StrJoin(inputs, ", "), ")");
  }
  int NodesOf(std::string_view op) const {
    int count = 0;
    for (NodeId n = 0; n < graph.num_node_ids(); ++n)
      count += graph.alive(n) && graph.op_name(n) == op ? 1 : 0;
    return count;
  }

  // In older graphs a scalar Placeholder may have any shape.
  Graph graph = testing::Parse("versions { producer: 2000 }");
  GradientRequest request;
  std::vector<Gradient> gradients;
};

TEST(AddGradients, OfAProductIsTheOtherFactor) {
  Differentiated d;
  const Output a = d.Input("a", kScalar), b = d.Input("b", kScalar), y = d.Op("y", "Mul", {a, b});
  ASSERT_TRUE(d.Run({y}, {a, b}).ok());
  EXPECT_EQ(d.Formula(0), "Mul(Const, b)");
  EXPECT_EQ(d.Formula(1), "Mul(a, Const)");
  EXPECT_THAT(d.graph.name(d.gradients[0].values.node),
              ::testing::StartsWith("gradients/y_grad/Mul"));
}

TEST(AddGradients, NoneWithoutAPath) {
  Differentiated d;
  const Output a = d.Input("a", {2}), b = d.Input("b", {2}), y = d.Op("y", "Neg", {a});
  ASSERT_TRUE(d.Run({y}, {a, b}).ok());
  EXPECT_FALSE(d.gradients[0].none());
  EXPECT_TRUE(d.gradients[1].none());
}

TEST(AddGradients, OfItselfIsOne) {
  Differentiated d;
  const Output a = d.Input("a", {2, 3});
  ASSERT_TRUE(d.Run({a}, {a}).ok());
  EXPECT_EQ(d.Formula(0), "Fill(Const, Const)");
}

// Four ways to x: one sum, made once.
TEST(AddGradients, SumsWhatMeets) {
  Differentiated d;
  const Output x = d.Input("x", kScalar);
  const Output square = d.Op("square", "Mul", {x, x}), both = d.Op("both", "AddV2", {square, x});
  const Output y = d.Op("y", "AddV2", {both, x});
  ASSERT_TRUE(d.Run({y}, {x}).ok());
  EXPECT_EQ(d.NodesOf("AddN"), 1);
  EXPECT_EQ(d.graph.num_inputs(d.gradients[0].values.node), 4);
}

// A node is visited when all its readers have been, however long their ways are.
TEST(AddGradients, WaitsForTheLongestWay) {
  Differentiated d;
  const Output x = d.Input("x", kScalar), shared = d.Op("shared", "Exp", {x});
  Output far = shared;
  for (int i = 0; i < 5; ++i) far = d.Op(absl::StrCat("far", i), "Neg", {far});
  const Output y = d.Op("y", "AddV2", {shared, far});
  ASSERT_TRUE(d.Run({y}, {x}).ok());
  EXPECT_THAT(d.Formula(0), HasSubstr("Mul(AddN(Const, Neg("));
}

TEST(AddGradients, IntegersCarryNone) {
  Differentiated d;
  const Output x = d.Input("x", {3}), n = d.Input("n", {3}, DataType::kInt32);
  const Output whole =
      d.Add("whole", "Cast", {x},
            {{"SrcT", attr::Type(DataType::kFloat)}, {"DstT", attr::Type(DataType::kInt32)}});
  const Output back =
      d.Add("back", "Cast", {whole},
            {{"SrcT", attr::Type(DataType::kInt32)}, {"DstT", attr::Type(DataType::kFloat)}});
  ASSERT_TRUE(d.Run({back, n}, {x, n}).ok());
  EXPECT_TRUE(d.gradients[0].none());
  EXPECT_TRUE(d.gradients[1].none());
}

TEST(AddGradients, StopGradientPassesNoneOn) {
  Differentiated d;
  const Output x = d.Input("x", kScalar), stopped = d.Op("stopped", "StopGradient", {x});
  const Output y = d.Op("y", "Mul", {stopped, x});
  ASSERT_TRUE(d.Run({y}, {x}).ok());
  EXPECT_EQ(d.Formula(0), "Mul(stopped, Const)");
}

TEST(AddGradients, StopsAtStopGradients) {
  Differentiated d;
  const Output x = d.Input("x", kScalar), middle = d.Op("middle", "Exp", {x});
  const Output y = d.Op("y", "Neg", {middle});
  d.request.stop_gradients = {middle};
  ASSERT_TRUE(d.Run({y}, {x, middle}).ok());
  EXPECT_TRUE(d.gradients[0].none());
  EXPECT_EQ(d.Formula(1), "Neg(Const)");
}

TEST(AddGradients, PreventGradientIsAnErrorWithItsMessage) {
  Differentiated d;
  const Output x = d.Input("x", kScalar);
  const Output y =
      d.Add("y", "PreventGradient", {x},
            {{"T", attr::Type(DataType::kFloat)}, {"message", attr::String("not here")}});
  const absl::Status status = d.Run({y}, {x});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("Gradient explicitly disabled. Reason: not here"));
  EXPECT_THAT(status.message(), HasSubstr("node 'y' (PreventGradient)"));
}

TEST(AddGradients, TheErrorForAnOpWithoutGradientNamesThePath) {
  Differentiated d;
  const Output x = d.Input("x", {3}), first = d.Op("first", "Neg", {x});
  const Output odd = d.Op("odd", "TruncateMod", {first, first}), y = d.Op("loss", "Exp", {odd});
  const int before = d.graph.num_nodes();
  const absl::Status status = d.Run({y}, {x});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("No gradient defined for op: TruncateMod."));
  EXPECT_THAT(status.message(), HasSubstr("Node 'odd' (TruncateMod)"));
  EXPECT_THAT(status.message(), HasSubstr("loss <- odd <- first <- x"));
  EXPECT_EQ(d.graph.num_nodes(), before);
}

// Only what lies between matters.
TEST(AddGradients, OpsAsideNeedNoGradient) {
  Differentiated d;
  const Output x = d.Input("x", {3}), w = d.Input("w", {3});
  const Output odd = d.Op("odd", "TruncateMod", {w, w}), y = d.Op("y", "Mul", {odd, x});
  ASSERT_TRUE(d.Run({y}, {x}).ok());
  EXPECT_EQ(d.Formula(0, 1), "Mul(odd, Fill)");
}

// TensorFlow says of these that they are not differentiable: other ways to x count alone.
TEST(AddGradients, SomeOpsPassNothingOn) {
  Differentiated d;
  const Output x = d.Input("x", {1, 2, 2, 3}), boxes = d.Input("boxes", {1, 1, 4});
  const Output turned = d.Op("turned", "HSVToRGB", {x});
  const Output drawn = d.Op("drawn", "DrawBoundingBoxes", {x, boxes});
  const Output sum = d.Op("sum", "AddV2", {turned, drawn}), y = d.Op("y", "Mul", {sum, x});
  ASSERT_TRUE(d.Run({y}, {x}).ok());
  EXPECT_EQ(d.Formula(0, 1), "Mul(sum, Fill)");
}

TEST(AddGradients, BothCtcLossesGiveTheirDerivative) {
  for (const char* op : {"CTCLoss", "CTCLossV2"}) {
    Differentiated d;
    const Output x = d.Input("x", {5, 2, 4}), where = d.Input("where", {3, 2}, DataType::kInt64);
    const Output labels = d.Input("labels", {3}, DataType::kInt32),
                 lengths = d.Input("lengths", {2}, DataType::kInt32);
    const Output y = d.Add("y", op, {x, where, labels, lengths}, {});
    ASSERT_TRUE(d.Run({y}, {x}).ok()) << op;
    EXPECT_THAT(d.Formula(0), ::testing::EndsWith(", PreventGradient(y:1))")) << op;
  }
}

TEST(AddGradients, OneRequestHasManyYs) {
  Differentiated d;
  const Output x = d.Input("x", kScalar), a = d.Op("a", "Neg", {x}), b = d.Op("b", "Exp", {x});
  const Output given = d.Input("given", kScalar);
  d.request.grad_ys = {Output(), given};
  ASSERT_TRUE(d.Run({a, b}, {x}).ok());
  EXPECT_EQ(d.Formula(0), "AddN(Neg(Const), Mul(given, b))");
}

TEST(AddGradients, RefusesWhatDoesNotFit) {
  Differentiated d;
  const Output x = d.Input("x", {3}), y = d.Op("y", "Neg", {x});
  const Output wrong_shape = d.Input("wrong_shape", {4});
  const Output wrong_type = d.Input("wrong_type", {3}, DataType::kDouble);
  for (const Output wrong : {wrong_shape, wrong_type}) {
    d.request.grad_ys = {wrong};
    const absl::Status status = d.Run({y}, {x});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(d.graph.name(wrong.node)));
  }
  d.request.grad_ys = {x, x};
  EXPECT_EQ(d.Run({y}, {x}).code(), absl::StatusCode::kInvalidArgument);
  d.request.grad_ys.clear();
  for (const Output wrong : {Output{y.node, 1}, Output{99, 0}, Output{}, Output{y.node, -1}}) {
    EXPECT_EQ(d.Run({wrong}, {x}).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(d.Run({y}, {wrong}).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(AddGradients, ComplexResultsNeedAGradient) {
  Differentiated d;
  const Output x = d.Input("x", kScalar, DataType::kComplex64);
  const Output y = d.Add("y", "Square", {x}, {{"T", attr::Type(DataType::kComplex64)}});
  EXPECT_THAT(d.Run({y}, {x}).message(), HasSubstr("complex64"));
  d.request.grad_ys = {x};
  EXPECT_TRUE(d.Run({y}, {x}).ok());
}

// Sums over what was repeated: none where shapes agree, constant axes where they are known, and
// computed ones where they depend on a run.
TEST(AddGradients, BroadcastingIsSummed) {
  Differentiated d;
  const Output a = d.Input("a", {2, 3}), b = d.Input("b", {3}), c = d.Input("c", PartialShape());
  const Output y = d.Op("y", "AddV2", {a, b}), z = d.Op("z", "AddV2", {a, c});
  ASSERT_TRUE(d.Run({y}, {a, b}).ok());
  EXPECT_EQ(d.Formula(0, 1), "Fill(Const, Const)");
  EXPECT_EQ(d.Formula(1, 2), "Reshape(Sum(Fill, Const), Const)");
  ASSERT_TRUE(d.Run({z}, {c}).ok());
  EXPECT_EQ(d.Formula(0, 2), "Reshape(Sum(Fill, BroadcastGradientArgs), Shape(c))");
}

// The second derivative of x^3 by way of the gradient of the gradient.
TEST(AddGradients, GradientsHaveGradients) {
  Differentiated d;
  const Output x = d.Input("x", kScalar), y = d.Op("y", "Tanh", {x});
  ASSERT_TRUE(d.Run({y}, {x}).ok());
  d.request.prefix = "second";
  ASSERT_TRUE(d.Run({d.gradients[0].values}, {x}).ok());
  EXPECT_FALSE(d.gradients[0].none());
}

// 200,000 nodes in a chain: neither the sweep nor the error recurses.
TEST(AddGradients, LongChains) {
  Differentiated d;
  const Output x = d.Input("x", kScalar);
  Output y = d.Op("odd", "TruncateMod", {x, x});
  for (int i = 0; i < 200'000; ++i) y = d.Op(absl::StrCat("n", i), "Neg", {y});
  const absl::Status status = d.Run({y}, {x});
  EXPECT_THAT(status.message(), HasSubstr("more) <- "));
  EXPECT_LT(status.message().size(), 1000u);
  ASSERT_TRUE(d.Run({y}, {{d.graph.FindNode("odd"), 0}}).ok());
  EXPECT_FALSE(d.gradients[0].none());
}

// The shapes are those of the grown graph afterwards, after an error too.
TEST(AddGradients, KeepsShapes) {
  Differentiated d;
  const Output x = d.Input("x", {2, 3}), y = d.Op("y", "Exp", {x});
  const Output odd = d.Op("odd", "TruncateMod", {y, y});
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(d.graph);
  GradientRequest request;
  request.ys = {odd};
  request.xs = {x};
  EXPECT_FALSE(AddGradients(d.graph, *shapes, {}, request).ok());
  request.ys = {y};
  const auto gradients = AddGradients(d.graph, *shapes, {}, request);
  ASSERT_TRUE(gradients.ok());
  EXPECT_EQ(shapes->shape(gradients->front().values).ToString(), "[2,3]");
}

// A graph may ask for the rule of another op, or for one that only a program had.
TEST(AddGradients, AsksForOtherRules) {
  Differentiated d;
  const Output x = d.Input("x", kScalar);
  const Graph::NewAttr t = {"T", attr::Type(DataType::kFloat)};
  const Output as_neg =
      d.Add("as_neg", "Identity", {x}, {t, {"_gradient_op_type", attr::String("Neg")}});
  const Output custom = d.Add("custom", "Identity", {x},
                              {t, {"_gradient_op_type", attr::String("CustomGradient-1")}});
  ASSERT_TRUE(d.Run({as_neg}, {x}).ok());
  EXPECT_EQ(d.Formula(0), "Neg(Const)");
  const absl::Status status = d.Run({custom}, {x});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      status.message(),
      HasSubstr("No gradient defined for op: CustomGradient-1. Node 'custom' (Identity) asks"));
  d.request.ignore_unknown_rules = true;
  ASSERT_TRUE(d.Run({custom}, {x}).ok());
  EXPECT_EQ(d.Formula(0), "Const");
}

TEST(HasGradient, KnowsRows) {
  EXPECT_TRUE(HasGradient("Mul"));
  EXPECT_TRUE(HasGradient("Shape"));
  EXPECT_FALSE(HasGradient("TruncateMod"));
  EXPECT_FALSE(HasGradient("NoSuchOp"));
}

}  // namespace
}  // namespace tenon
