// graph_run plugin check: what a plug-in needs and brings, and what is wrong with it, while this
// process and the one that asks stay alive.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::plugin_check_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct CheckedPlugin {
  int exit;
  std::string err;
  json doc;
};

CheckedPlugin CheckPlugin(const std::string& path,
                          std::map<std::string, std::string> environment = {},
                          std::vector<std::string> more = {}) {
  std::vector<std::string> args = {"plugin", "check", path, "--json"};
  args.insert(args.end(), more.begin(), more.end());
  const Finished run = GraphRun({args, "", std::move(environment)});
  return {run.exit, run.err, json::parse(run.out, nullptr, false)};
}

const json* Find(const json& array, const char* key, const std::string& value) {
  for (const json& one : array) {
    if (one[key] == value) return &one;
  }
  return nullptr;
}

std::string Problems(const json& doc) {
  std::string text;
  for (const json& problem : doc["problems"]) {
    EXPECT_NE(problem["advice"], "");
    text += std::string(problem["what"]) + "\n";
  }
  return text;
}

TEST(PluginCheck, AGoodOneLoads) {
  const CheckedPlugin apu = CheckPlugin(Built("lib/plugins/libapu.so"));
  EXPECT_EQ(apu.exit, 0) << apu.err;
  const json& doc = apu.doc;
  EXPECT_EQ(doc["command"], "plugin check");
  EXPECT_EQ(doc["verdict"], "loads");
  EXPECT_EQ(doc["entry_points"], json({"SE_InitPlugin", "TF_InitKernel", "TF_InitGraph"}));
  const json* symbol = Find(doc["symbols"], "name", "TF_NewStatus");
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ((*symbol)["status"], "have");
  const json* table = Find(doc["init"]["structs"], "name", "SP_StreamExecutor");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ((*table)["size"], 288);
  EXPECT_EQ((*table)["host_size"], 288);
  const json* kernel = Find(doc["init"]["kernels"], "op", "ApuBiasRelu");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ((*kernel)["types"], json({"T: f32"}));
  EXPECT_EQ(doc["init"]["ops"], json({"ApuBiasRelu"}));
  EXPECT_EQ(doc["init"]["devices"], 1);
  EXPECT_EQ(Problems(doc), "");
}

TEST(PluginCheck, TheTableSaysTheSame) {
  const Finished run = GraphRun({"plugin", "check", Built("lib/plugins/libapu.so")});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("SE_InitPlugin, TF_InitKernel, TF_InitGraph"),
                    HasSubstr("SP_StreamExecutor"), HasSubstr("ApuBiasRelu"), HasSubstr("T: f32"),
                    HasSubstr("0 missing"), HasSubstr("verdict loads")));
}

TEST(PluginCheck, MissingSymbolsAreNamedWithTheirOwners) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("undefined_symbol"));
  EXPECT_EQ(c.exit, 5);
  EXPECT_EQ(c.doc["verdict"], "does not load");
  const json* symbol = Find(c.doc["symbols"], "name", "TF_NoSuchFunctionAnywhere");
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ((*symbol)["status"], "missing");
  EXPECT_EQ((*symbol)["library"], "TensorFlow's C library");
  EXPECT_EQ(c.doc["init"]["status"]["code"], "NOT_FOUND");
  EXPECT_THAT(std::string(c.doc["init"]["status"]["message"]),
              HasSubstr("undefined symbol: TF_NoSuchFunctionAnywhere"));
  EXPECT_THAT(Problems(c.doc), HasSubstr("1 symbol missing, of TensorFlow's C library"));
  EXPECT_THAT(c.err, HasSubstr("TF_NoSuchFunctionAnywhere"));
}

TEST(PluginCheck, LibrariesOfTensorFlowsNamesHaveMoreThanItsFunctions) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("extra_names_pywrap"));
  EXPECT_EQ(c.exit, 0) << c.err;
  EXPECT_EQ(Problems(c.doc), "");
  const json* symbol = Find(c.doc["symbols"], "name", "PyRun_SimpleStringFlags");
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ((*symbol)["status"], "have");
}

TEST(PluginCheck, WhatAPluginHasItsLibrariesMayUse) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("with_registrar"));
  EXPECT_EQ(c.exit, 0) << c.err;
  EXPECT_EQ(Problems(c.doc), "it exports no entry point\n");
  EXPECT_EQ(c.doc["init"]["ops"], json({"ConstructorOp_registrar"}));
}

// The answer of the child process is not what a plug-in writes in its place.
TEST(PluginCheck, WhatOneWritesIntoThePipeOfTheAnswerIsNone) {
  for (const auto& [way, death] :
       {std::pair("init_pipe_json", "it crashes: something other than its answer came"),
        std::pair("init_pipe_answer", "it crashes: killed by SIGKILL")}) {
    const Finished run =
        GraphRun(Start{{"plugin", "check", TestPlugin("rogue")}, "", {{"ROGUE", way}}});
    EXPECT_EQ(run.exit, 5) << run.err;
    EXPECT_THAT(run.out, HasSubstr(death));
  }
}

