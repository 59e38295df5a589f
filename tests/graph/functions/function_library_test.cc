// Which functions of a library are needed.
#include "graph/functions/function_library.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Parse;

// A function that hands its argument to nodes of the given text.
std::string Function(std::string_view name, std::string_view nodes = "") {
  return absl::StrCat("function { signature { name: '", name,
                      "' input_arg { name: 'a' type: DT_FLOAT } "
                      "output_arg { name: 'r' type: DT_FLOAT } } ",
                      nodes, " ret { key: 'r' value: 'a' } }\n");
}

std::vector<std::string> Left(Graph& graph) {
  EXPECT_TRUE(RemoveUnreachableFunctions(graph, [] { return true; }));
  std::vector<std::string> names;
  for (const FunctionEntry& f : graph.functions()) names.emplace_back(f.name);
  EXPECT_THAT(Verify(graph), ElementsAre());
  return names;
}

constexpr char kCallF[] = "node { name: 'x' op: 'f' input: 'p' } ";
constexpr char kPlaceholder[] =
    "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } ";

TEST(FunctionLibrary, GradientsOfWhatIsReachedStay) {
  Graph graph = Parse(absl::StrCat(kPlaceholder, kCallF, "library {", Function("f"),
                                   Function("f_grad"), Function("g"), Function("g_grad"),
                                   "gradient { function_name: 'f' gradient_func: 'f_grad' }",
                                   "gradient { function_name: 'g' gradient_func: 'g_grad' } }"));
  EXPECT_THAT(Left(graph), ElementsAre("f", "f_grad"));
  EXPECT_THAT(*ExportText(graph), AllOf(HasSubstr("gradient_func: \"f_grad\""),
                                        Not(HasSubstr("gradient_func: \"g_grad\""))));
}

TEST(FunctionLibrary, GradientsThatNodesNameStay) {
  Graph graph = Parse(absl::StrCat(
      kPlaceholder, kCallF, "library {",
      Function("f",
               "node_def { name: 'n' op: 'Neg' input: 'a' "
               "attr { key: 'T' value { type: DT_FLOAT } } "
               "attr { key: '_gradient_op_type' value { s: 'Custom-1' } } }"),
      Function("one"), Function("two"),
      "registered_gradients { gradient_func: 'one' registered_op_type: 'Custom-1' }",
      "registered_gradients { gradient_func: 'two' registered_op_type: 'Custom-2' } }"));
  EXPECT_THAT(Left(graph), ElementsAre("f", "one"));
  EXPECT_THAT(*ExportText(graph), AllOf(HasSubstr("Custom-1"), Not(HasSubstr("Custom-2"))));
}

TEST(FunctionLibrary, FunctionsThatNameEachOtherGoTogether) {
  Graph graph =
      Parse(absl::StrCat(kPlaceholder, kCallF, "library {", Function("f"),
                         Function("g", "node_def { name: 'n' op: 'h' input: 'a' }"),
                         Function("h", "node_def { name: 'n' op: 'g' input: 'a' }"), "}"));
  EXPECT_FALSE(RemoveUnreachableFunctions(graph, [] { return false; }));
  EXPECT_EQ(graph.functions().size(), 3u);
  EXPECT_THAT(Left(graph), ElementsAre("f"));
  EXPECT_EQ(graph.FindFunction("g"), nullptr);
  EXPECT_FALSE(RemoveUnreachableFunctions(graph, [] { return true; }));
}

TEST(FunctionLibrary, NamesWithinAttributes) {
  Graph graph = Parse(absl::StrCat(
      kPlaceholder,
      "node { name: 'x' op: 'Neg' input: 'p' attr { key: 'T' value { type: DT_FLOAT } }"
      "attr { key: '_list' value { list { func { name: 'f' attr { key: 'k' value { func { name: "
      "'g' } } } } func { name: 'h' } } } } } library {",
      Function("f"), Function("g"), Function("h"), Function("i"), "}"));
  EXPECT_THAT(FunctionsNamedBy(*graph.attr(graph.FindNode("x"), "_list")),
              ::testing::UnorderedElementsAre("f", "g", "h"));
  EXPECT_THAT(Left(graph), ElementsAre("f", "g", "h"));
}

}  // namespace
}  // namespace tenon
