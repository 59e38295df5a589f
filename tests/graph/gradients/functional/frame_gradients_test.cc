// Gradients through loops of version 1: what happens to the loop, and which errors there are.
// Numbers are checked by self-checking graphs (tests/golden/gradients/Frames.pbtxt.xz).
#include "graph/gradients/gradients.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

std::string Node(std::string_view name, std::string_view op, std::string_view inputs,
                 std::string_view type = "DT_FLOAT", std::string_view more = "") {
  return absl::StrCat("node { name: '", name, "' op: '", op, "' ", inputs,
                      " attr { key: 'T' value { type: ", type, " } } ", more, " }\n");
}

std::string Enter(std::string_view name, std::string_view input) {
  return Node(name, "Enter", absl::StrCat("input: '", input, "'"), "DT_FLOAT",
              "attr { key: 'frame_name' value { s: 'loop' } }");
}

std::string Merge(std::string_view inputs) {
  return Node("merge", "Merge", inputs, "DT_FLOAT", "attr { key: 'N' value { i: 2 } }");
}

constexpr std::string_view kEnds = R"(
  node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
         attr { key: "shape" value { shape { } } } }
  node { name: "limit" op: "Const" input: "^merge" attr { key: "dtype" value { type: DT_FLOAT } }
         attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 9 } } } }
  node { name: "more" op: "LoopCond" input: "less" }
  versions { producer: 2000 } )";

// While y < 9: y = `body`; the result is y.
std::string Loop(std::string_view body, std::string_view exit = "input: 'switch'") {
  return absl::StrCat(kEnds, Enter("enter", "x"), Merge("input: 'enter' input: 'next'"),
                      Node("less", "Less", "input: 'merge' input: 'limit'"),
                      Node("switch", "Switch", "input: 'merge' input: 'more'"), body,
                      Node("next", "NextIteration", "input: 'body'"), Node("y", "Exit", exit));
}

absl::StatusOr<std::vector<Gradient>> GradientOf(Graph& graph, std::string_view y = "y") {
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph);
  if (!shapes.ok()) return shapes.status();
  GradientRequest request;
  request.ys = {{graph.FindNode(y), 0}};
  request.xs = {{graph.FindNode("x"), 0}};
  return AddGradients(graph, *shapes, {}, request);
}

// The nodes of the loop stay; it gets a count, and a list of what each iteration saves.
TEST(FrameGradients, TheLoopSavesWhatTheGradientNeeds) {
  Graph graph = testing::Parse(Loop(Node("body", "Sin", "input: 'switch:1'")));
  const NodeId old = graph.num_node_ids();
  const auto gradients = GradientOf(graph);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_EQ(graph.op_name(gradients->front().values.node), "StatelessWhile");
  int enters = 0, pushes = 0;
  for (NodeId n = old; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    enters += graph.op_name(n) == "Enter" &&
              graph.attr(n, "frame_name")->AsString().value_or("") == "loop";
    pushes += graph.op_name(n) == "TensorListPushBack";
  }
  EXPECT_EQ(enters, 2);
  EXPECT_EQ(pushes, 1);
  EXPECT_EQ(graph.num_inputs(graph.FindNode("y")), 1);
}

TEST(FrameGradients, ReadTheVariableBeforeTheSwitchToo) {
  Graph graph = testing::Parse(Loop(Node("body", "Mul", "input: 'switch:1' input: 'merge'")));
  EXPECT_TRUE(GradientOf(graph).ok());
}

void ExpectRefused(const std::string& text, std::string_view message, std::string_view y = "y") {
  Graph graph = testing::Parse(text);
  const int nodes = graph.num_nodes();
  const absl::Status status = GradientOf(graph, y).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(status.message(), HasSubstr(message));
  EXPECT_EQ(graph.num_nodes(), nodes);
}

TEST(FrameGradients, RefuseLoopsOfOtherForms) {
  const std::string sine = Node("body", "Sin", "input: 'switch:1'");
  ExpectRefused(Loop(sine, "input: 'less2'") + Node("less2", "Exp", "input: 'switch'"),
                "the gradient of the loop of frame 'loop', on the way y <- less2 <- switch");
  ExpectRefused(Loop(Node("body", "Mul", "input: 'switch:1' input: 'enter'")),
                "'enter' (Enter) gives its first value to the body");
  ExpectRefused(Loop(Node("body", "Mul", "input: 'switch:1' input: 'outside'")) +
                    Node("outside", "Exp", "input: 'x'"),
                "'outside' (Exp) is read in the loop and is outside of it");
  ExpectRefused(Loop(sine), "it is to be differentiated, and is in a loop of version 1", "body");
}

// The first gradient reads a value behind the Switch; its own gradient sends it the same way again.
TEST(FrameGradients, OfGradientsOfBranchesInLoops) {
  const std::string branch =
      Node("big", "Less", "input: 'limit2' input: 'switch:1'") +
      Node("side", "Switch", "input: 'switch:1' input: 'big'") +
      Node("sine", "Sin", "input: 'side:1'") +
      Node("double", "AddV2", "input: 'side' input: 'side'") +
      Node("body", "Merge", "input: 'double' input: 'sine'", "DT_FLOAT",
           "attr { key: 'N' value { i: 2 } }") +
      "node { name: 'limit2' op: 'Const' input: '^switch' attr { key: 'dtype' value { type: "
      "DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } "
      "float_val: 2 } } } }\n";
  Graph graph = testing::Parse(Loop(branch));
  auto first = GradientOf(graph);
  ASSERT_TRUE(first.ok()) << first.status();
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph);
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  GradientRequest request;
  request.ys = {first->front().values};
  request.xs = {{graph.FindNode("x"), 0}};
  request.prefix = "second";
  const auto second = AddGradients(graph, *shapes, {}, request);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(second->front().none());
}

TEST(FrameGradients, NameWhatHasNoGradient) {
  Graph graph =
      testing::Parse(Loop(Node("body", "TruncateMod", "input: 'switch:1' input: 'switch:1'")));
  const absl::Status status = GradientOf(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("in function 'loop': No gradient defined for op: "
                                          "TruncateMod."));
}

}  // namespace
}  // namespace tenon