TEST(PluginCheck, OneThatClosesTheOutputDoesNotLoad) {
  for (const char* way : {"load_close", "load_close_all"}) {
    const CheckedPlugin c = CheckPlugin(TestPlugin("rogue"), {{"ROGUE", way}});
    EXPECT_EQ(c.exit, 5) << c.err;
    EXPECT_EQ(c.doc["verdict"], "does not load");
    EXPECT_THAT(Problems(c.doc), HasSubstr("closed standard output of the command"));
  }
}

TEST(PluginCheck, OneThatLoadsAnotherIsToldAlone) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("nested_load"),
                                      {{"TENON_TEST_NESTED_PLUGIN", TestPlugin("good_device")}});
  EXPECT_EQ(c.exit, 0) << c.err;
  EXPECT_EQ(c.doc["verdict"], "loads");
  EXPECT_EQ(c.doc["init"]["ops"], json({"Op_nested_load"}));
  EXPECT_EQ(c.doc["init"]["device_type"], "");
}

TEST(PluginCheck, DevicesThatFailAreAProblem) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("create_device_fails"));
  EXPECT_EQ(c.exit, 5);
  EXPECT_EQ(c.doc["verdict"], "does not load");
  EXPECT_THAT(Problems(c.doc), HasSubstr("create_device of plug-in "));
}

TEST(PluginCheck, AdviceFitsTheProblem) {
  const auto advice = [](const std::string& plugin, const std::string& unruly) {
    const CheckedPlugin c = CheckPlugin(TestPlugin(plugin), {{"UNRULY", unruly}});
    EXPECT_EQ(c.exit, 5) << plugin;
    return c.doc["problems"][0]["advice"].get<std::string>();
  };
  EXPECT_THAT(advice("unruly", "optimizer_none"), HasSubstr("set struct_size of each struct"));
  EXPECT_THAT(advice("missing_allocate", ""), HasSubstr("set that member"));
}

TEST(PluginCheck, MissingCxxIsToldApart) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("undefined_cxx"));
  EXPECT_EQ(c.exit, 5);
  const json* symbol = Find(c.doc["symbols"], "status", "c++");
  ASSERT_NE(symbol, nullptr);
  EXPECT_EQ((*symbol)["demangled"], "absl::NoSuchFunctionAnywhere(int)");
  EXPECT_EQ((*symbol)["library"], "Abseil");
}

TEST(PluginCheck, MissingLibrariesAreNamed) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("needs_absent"));
  EXPECT_EQ(c.exit, 5);
  const json* library = Find(c.doc["needed"], "name", "libabsent.so");
  ASSERT_NE(library, nullptr);
  EXPECT_EQ((*library)["status"], "missing");
  EXPECT_THAT(Problems(c.doc), HasSubstr("library libabsent.so, which libneeds_absent.so needs"));
}

TEST(PluginCheck, ARefusalIsQuoted) {
  const CheckedPlugin error = CheckPlugin(TestPlugin("init_error"));
  EXPECT_EQ(error.exit, 5);
  EXPECT_THAT(Problems(error.doc), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(Problems(error.doc), HasSubstr("from SE_InitPlugin"));
  const CheckedPlugin table = CheckPlugin(TestPlugin("missing_allocate"));
  EXPECT_THAT(Problems(table.doc), HasSubstr("'allocate' field in SP_StreamExecutor must be set"));
}

TEST(PluginCheck, SmallerStructsAreANote) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("old_headers"));
  EXPECT_EQ(c.exit, 0) << c.err;
  EXPECT_EQ(c.doc["verdict"], "loads");
  EXPECT_THAT(Problems(c.doc), HasSubstr("SP_Platform.struct_size is 33, this host's 35"));
}

TEST(PluginCheck, NoEntryPointsAreANote) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("no_entry_points"));
  EXPECT_EQ(c.exit, 0) << c.err;
  EXPECT_THAT(Problems(c.doc), HasSubstr("exports no entry point"));
}

TEST(PluginCheck, KernelsThatNoNodeCanUseAreANote) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("doubtful"));
  EXPECT_EQ(c.exit, 0) << c.err;
  EXPECT_EQ(c.doc["init"]["doubts"].size(), 6);
  EXPECT_THAT(Problems(c.doc), HasSubstr("'Relru', which nobody registered"));
  const Finished devices = GraphRun({"devices", "--plugin", TestPlugin("doubtful")});
  EXPECT_EQ(devices.exit, 0);
  EXPECT_THAT(devices.err, AllOf(HasSubstr("libdoubtful.so: kernel 'NoAttribute' constrains"),
                                 HasSubstr("libdoubtful.so: 3 more such faults")));
  EXPECT_THAT(devices.out, HasSubstr("kernel 'Elsewhere' is for device type"));
}

