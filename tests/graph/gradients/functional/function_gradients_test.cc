// Gradients through calls, branches and loops: what happens to the node, which functions there are,
// which errors. Numbers are checked by self-checking graphs (tests/golden/gradients).
#include "graph/gradients/gradients.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Function(std::string_view name, std::string_view nodes, std::string_view result) {
  return absl::StrCat(R"(function { signature { name: ")", name, R"("
      input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } } )",
                      nodes, R"( ret { key: "y" value: ")", result, R"(" } })");
}

std::string BodyNode(std::string_view name, std::string_view op, std::string_view inputs) {
  return absl::StrCat("node_def { name: '", name, "' op: '", op, "' ", inputs,
                      " attr { key: 'T' value { type: DT_FLOAT } } }");
}

std::string BodyCall(std::string_view name, std::string_view function) {
  return absl::StrCat("node_def { name: '", name,
                      "' op: 'PartitionedCall' input: 'x' "
                      "attr { key: 'Tin' value { list { type: DT_FLOAT } } } "
                      "attr { key: 'Tout' value { list { type: DT_FLOAT } } } "
                      "attr { key: 'f' value { func { name: '",
                      function, "' } } } }");
}

// y = sin(exp(x)): the gradient needs exp(x), which is no result.
std::string SinExp(std::string_view name) {
  return Function(name,
                  BodyNode("exp", "Exp", "input: 'x'") + BodyNode("sin", "Sin", "input: 'exp:y'"),
                  "sin:y:0");
}

constexpr std::string_view kInput = R"(
  node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
         attr { key: "shape" value { shape { dim { size: 3 } } } } } )";

std::string CallGraph(std::string_view library, std::string_view function) {
  return absl::StrCat(kInput, R"(
      node { name: "y" op: "PartitionedCall" input: "x"
        attr { key: "Tin" value { list { type: DT_FLOAT } } }
        attr { key: "Tout" value { list { type: DT_FLOAT } } }
        attr { key: "f" value { func { name: ")",
                      function, R"(" } } } }
      library { )",
                      library, " } versions { producer: 2000 }");
}

absl::StatusOr<std::vector<Gradient>> GradientOfXIn(Graph& graph) {
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph);
  if (!shapes.ok()) return shapes.status();
  GradientRequest request;
  request.ys = {{graph.FindNode("y"), 0}};
  request.xs = {{graph.FindNode("x"), 0}};
  return AddGradients(graph, *shapes, {}, request);
}

std::string FunctionOf(const Graph& graph, NodeId n, std::string_view attr = "f") {
  return std::string(graph.attr(n, attr)->AsFunc()->name);
}

// The call gives what the gradient needs behind its result, and keeps its id and its result.
TEST(FunctionGradients, ACallGivesWhatTheGradientNeeds) {
  Graph graph = testing::Parse(CallGraph(SinExp("f"), "f"));
  const NodeId y = graph.FindNode("y");
  const auto gradients = GradientOfXIn(graph);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_THAT(FunctionOf(graph, y), StartsWith("f_forward_"));
  EXPECT_EQ(graph.num_outputs(y), 2);
  const NodeId call = gradients->front().values.node;
  EXPECT_EQ(graph.op_name(call), "PartitionedCall");
  EXPECT_THAT(FunctionOf(graph, call), StartsWith("f_backward_"));
  EXPECT_EQ(graph.data_inputs(call).back(), (Output{y, 1}));
  EXPECT_EQ(graph.FindFunction(FunctionOf(graph, y))->signature->outputs.size(), 2u);
}

// The gradient of exp needs the result alone.
TEST(FunctionGradients, ACallWhoseResultsSufficeStays) {
  const std::string exp = Function("f", BodyNode("exp", "Exp", "input: 'x'"), "exp:y:0");
  Graph graph = testing::Parse(CallGraph(exp, "f"));
  ASSERT_TRUE(GradientOfXIn(graph).ok());
  EXPECT_EQ(FunctionOf(graph, graph.FindNode("y")), "f");
  EXPECT_EQ(graph.num_outputs(graph.FindNode("y")), 1);
}

// What the gradient of y = f(x) calls forward, f of this body.
std::string ForwardOf(const std::string& f, const std::string& more = "") {
  Graph graph = testing::Parse(CallGraph(f + more, "f"));
  EXPECT_TRUE(GradientOfXIn(graph).ok());
  return FunctionOf(graph, graph.FindNode("y"));
}

