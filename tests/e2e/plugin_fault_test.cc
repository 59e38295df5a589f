// Plug-ins that fail, crash, hang or leave: the user is told which, where and why, and the exit
// code says so.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kMlp[] = "tests/golden/models/mlp/graph.pbtxt";

std::string RogueGraph() {
  return TempFile("rogue.pbtxt", "node { name: \"the_node\" op: \"RogueOp\" }\n");
}

struct Fault {
  std::string kind;
  int exit;
  std::string callback, says;
};

class Faults : public ::testing::TestWithParam<Fault> {};

TEST_P(Faults, AreBlamedOnThePlugin) {
  const Fault& fault = GetParam();
  const std::string plugin = TestPlugin("rogue");
  std::vector<std::string> args = {"run", RogueGraph(), "--json", "--plugin",
                                   plugin + ";ROGUE=" + fault.kind};
  if (fault.exit == 6) args.insert(args.end(), {"--timeout", "2"});
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, fault.exit) << run.err;
  EXPECT_THAT(run.err, HasSubstr("librogue.so"));
  EXPECT_THAT(run.err, HasSubstr(fault.callback));
  EXPECT_THAT(run.err, HasSubstr(fault.says));
  if (fault.kind.starts_with("compute")) {
    EXPECT_THAT(run.err, HasSubstr("the_node"));
  }
  const json doc = json::parse(run.out, nullptr, false);
  ASSERT_FALSE(doc.is_discarded()) << run.out;
  EXPECT_EQ(doc["command"], "run");
  EXPECT_NE(doc["status"]["code"], "OK");
}

INSTANTIATE_TEST_SUITE_P(All, Faults,
                         ::testing::Values(Fault{"load_segv", 5, "dlopen", "SIGSEGV"},
                                           Fault{"load_abort", 5, "dlopen", "SIGABRT"},
                                           Fault{"init_segv", 5, "TF_InitKernel", "SIGSEGV"},
                                           Fault{"init_exit", 5, "TF_InitKernel", "exit()"},
                                           Fault{"init_hang", 6, "TF_InitKernel", "2 s"},
                                           Fault{"compute_segv", 5, "compute", "SIGSEGV"},
                                           Fault{"compute_abort", 5, "compute", "SIGABRT"},
                                           Fault{"compute_hang", 6, "compute", "2 s"},
                                           Fault{"compute_overflow", 5, "compute", "SIGSEGV"},
                                           Fault{"init_thread", 5, "thread", "SIGSEGV"},
                                           Fault{"compute_fail", 1, "RogueOp",
                                                 "the board is on fire"}),
                         [](const auto& info) { return info.param.kind; });

