// The passes of plug-ins on what branches, loops and functions that are not inlined hold.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::plugin_bodies_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Node(std::string_view name, std::string_view op, std::string_view inputs,
                 std::string_view attrs = "attr { key: 'T' value { type: DT_FLOAT } }") {
  return absl::StrCat("node_def { name: '", name, "' op: '", op, "' ", inputs, " ", attrs, " }\n");
}

// A function of one float that takes the hyperbolic tangent of `times` what it is given, in enough
// nodes for passes.
std::string TimesFunction(std::string_view name, std::string_view times,
                          std::string_view attrs = "") {
  return absl::StrCat(
      "function { signature { name: '", name,
      "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }\n", attrs,
      Node("times", "Const", "",
           absl::StrCat("attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value "
                        "{ tensor { dtype: DT_FLOAT tensor_shape { } float_val: ",
                        times, " } } }")),
      Node("product", "Mul", "input: 'a' input: 'times:output:0'"),
      Node("tanh", "Tanh", "input: 'product:z:0'"), Node("floor", "Neg", "input: 'tanh:y:0'"),
      "ret { key: 'r' value: 'floor:y:0' } }\n");
}

// y = f(w) where w is what a branch makes of what a loop of two passes makes of x.
std::string GraphOfCalls() {
  const std::string types =
      "attr { key: 'Tin' value { list { type: DT_FLOAT } } } "
      "attr { key: 'Tout' value { list { type: DT_FLOAT } } }";
  const auto function = [](std::string_view attr, std::string_view name) {
    return absl::StrCat("attr { key: '", attr, "' value { func { name: '", name, "' } } }");
  };
  return TempFile(
      "bodies.pbtxt",
      absl::StrCat(
          "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
          "attr { key: 'shape' value { shape { } } } }\n"
          "node { name: 'which' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } "
          "attr { key: 'shape' value { shape { } } } }\n"
          "node { name: 'loop' op: 'StatelessWhile' input: 'x' "
          "attr { key: 'T' value { list { type: DT_FLOAT } } } ",
          function("cond", "more"), function("body", "once"),
          " }\nnode { name: 'branch' op: 'StatelessIf' input: ['which', 'loop'] "
          "attr { key: 'Tcond' value { type: DT_BOOL } } ",
          types, function("then_branch", "left"), function("else_branch", "right"),
          " }\nnode { name: 'call' op: 'PartitionedCall' input: 'branch' ", types,
          function("f", "apart"),
          " }\nnode { name: 'y' op: 'Exp' input: 'call' "
          "attr { key: 'T' value { type: DT_FLOAT } } }\n"
          "library {\n",
          "function { signature { name: 'more' input_arg { name: 'a' type: DT_FLOAT } "
          "output_arg { name: 'r' type: DT_BOOL } }\n",
          Node("limit", "Const", "",
               "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor "
               "{ dtype: DT_FLOAT tensor_shape { } float_val: 0.5 } } }"),
          Node("less", "Less", "input: 'limit:output:0' input: 'a'"),
          "ret { key: 'r' value: 'less:z:0' } }\n", TimesFunction("once", "3"),
          TimesFunction("left", "5"), TimesFunction("right", "7"),
          TimesFunction("apart", "2", "attr { key: '_noinline' value { b: true } }\n"), "}\n"));
}

std::vector<std::string> Arguments(std::string_view command, const std::string& plugin) {
  return {std::string(command), GraphOfCalls(), "--input", "x=f32=1",  "--input",
          "which=bool=true",    "--output",     "y",       "--plugin", TestPlugin(plugin)};
}

