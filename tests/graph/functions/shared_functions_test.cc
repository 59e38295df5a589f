// What bodies see of the functions of their graph.
#include "graph/functions/shared_functions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon::shared_functions_test {
namespace {

using ::testing::ElementsAre;
using testing::Parse;

std::string Call(std::string_view name, std::string_view function) {
  return absl::StrCat("node_def { name: '", name, "' op: '", function, "' input: 'a' } ");
}

// One that is named by an attribute.
std::string Named(std::string_view name, std::string_view function) {
  return absl::StrCat("node_def { name: '", name, "' op: 'PartitionedCall' input: 'a' ",
                      "attr { key: 'f' value { func { name: '", function, "' } } } ",
                      "attr { key: 'Tin' value { list { type: DT_FLOAT } } } ",
                      "attr { key: 'Tout' value { list { type: DT_FLOAT } } } } ");
}

constexpr char kCheck[] =
    "node_def { name: 'n' op: 'CheckNumerics' input: 'a' attr { key: 'T' value { type: DT_FLOAT } "
    "} attr { key: 'message' value { s: 'm' } } } ";

std::string Function(std::string_view name, std::string_view nodes) {
  return absl::StrCat("function { signature { name: '", name,
                      "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: "
                      "DT_FLOAT } } ",
                      nodes, " ret { key: 'r' value: 'a' } }\n");
}

Graph Library(std::string_view functions) {
  return Parse(absl::StrCat("library { ", functions, " } versions { producer: 2474 }"));
}

std::vector<std::string> NamesOf(const std::vector<FunctionEntry>& functions) {
  std::vector<std::string> names;
  for (const FunctionEntry& function : functions) names.emplace_back(function.name);
  return names;
}

// What a function is marked with.
std::string Marks(std::string_view implements, std::string_view device) {
  return absl::StrCat("attr { key: 'api_implements' value { s: '", implements,
                      "' } } attr { key: 'api_preferred_device' value { s: '", device, "' } } ");
}

TEST(SharedFunctions, TellsWhichFunctionDoesTheSameForAnotherDevice) {
  Graph graph = Library(absl::StrCat(
      Function("on_cpu", Marks("lstm", "CPU")), Function("on_gpu", Marks("lstm", "GPU")),
      Function("on_gpu_too", Marks("lstm", "GPU")), Function("other", Marks("gru", "GPU")),
      Function("backward",
               Marks("lstm", "APU") + "attr { key: 'forward_function_name' value { s: 'f' } } "),
      Function("plain", "")));
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(graph);
  EXPECT_TRUE(functions->HasImplementations(graph));
  EXPECT_EQ(functions->ImplementationFor(graph, "on_cpu", "GPU"), "on_gpu");
  EXPECT_EQ(functions->ImplementationFor(graph, "on_gpu_too", "CPU"), "on_cpu");
  for (const auto& [function, device] : {std::pair("on_cpu", "CPU"),
                                         {"on_cpu", "APU"},
                                         {"other", "CPU"},
                                         {"plain", "GPU"},
                                         {"none", "GPU"}})
    EXPECT_EQ(functions->ImplementationFor(graph, function, device), "") << function;
}

// Those of the owner come first, and those that were added are found.
TEST(SharedFunctions, BodiesChooseAmongTheImplementationsOfTheirOwner) {
  Graph owner = Library(absl::StrCat(Function("f", ""), Function("on_cpu", Marks("lstm", "CPU"))));
  FunctionGraph f = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  const Graph more = Library(absl::StrCat(Function("made", Marks("lstm", "GPU"))));
  EXPECT_EQ(SharedFunctions::Of(f.graph)->ImplementationFor(f.graph, "on_cpu", "GPU"), "");
  PutFunctions(f.graph, {std::string(more.functions()[0].wire)});
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(f.graph);
  EXPECT_EQ(functions->ImplementationFor(f.graph, "on_cpu", "GPU"), "made");
  EXPECT_EQ(functions->ImplementationFor(f.graph, "made", "CPU"), "on_cpu");
}

TEST(SharedFunctions, TellsWhatFunctionsReach) {
  Graph graph = Library(absl::StrCat(
      Function("leaf", ""), Function("calls_leaf", Call("c", "leaf")),
      Function("self", Named("c", "self")), Function("ping", Call("c", "pong") + Call("d", "leaf")),
      Function("pong", Named("c", "ping")),
      Function("calls_ping", Call("c", "ping") + Call("d", "checks")), Function("checks", kCheck),
      // A group of three, one of which stops a run after the others have been left.
      Function("one", Call("c", "two") + Call("d", "three")), Function("two", Call("c", "one")),
      Function("three", Call("c", "two") + kCheck)));
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(graph);
  for (const FunctionEntry& f : graph.functions()) {
    const std::string_view name = f.name;
    EXPECT_EQ(functions->ReachesItself(graph, name), name == "self" || name == "ping" ||
                                                         name == "pong" || name == "one" ||
                                                         name == "two" || name == "three")
        << name;
    EXPECT_EQ(functions->MayStop(graph, name), name == "checks" || name == "calls_ping" ||
                                                   name == "one" || name == "two" ||
                                                   name == "three")
        << name;
  }
  EXPECT_FALSE(functions->ReachesItself(graph, "none"));
  EXPECT_FALSE(functions->MayStop(graph, "none"));
}

TEST(SharedFunctions, BodiesSeeTheirOwnFunctionsAndThoseOfTheirOwners) {
  Graph owner = Library(absl::StrCat(Function("f", Call("c", "g")), Function("g", Call("c", "h")),
                                     Function("h", kCheck), Function("other", "")));
  FunctionGraph f = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  EXPECT_TRUE(HasFunctions(f.graph));
  EXPECT_THAT(NamesOf(f.graph.functions()), ElementsAre());
  EXPECT_NE(f.graph.FindFunction("h"), nullptr);
  EXPECT_EQ(f.graph.FindFunction("none"), nullptr);
  // One that a pass makes for the body; the body of a body.
  Graph made = Library(absl::StrCat(Function("made", Call("c", "g")), Function("g", "")));
  PutFunctions(f.graph, {std::string(made.functions()[0].wire)});
  EXPECT_THAT(NamesOf(f.graph.functions()), ElementsAre("made"));
  EXPECT_EQ(owner.FindFunction("made"), nullptr);
  const FunctionGraph inner = *FunctionGraph::Make(f.graph, *f.graph.FindFunction("made"));
  EXPECT_NE(inner.graph.FindFunction("made"), nullptr);
  EXPECT_NE(inner.graph.FindFunction("h"), nullptr);
  const std::shared_ptr<SharedFunctions> functions = SharedFunctions::Of(f.graph);
  EXPECT_TRUE(functions->MayStop(f.graph, "made"));
  EXPECT_FALSE(functions->ReachesItself(f.graph, "made"));
}

// What a body shares stays where it is; of its own functions what it calls stays.
TEST(SharedFunctions, PruningABodyKeepsWhatItCalls) {
  Graph owner = Library(absl::StrCat(Function("f", Call("c", "g")), Function("g", "")));
  FunctionGraph f = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  Graph made = Library(absl::StrCat(Function("made", Call("c", "deeper")),
                                    Function("deeper", Call("c", "h")), Function("unused", ""),
                                    Function("h", "")));
  for (const FunctionEntry& entry : made.functions())
    PutFunctions(f.graph, {std::string(entry.wire)});
  const NodeId c = f.graph.FindNode("c");
  f.graph.SetKind(c, "made", {});
  EXPECT_TRUE(RemoveUnreachableFunctions(f.graph, [] { return true; }));
  EXPECT_THAT(NamesOf(f.graph.functions()), ElementsAre("made", "deeper", "h"));
  EXPECT_FALSE(RemoveUnreachableFunctions(f.graph, [] { return true; }));
}

// Files of bodies, as --dump-dir writes them, hold what they call, and nothing else.
TEST(SharedFunctions, FilesOfBodiesAreWhole) {
  Graph owner = Library(absl::StrCat(Function("f", Call("c", "g")), Function("other", ""),
                                     Function("h", ""), Function("g", Call("c", "h"))));
  FunctionGraph f = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  EXPECT_THAT(NamesOf(FunctionsToWrite(f.graph)), ElementsAre("g", "h"));
  const auto back = ImportBytes(ExportBinary(f.graph), "body");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(NamesOf(back->graph.functions()), ElementsAre("g", "h"));
  EXPECT_THAT(NamesOf(FunctionsToWrite(owner)), ElementsAre("f", "other", "h", "g"));
}

// One of a name that is there takes its place; others come last.
TEST(SharedFunctions, PuttingFunctions) {
  Graph graph = Library(absl::StrCat(Function("f", ""), Function("g", "")));
  Graph other =
      Library(absl::StrCat(Function("h", ""), Function("f", Call("c", "g")), Function("g", "")));
  PutFunctions(graph,
               {std::string(other.functions()[0].wire), std::string(other.functions()[1].wire)});
  EXPECT_THAT(NamesOf(graph.functions()), ElementsAre("f", "g", "h"));
  EXPECT_EQ(ParseFunctionBody(graph, *graph.FindFunction("f")).nodes.size(), 1u);
}

}  // namespace
}  // namespace tenon::shared_functions_test