TEST(Plugins, ThatBehaveRun) {
  const Finished run = GraphRun(
      {"run", RogueGraph(), "--plugin", TestPlugin("rogue"), "--expect", "the_node=f32=42"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(Plugins, ThatPrintDoNotSpoilTheDocument) {
  const Finished run = GraphRun({"run", RogueGraph(), "--plugin", TestPlugin("rogue"), "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(json::parse(run.out, nullptr, false)["status"]["code"], "OK") << run.out;
  EXPECT_THAT(run.err, HasSubstr("a plug-in that talks"));
}

TEST(Plugins, NamedOnesMustLoad) {
  const Finished missing =
      GraphRun({"run", kMlp, "--input", "x=1x20xf32=1", "--plugin", "/nonexistent.so"});
  EXPECT_EQ(missing.exit, 5);
  EXPECT_THAT(missing.err, HasSubstr("/nonexistent.so"));
  const Finished refused = GraphRun({"devices", "--json", "--plugin", TestPlugin("init_error")});
  EXPECT_EQ(refused.exit, 5);
  EXPECT_THAT(refused.err, HasSubstr("from SE_InitPlugin"));
  const json doc = json::parse(refused.out);
  EXPECT_EQ(doc["plugins"][0]["status"]["code"], "RESOURCE_EXHAUSTED");
}

TEST(Plugins, FoundOnesAreSkippedWithAWarning) {
  const std::string folder = TempPath("plugins");
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(TestPlugin("init_error"), folder + "/liba.so",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(Built("lib/plugins/libapu.so"), folder + "/libb.so",
                             std::filesystem::copy_options::overwrite_existing);
  const Finished run = GraphRun({{"devices", "--json"}, "", {{"TENON_PLUGIN_PATH", folder}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("warning: "));
  EXPECT_THAT(run.err, HasSubstr("liba.so"));
  EXPECT_EQ(json::parse(run.out)["devices"].size(), 2);
}

TEST(Check, ACrashTakesOnlyItsCase) {
  const std::string cases =
      TempFile("RogueOp.pbtxt",
               "node { name: \"c000/op\" op: \"RogueOp\" }\n"
               "node { name: \"c000/want0\" op: \"Const\" attr { key: \"dtype\" value { type: "
               "DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape "
               "{} float_val: 42 } } } }\n"
               "node { name: \"c001/op\" op: \"NoOp\" }\n"
               "node { name: \"c001/error\" op: \"NoOp\" attr { key: \"code\" value { s: "
               "\"NOT_FOUND\" } } }\n");
  const std::string plugin = TestPlugin("rogue");
  const Finished crash =
      GraphRun({"check", cases, "--json", "--plugin", plugin + ";ROGUE=compute_segv"});
  EXPECT_EQ(crash.exit, 3) << crash.err;
  const json doc = json::parse(crash.out);
  EXPECT_EQ(doc["cases"][0]["status"], "crashed");
  EXPECT_EQ(doc["cases"][1]["status"], "failed");
  EXPECT_EQ(doc["summary"]["crashed"], 1);
  const Finished hang = GraphRun(
      {"check", cases, "--json", "--timeout", "1", "--plugin", plugin + ";ROGUE=compute_hang"});
  EXPECT_EQ(hang.exit, 3);
  EXPECT_EQ(json::parse(hang.out)["cases"][0]["status"], "crashed");
  EXPECT_EQ(GraphRun({"check", cases, "--plugin", "/nonexistent.so"}).exit, 5);
}

TEST(Check, GoldenOps) {
  const Finished run =
      GraphRun({"check", "tests/golden/ops", "--ops", "Relu,AddV2,Reshape", "--json"});
  EXPECT_EQ(run.exit, 0) << run.err;
  const json doc = json::parse(run.out);
  EXPECT_EQ(doc["summary"]["ops"], 3);
  EXPECT_EQ(doc["summary"]["failed"], 0);
  EXPECT_GT(doc["summary"]["passed"], 40);
  for (const char* key : {"file", "case", "op", "status", "detail"})
    EXPECT_TRUE(doc["cases"][0].contains(key)) << key;
}

TEST(Check, WrongAnswersFail) {
  const std::string cases =
      TempFile("Neg.pbtxt",
               "node { name: \"c000/in0\" op: \"Const\" attr { key: \"dtype\" value { type: "
               "DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape "
               "{} float_val: 1 } } } }\n"
               "node { name: \"c000/op\" op: \"Neg\" input: \"c000/in0\" attr { key: \"T\" value { "
               "type: DT_FLOAT } } }\n"
               "node { name: \"c000/want0\" op: \"Const\" attr { key: \"dtype\" value { type: "
               "DT_FLOAT } } attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape "
               "{} float_val: 1 } } } }\n");
  const Finished run = GraphRun({"check", cases});
  EXPECT_EQ(run.exit, 3);
  EXPECT_THAT(run.err,
              HasSubstr("Neg.pbtxt: c000: failed: c000/op:0 element [] is -1 where 1 is right"));
  EXPECT_EQ(GraphRun({"check", "/nonexistent"}).exit, 4);
}

}  // namespace
}  // namespace tenon::testing