std::vector<std::string> With(std::vector<std::string> args, std::vector<std::string> more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

// Functions in whose bodies the plug-in's pass did what `holds` says.
std::set<std::string> Bodies(const json& passes, const char* holds) {
  std::set<std::string> bodies;
  for (const json& pass : passes) {
    if (pass["name"] == "plugin:CPU" && pass.contains("function") && pass[holds])
      bodies.insert(pass["function"]);
  }
  return bodies;
}

// As TensorFlow's: arguments are _Arg, results _Retval, which are what is fetched.
TEST(PluginPassesInBodies, SeeEachBodyOnce) {
  const json plain =
      json::parse(GraphRun(With(Arguments("run", "good_cpu"), {"--json", "--opt-level", "0"})).out);
  const Finished run =
      GraphRun(With(Arguments("run", "own_tanh"), {"--json", "--time-passes", "--verify-each"}));
  ASSERT_EQ(run.exit, 0) << run.err;
  const json doc = json::parse(run.out);
  EXPECT_EQ(doc["fetches"], plain["fetches"]);
  EXPECT_EQ(Bodies(doc["passes"], "changed"),
            (std::set<std::string>{"once", "left", "right", "apart"}));
  EXPECT_EQ(Bodies(doc["passes"], "failed"), std::set<std::string>());
  EXPECT_THAT(run.err, HasSubstr("own_tanh is given: _Arg(a) _Retval("));
  EXPECT_THAT(run.err, Not(HasSubstr("_Arg(a) _Retval(r/result), to be fetched: r/result:0")));
  EXPECT_THAT(run.err, HasSubstr("_Arg(a) _Retval(r/result), to be fetched: r/result\n"));
}

TEST(PluginPassesInBodies, WriteWhatTheyMade) {
  const std::string out = TempPath("bodies_out.pbtxt");
  const Finished run = GraphRun({"opt", GraphOfCalls(), "-o", out, "--output", "y", "--target",
                                 "tenon", "--plugin", TestPlugin("own_tanh")});
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string graph = ReadFile(out);
  EXPECT_THAT(graph, AllOf(HasSubstr("\"OwnTanh\""), Not(HasSubstr("\"Tanh\""))));
  EXPECT_THAT(graph, AllOf(Not(HasSubstr("\"_Arg\"")), Not(HasSubstr("\"_Retval\""))));
  const Finished again = GraphRun({"run", out, "--input", "x=f32=1", "--input", "which=bool=true",
                                   "--output", "y", "--plugin", TestPlugin("own_tanh")});
  EXPECT_EQ(again.exit, 0) << again.err;
}

TEST(PluginPassesInBodies, AreSwitchedOffByName) {
  const Finished run = GraphRun(With(Arguments("run", "half_tanh"),
                                     {"--json", "--time-passes", "--disable-pass", "plugin:CPU"}));
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(Bodies(json::parse(run.out)["passes"], "changed"), std::set<std::string>());
  EXPECT_THAT(run.err, Not(HasSubstr("own_tanh is given")));
}

TEST(PluginPassesInBodies, AreRolledBackWhereNumbersDiffer) {
  const Finished run = GraphRun(
      With(Arguments("run", "half_tanh"), {"--json", "--time-passes", "--verify-each=numeric"}));
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("pass plugin:CPU in function 'apart': rolled back: "));
  const json doc = json::parse(run.out);
  EXPECT_FALSE(Bodies(doc["passes"], "failed").empty());
  EXPECT_TRUE(Bodies(doc["passes"], "failed").contains("apart"));
}

TEST(PluginPassesInBodies, AreFoundByBisection) {
  const Finished run = GraphRun(With(Arguments("bisect", "half_tanh"), {"--json"}));
  ASSERT_EQ(run.exit, 0) << run.err;
  const json culprit = json::parse(run.out)["culprits"][0];
  EXPECT_EQ(culprit["pass"], "plugin:CPU");
  EXPECT_THAT((std::set<std::string>{"once", "left", "apart"}),
              ::testing::Contains(culprit["function"].get<std::string>()));
}

TEST(PluginPassesInBodies, AreAPartOfWhereNodesComeFrom) {
  const Finished run =
      GraphRun({"opt", GraphOfCalls(), "--output", "y", "--target", "tenon", "--plugin",
                TestPlugin("own_tanh"), "--explain-node", "apart:tanh"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("plugin:CPU"));
}

// The cell of an LSTM is the body of a loop.
TEST(PluginPassesInBodies, ReachTheCellOfAnLstm) {
  const std::string folder = Golden("saved_models/recurrent/");
  const Finished run = GraphRun({"run", folder + "model", "--cases", folder + "cases.json",
                                 "--json", "--time-passes", "--plugin", TestPlugin("own_tanh")});
  EXPECT_EQ(run.exit, 0) << run.err;
  const std::string out = TempPath("recurrent_out.pbtxt");
  const Finished opt = GraphRun({"opt", folder + "model", "-o", out, "--target", "tenon", "--json",
                                 "--plugin", TestPlugin("own_tanh")});
  EXPECT_EQ(opt.exit, 0) << opt.err;
  std::string bodies;
  for (const std::string& body : Bodies(json::parse(opt.out)["passes"], "changed"))
    absl::StrAppend(&bodies, body, " ");
  EXPECT_THAT(bodies, HasSubstr("while_body"));
}

}  // namespace
}  // namespace tenon::testing::plugin_bodies_test
