// Which nodes may be part of a program, and why not.
#include "executor/stablehlo/lowerability.h"

#include <gmock/gmock.h>

#include "executor/stablehlo/rows.h"
#include "graph/op_defs/op_registry.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::stablehlo {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using testing::Func;
using testing::Function;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Library;
using testing::Node;
using testing::Parse;
using testing::Placeholder;
using testing::Ret;

Verdict Ask(const Graph& graph, std::string_view node) {
  return Lowerability(graph).Ask(graph.FindNode(node));
}

TEST(Lowerability, SaysWhyNot) {
  const Graph graph =
      Parse(Placeholder("x", "dim { size: 2 } dim { size: 2 }") +
            Placeholder("s", "dim { size: 2 }", "DT_STRING") + Node("relu", "Relu", {"x"}) +
            testing::Op("id", "Identity", {"s"}, testing::Type("T", "DT_STRING")) +
            testing::Op("u", "Unique", {"line"}, testing::Type("T", "DT_FLOAT")) +
            Placeholder("line", "dim { size: 2 }") +
            testing::Op("svd", "Svd", {"x"}, testing::Type("T", "DT_FLOAT")) +
            testing::VarHandle("v", "v"));
  EXPECT_EQ(Ask(graph, "relu").refusal, Refusal::kNone);
  EXPECT_EQ(Ask(graph, "id").refusal, Refusal::kType);
  EXPECT_THAT(Ask(graph, "id").detail, HasSubstr("DT_STRING"));
  EXPECT_EQ(Ask(graph, "u").refusal, Refusal::kDynamic);
  EXPECT_EQ(Ask(graph, "svd").refusal, Refusal::kOp);
  EXPECT_EQ(Ask(graph, "v").refusal, Refusal::kState);
  EXPECT_EQ(RefusalCode(Refusal::kDynamic), "DYNAMIC");
}

TEST(Lowerability, LooksIntoFunctions) {
  const Graph graph =
      Parse(Placeholder("x", "dim { size: 2 }") + testing::Call("good", "dense", {"x"}) +
            testing::Call("bad", "strange", {"x"}) +
            Library({testing::DenseFunction("1, 2, 3, 4", "1, 2"),
                     Function("strange", {"a"}, {"r"},
                              testing::Op("u", "Unique", {"a"}, testing::Type("T", "DT_FLOAT")),
                              Ret("r", "u:y:0"))}));
  EXPECT_TRUE(Ask(graph, "good").ok()) << Ask(graph, "good").detail;
  EXPECT_EQ(Ask(graph, "bad").refusal, Refusal::kFunction);
  EXPECT_THAT(Ask(graph, "bad").detail, HasSubstr("node 'u' of function 'strange': DYNAMIC"));
}

TEST(Lowerability, FindsWhatDecidesShapes) {
  const Graph graph =
      Parse(Placeholder("x", "dim { size: -1 }") + Placeholder("n", "dim { size: 1 }", "DT_INT32") +
            testing::Op("s", "Shape", {"x"}, testing::Type("T", "DT_FLOAT")) +
            testing::Op("m", "Mul", {"s", "n"}, testing::Type("T", "DT_INT32")) +
            testing::Op("y", "Tile", {"x", "m"},
                        testing::Type("T", "DT_FLOAT") + testing::Type("Tmultiples", "DT_INT32")));
  Lowerability lowerability(graph);
  const NodeId s = graph.FindNode("s"), m = graph.FindNode("m"), y = graph.FindNode("y");
  EXPECT_EQ(lowerability.ConstantInputs(y), 2);
  EXPECT_EQ(lowerability.ConstantInputs(m), 0);
  EXPECT_THAT(FindConstantNeeds(graph, {s, m, y}, lowerability).outside,
              ElementsAre(Output{graph.FindNode("n"), 0}));
  EXPECT_THAT(FindConstantNeeds(graph, {y}, lowerability).outside, ElementsAre(Output{m, 0}));
  EXPECT_THAT(FindConstantNeeds(graph, {s, m}, lowerability).outside, IsEmpty());
}

TEST(Lowerability, RowsNameOpsOfTheRegistry) {
  const std::vector<const Row*> rows = AllRows();
  EXPECT_GE(rows.size(), 250);
  for (const Row* row : rows) EXPECT_NE(OpRegistry::Global().Find(row->op), nullptr) << row->op;
}

}  // namespace
}  // namespace tenon::stablehlo