TEST(PluginCheck, InstructionsThatTheProcessorLacksAreNoTaskForADebugger) {
  const CheckedPlugin c = CheckPlugin(TestPlugin("rogue"), {{"ROGUE", "init_avx512"}});
  EXPECT_EQ(c.exit, 5);
  ASSERT_FALSE(c.doc.is_discarded());
  EXPECT_THAT(Problems(c.doc), HasSubstr("AVX-512"));
  EXPECT_THAT(std::string(c.doc["problems"][0]["advice"]),
              HasSubstr("build it for this processor"));
}

struct Death {
  std::string kind;
  int exit;
  std::string verdict, says;
};
class Deaths : public ::testing::TestWithParam<Death> {};

TEST_P(Deaths, TakeOnlyTheChild) {
  const Death& death = GetParam();
  const CheckedPlugin c =
      CheckPlugin(TestPlugin("rogue"), {{"ROGUE", death.kind}}, {"--timeout", "2"});
  EXPECT_EQ(c.exit, death.exit) << c.err;
  ASSERT_FALSE(c.doc.is_discarded());
  EXPECT_EQ(c.doc["verdict"], death.verdict);
  EXPECT_THAT(Problems(c.doc), HasSubstr(death.says));
  EXPECT_TRUE(c.doc["init"].is_null());
}

INSTANTIATE_TEST_SUITE_P(All, Deaths,
                         ::testing::Values(Death{"load_segv", 5, "crashes", "SIGSEGV"},
                                           Death{"load_abort", 5, "crashes", "SIGABRT"},
                                           Death{"init_segv", 5, "crashes", "in TF_InitKernel"},
                                           Death{"init_exit", 5, "crashes", "exit()"},
                                           Death{"init_hang", 6, "hangs", "TF_InitKernel"}),
                         [](const auto& info) { return info.param.kind; });

TEST(PluginCheck, AParentMayHaveIgnoredChildren) {
  const std::map<std::string, std::string> rogue = {{"ROGUE", "init_segv"}};
  const Finished crash = GraphRun({.args = {"plugin", "check", TestPlugin("rogue"), "--json"},
                                   .environment = rogue,
                                   .ignore_children = true});
  EXPECT_EQ(crash.exit, 5) << crash.err;
  EXPECT_THAT(Problems(json::parse(crash.out)), HasSubstr("SIGSEGV"));
  const auto begin = std::chrono::steady_clock::now();
  const Finished good =
      GraphRun({.args = {"plugin", "check", Built("lib/plugins/libapu.so"), "--timeout", "60"},
                .ignore_children = true});
  EXPECT_EQ(good.exit, 0) << good.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(PluginCheck, WhatIsNoLibraryIsInvalid) {
  const CheckedPlugin text = CheckPlugin(TempFile("text.so", "not a library"));
  EXPECT_EQ(text.exit, 4);
  EXPECT_THAT(text.err, HasSubstr("text.so: not an ELF file"));
  EXPECT_EQ(CheckPlugin("/nonexistent.so").exit, 4);
  EXPECT_EQ(GraphRun({"plugin", "check"}).exit, 2);
  EXPECT_EQ(GraphRun({"plugin"}).exit, 2);
}

TEST(PluginNew, NamesAreChecked) {
  for (const char* name : {"cpu", "a1", "7", "a-b", "_a", ""}) {
    const Finished run = GraphRun({"plugin", "new", name, TempPath("refused")});
    EXPECT_EQ(run.exit, 2) << name;
    EXPECT_FALSE(std::filesystem::exists(TempPath("refused")));
  }
  EXPECT_EQ(GraphRun({"plugin", "new", "toy"}).exit, 2);
}

TEST(PluginNew, NothingIsOverwritten) {
  TempFile("busy", "");
  std::filesystem::create_directories(TempPath("taken"));
  TempFile("taken/file", "mine");
  const Finished run = GraphRun({"plugin", "new", "toy", TempPath("taken")});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("not empty"));
  EXPECT_EQ(ReadFile(TempPath("taken/file")), "mine");
}

TEST(PluginNew, TheNameStandsEverywhere) {
  const std::string folder = TempPath("my_board");
  const Finished run = GraphRun({"plugin", "new", "My_Board", folder, "--json"});
  ASSERT_EQ(run.exit, 0) << run.err;
  const json doc = json::parse(run.out);
  EXPECT_EQ(doc["device_type"], "MY_BOARD");
  for (const std::string file : doc["files"]) {
    const std::string text = ReadFile(folder + "/" + file);
    EXPECT_NE(text, "") << file;
    for (const char* old : {"sample", "Sample", "SAMPLE"})
      EXPECT_EQ(text.find(old), std::string::npos) << file << " has " << old;
  }
  EXPECT_THAT(ReadFile(folder + "/kernels.cc"), HasSubstr("MyBoardNegate"));
}

}  // namespace
}  // namespace tenon::testing::plugin_check_test
