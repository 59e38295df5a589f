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
  EXPECT_THAT(lowerability.ConstantInputs(y), ElementsAre(1));
  EXPECT_THAT(lowerability.ConstantInputs(m), IsEmpty());
  EXPECT_THAT(FindConstantNeeds(graph, {s, m, y}, lowerability).outside,
              ElementsAre(Output{graph.FindNode("n"), 0}));
  EXPECT_THAT(FindConstantNeeds(graph, {y}, lowerability).outside, ElementsAre(Output{m, 0}));
  EXPECT_THAT(FindConstantNeeds(graph, {s, m}, lowerability).outside, IsEmpty());
}

// An argument of a function may decide a shape in it.
TEST(Lowerability, FindsWhatDecidesShapesInFunctions) {
  const auto function = [](std::string_view name, std::string_view second) {
    return Function(
        name, {"a", "s"}, {"r", "t"},
        testing::Op("m", "Cast", {"s"},
                    testing::Type("SrcT", "DT_FLOAT") + testing::Type("DstT", "DT_INT32")) +
            testing::Op("tile", "Tile", {"a", "m:y:0"},
                        testing::Type("T", "DT_FLOAT") + testing::Type("Tmultiples", "DT_INT32")) +
            Node("neg", "Neg", {"s"}),
        Ret("r", "tile:output:0") + Ret("t", second));
  };
  const std::string types = testing::Types("Tin", {"DT_FLOAT", "DT_FLOAT"}) +
                            testing::Types("Tout", {"DT_FLOAT", "DT_FLOAT"});
  const auto loop = [](std::string_view name, std::string_view body) {
    return testing::Op(
        name, "StatelessWhile", {"x", "n"},
        testing::Types("T", {"DT_FLOAT", "DT_FLOAT"}) + Func("cond", "some") + Func("body", body));
  };
  const Graph graph = Parse(
      Placeholder("x", "dim { size: -1 }") + Placeholder("s", "dim { size: 1 }") +
      Placeholder("c", "", "DT_BOOL") + Node("n", "Neg", {"s"}) +
      testing::Call("call", "tiles", {"x", "n"}, 2) +
      testing::Call("outer", "calls", {"x", "n"}, 2) +
      testing::Op("choice", "StatelessIf", {"c", "x", "n"},
                  types + testing::Type("Tcond", "DT_BOOL") + Func("then_branch", "tiles") +
                      Func("else_branch", "changes")) +
      loop("same", "tiles") + loop("other", "changes") +
      Library(
          {function("tiles", "s"), function("changes", "neg:y:0"),
           Function("calls", {"a", "s"}, {"r", "t"}, testing::Call("inner", "tiles", {"s", "a"}, 2),
                    Ret("r", "inner:output:0") + Ret("t", "inner:output:1")),
           Function("some", {"a", "s"}, {"r"}, Node("neg", "Neg", {"s"}), Ret("r", "neg:y:0"))}));
  Lowerability lowerability(graph);
  const auto needs = [&](std::string_view node) {
    const NodeId n = graph.FindNode(node);
    EXPECT_TRUE(lowerability.Ask(n).ok()) << node << ": " << lowerability.Ask(n).detail;
    return lowerability.ConstantInputs(n);
  };
  EXPECT_THAT(needs("call"), ElementsAre(1));
  EXPECT_THAT(needs("outer"), ElementsAre(0));
  EXPECT_THAT(needs("choice"), ElementsAre(2));
  EXPECT_THAT(needs("same"), ElementsAre(1));
  EXPECT_THAT(needs("other"), IsEmpty());
  const NodeId n = graph.FindNode("n"), call = graph.FindNode("call");
  EXPECT_THAT(FindConstantNeeds(graph, {call}, lowerability).outside, ElementsAre(Output{n, 0}));
  EXPECT_THAT(FindConstantNeeds(graph, {n, call}, lowerability).outside,
              ElementsAre(Output{graph.FindNode("s"), 0}));
}

TEST(Lowerability, RowsNameOpsOfTheRegistry) {
  const std::vector<const Row*> rows = AllRows();
  EXPECT_GE(rows.size(), 250);
  for (const Row* row : rows) EXPECT_NE(OpRegistry::Global().Find(row->op), nullptr) << row->op;
}

}  // namespace
}  // namespace tenon::stablehlo