// Functions of several graphs may come together in one library.
TEST(FunctionGradients, NamesTellFunctionsApart) {
  const std::string sin_exp = SinExp("f");
  const std::string other =
      Function("f", BodyNode("exp", "Exp", "input: 'x'") + BodyNode("sin", "Cos", "input: 'exp:y'"),
               "sin:y:0");
  const std::string name = ForwardOf(sin_exp);
  EXPECT_EQ(ForwardOf(sin_exp), name);
  EXPECT_NE(ForwardOf(other), name);
  EXPECT_EQ(ForwardOf(sin_exp, SinExp(name)), name + "_1");
}

TEST(FunctionGradients, FunctionsThatCallThemselvesAreRefused) {
  const std::string ping = Function("ping", BodyCall("c", "pong"), "c:output:0");
  const std::string pong = Function("pong", BodyCall("c", "ping"), "c:output:0");
  Graph graph = testing::Parse(CallGraph(ping + pong, "ping"));
  const absl::Status status = GradientOfXIn(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("'ping', which calls itself"));
}

TEST(FunctionGradients, AnErrorInAFunctionNamesTheWayOutsideAndInside) {
  const std::string odd =
      Function("odd", BodyNode("odd", "TruncateMod", "input: 'x' input: 'x'"), "odd:z:0");
  Graph graph = testing::Parse(CallGraph(odd, "odd"));
  const absl::Status status = GradientOfXIn(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("its gradient, on the way y <- x: in function 'odd': "
                                          "No gradient defined for op: TruncateMod."));
  EXPECT_THAT(status.message(), HasSubstr("<- odd <- x"));
}

TEST(FunctionGradients, DeepCallsAreRefusedAndNotRecursedInto) {
  std::string library = SinExp("f0");
  for (int i = 1; i < 1000; ++i)
    library +=
        Function(absl::StrCat("f", i), BodyCall("c", absl::StrCat("f", i - 1)), "c:output:0");
  Graph graph = testing::Parse(CallGraph(library, "f999"));
  const absl::Status status = GradientOfXIn(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("nested more than 64 deep"));
}

// The first call has been rewritten when the second one fails.
TEST(FunctionGradients, AfterAnErrorTheGraphIsAsItWas) {
  const std::string odd =
      Function("odd", BodyNode("odd", "TruncateMod", "input: 'x' input: 'x'"), "odd:z:0");
  std::string text = CallGraph(SinExp("f") + odd, "f");
  Graph graph = testing::Parse(text);
  const absl::StatusOr<NodeId> first =
      graph.AddNode("first", "PartitionedCall", std::array{Output{graph.FindNode("x"), 0}},
                    {{"Tin", attr::TypeList({DataType::kFloat})},
                     {"Tout", attr::TypeList({DataType::kFloat})},
                     {"f", attr::Func("odd")}});
  ASSERT_TRUE(first.ok());
  graph.SetInput(graph.FindNode("y"), 0, {*first, 0});
  const int nodes = graph.num_nodes();
  const absl::Status status = GradientOfXIn(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("in function 'odd'"));
  EXPECT_EQ(graph.num_nodes(), nodes);
  EXPECT_EQ(graph.functions().size(), 2u);
  EXPECT_EQ(FunctionOf(graph, graph.FindNode("y")), "f");
  EXPECT_EQ(graph.num_outputs(graph.FindNode("y")), 1);
}

// A loop counts, and saves one tensor an iteration.
TEST(FunctionGradients, ALoopCountsAndSaves) {
  const std::string condition = R"(
    function { signature { name: "more" input_arg { name: "x" type: DT_FLOAT }
                           output_arg { name: "c" type: DT_BOOL } }
      node_def { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
        attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} } } } }
      ret { key: "c" value: "zero:output:0" } })";
  Graph graph = testing::Parse(
      absl::StrCat(kInput, R"(
    node { name: "y" op: "StatelessWhile" input: "x"
      attr { key: "T" value { list { type: DT_FLOAT } } }
      attr { key: "cond" value { func { name: "more" } } }
      attr { key: "body" value { func { name: "f" } } } }
    library { )",
                   condition, Function("f", BodyNode("sin", "Sin", "input: 'x'"), "sin:y:0"),
                   " } versions { producer: 2000 }"));
  const NodeId y = graph.FindNode("y");
  const auto gradients = GradientOfXIn(graph);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_THAT(FunctionOf(graph, y, "body"), StartsWith("f_forward_"));
  EXPECT_THAT(FunctionOf(graph, y, "cond"), StartsWith("more_forward_"));
  ASSERT_EQ(graph.num_outputs(y), 3);
  EXPECT_EQ(graph.num_inputs(y), 3);
  EXPECT_EQ(graph.output_type({y, 2}), DataType::kVariant);
  const NodeId loop = gradients->front().values.node;
  EXPECT_EQ(graph.op_name(loop), "StatelessWhile");
  EXPECT_THAT(FunctionOf(graph, loop, "body"), StartsWith("f_backward_"));
}

}  // namespace
}  // namespace tenon
