// Which plug-ins are loaded, how several get on with each other, and that the user is told.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::plugin_loading_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder with copies of these plug-ins, by their new names.
std::string FolderOf(const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& plugins) {
  const std::string folder = TempPath(name);
  std::filesystem::create_directories(folder);
  for (const auto& [from, to] : plugins) {
    std::filesystem::copy_file(from, folder + "/" + to,
                               std::filesystem::copy_options::overwrite_existing);
  }
  return folder;
}
std::string ApuFile() { return Built("lib/plugins/libapu.so"); }

std::vector<std::string> DeviceNames(const json& doc) {
  std::vector<std::string> names;
  for (const json& device : doc["devices"]) names.push_back(device["name"]);
  return names;
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

TEST(Plugins, AFoundOneThatClosesTheOutputStays) {
  const Finished run =
      GraphRun({{"devices", "--json"},
                "",
                {{"TENON_PLUGIN_PATH", TestPlugin("rogue")}, {"ROGUE", "load_close"}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("closed standard output and standard error of the command (found "
                                 "through TENON_PLUGIN_PATH, in use all the same)"));
  EXPECT_EQ(json::parse(run.out)["plugins"][0]["status"]["code"], "OK");
}

// Few plug-ins look at the status of a registration, TensorFlow ends the process.
TEST(Plugins, RegistrationsThatFailAreTold) {
  const std::string plugin = TestPlugin("op_taken");
  const std::string reason = "op 'MatMul' was not registered: ALREADY_EXISTS: Op with name MatMul";
  const Finished run = GraphRun({"run", kMlp, "--input", "x=1x20xf32=1", "--plugin", plugin});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(reason));
  EXPECT_THAT(run.err, HasSubstr("libop_taken.so: "));
  EXPECT_THAT(run.err, HasSubstr("has no compute function"));
  EXPECT_THAT(GraphRun({"devices", "--plugin", plugin}).out, HasSubstr(reason));
  const Finished check = GraphRun({"plugin", "check", plugin});
  EXPECT_EQ(check.exit, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr(reason));
}

TEST(Plugins, AreFoundWherePackagesAreInstalled) {
  const std::string folder = TempPath("packages");
  std::filesystem::create_directories(folder + "/tensorflow-plugins");
  std::filesystem::copy_file(Built("lib/plugins/libapu.so"), folder + "/tensorflow-plugins/liba.so",
                             std::filesystem::copy_options::overwrite_existing);
  const Finished run = GraphRun({{"devices", "--json"}, "", {{"TENON_PLUGIN_PATH", folder}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["devices"].size(), 2);
}

TEST(Plugins, ServeUnderTheNameThatTheUserGives) {
  const std::string apu = Built("lib/plugins/libapu.so");
  const Finished run = GraphRun({"run", kMlp, "--input", "x=1x20xf32=1", "--json", "--plugin",
                                 apu + ";as=GPU@vendor;priority=3", "--device", "GPU@vendor"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(json::parse(run.out)["devices"].contains("/device:GPU@vendor:0")) << run.out;
  for (const char* wrong : {";as=gpu", ";as=GPU@", ";as=GPU@a@b", ";as=", ";priority=x"}) {
    const Finished refused = GraphRun({"devices", "--plugin", apu + wrong});
    EXPECT_EQ(refused.exit, 2) << wrong << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("libapu.so")) << wrong;
  }
}

TEST(Plugins, AreFoundInAFolder) {
  const std::string folder = FolderOf("named", {{ApuFile(), "liba.so"},
                                                {TestPlugin("init_error"), "libb.so"},
                                                {TestPlugin("good_cpu"), "libc.so.2"},
                                                {TestPlugin("good_cpu"), "libd.so.txt"}});
  const Finished run = GraphRun({"devices", "--json", "--plugin", folder + ";as=NPU"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("from SE_InitPlugin (found in " + folder + ", skipped)"));
  EXPECT_THAT(DeviceNames(json::parse(run.out)),
              ElementsAre("/physical_device:CPU:0", "/physical_device:NPU:0"));
  EXPECT_EQ(json::parse(run.out)["plugins"].size(), 3) << "libd.so.txt is no library's name";
  const Finished none = GraphRun({"devices", "--plugin", FolderOf("none", {})});
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("no library (.so) is in this folder"));
}

TEST(Plugins, ALibraryIsLoadedOnceWhateverItsName) {
  const std::string link = TempPath("link.so");
  std::filesystem::remove(link);
  std::filesystem::create_symlink(std::filesystem::absolute(ApuFile()), link);
  const std::string folder = FolderOf("hard", {{ApuFile(), "lib.so"}});
  std::filesystem::remove(folder + "/other.so");
  std::filesystem::create_hard_link(folder + "/lib.so", folder + "/other.so");
  const json hard = json::parse(GraphRun({"devices", "--json", "--plugin", folder}).out);
  EXPECT_EQ(hard["plugins"].size(), 1);
  EXPECT_EQ(hard["devices"].size(), 2);
  const Finished run = GraphRun({{"devices", "--json", "--plugin", ApuFile(), "--plugin", link},
                                 "",
                                 {{"TENON_PLUGIN_PATH", link}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json doc = json::parse(run.out);
  EXPECT_EQ(doc["plugins"].size(), 1);
  EXPECT_EQ(doc["devices"].size(), 2);
}

TEST(Plugins, AFoundOneWhoseDevicesFailDoesNotHarmTheOthers) {
  const std::string found = TestPlugin("create_device_fails") + ":" + ApuFile();
  const Finished run = GraphRun({{"devices", "--json"}, "", {{"TENON_PLUGIN_PATH", found}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("no such board (create_device of plug-in "));
  const json doc = json::parse(run.out);
  EXPECT_THAT(DeviceNames(doc), ElementsAre("/physical_device:CPU:0", "/physical_device:APU:0"));
  EXPECT_EQ(doc["plugins"][0]["status"]["code"], "UNAVAILABLE");
  EXPECT_EQ(GraphRun({"devices", "--plugin", TestPlugin("create_device_fails")}).exit, 5);
}

TEST(Plugins, SeveralServeOneDeviceType) {
  const std::string other = FolderOf("two", {{ApuFile(), "libother.so"}}) + "/libother.so";
  const std::vector<std::string> both = {"--plugin", ApuFile(), "--plugin", other};
  const auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), both.begin(), both.end());
    return GraphRun(args);
  };
  const Finished devices = with({"devices", "--json"});
  EXPECT_EQ(devices.exit, 0) << devices.err;
  EXPECT_THAT(devices.err, HasSubstr("device type APU is also that of "));
  EXPECT_THAT(
      DeviceNames(json::parse(devices.out)),
      ElementsAre("/physical_device:CPU:0", "/physical_device:APU:0", "/physical_device:APU:1"));
  for (const char* device : {"/device:APU:0", "/device:APU:1"}) {
    const Finished run =
        with({"run", kMlp, "--input", "x=1x20xf32=1", "--json", "--device", device, "--quiet"});
    EXPECT_EQ(run.exit, 0) << run.err;
    EXPECT_GT(json::parse(run.out)["devices"][device], 0) << run.out;
  }
}

// --- Kernels of several plug-ins for one node.

std::string NegGraph() {
  return TempFile("neg.pbtxt",
                  "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: "
                  "DT_FLOAT } } attr { key: \"shape\" value { shape { } } } }\n"
                  "node { name: \"y\" op: \"Neg\" input: \"x\" attr { key: \"T\" value { type: "
                  "DT_FLOAT } } }\n");
}

// `options` follow the names of the plug-ins.
Finished RunNeg(const std::vector<std::string>& plugins, const std::string& answer) {
  std::vector<std::string> args = {"run",     NegGraph(), "--input",
                                   "x=f32=1", "--expect", "y=f32=" + answer};
  for (const std::string& plugin : plugins) {
    const size_t end = std::min(plugin.find(';'), plugin.size());
    args.insert(args.end(), {"--plugin", TestPlugin(plugin.substr(0, end)) + plugin.substr(end)});
  }
  return GraphRun(args);
}

TEST(Plugins, TheirKernelsGoBeforeOursAndInOrderOfPriorityAndLoading) {
  EXPECT_EQ(RunNeg({}, "-1").exit, 0);
  EXPECT_EQ(RunNeg({"neg_ten"}, "10").exit, 0);
  EXPECT_EQ(RunNeg({"neg_ten", "neg_twenty"}, "10").exit, 0);
  EXPECT_EQ(RunNeg({"neg_twenty", "neg_ten"}, "20").exit, 0);
  EXPECT_EQ(RunNeg({"neg_ten", "neg_twenty;priority=1"}, "20").exit, 0);
  EXPECT_EQ(RunNeg({"neg_ten;priority=-1", "neg_twenty"}, "20").exit, 0);
  const Finished told = GraphRun({"devices", "--plugin", TestPlugin("neg_ten"), "--plugin",
                                  TestPlugin("neg_twenty") + ";priority=1"});
  EXPECT_THAT(told.out, HasSubstr("its kernels go before 1 of the built-in ones"));
  EXPECT_THAT(told.out, HasSubstr("its kernels go before 1 of /"));
}

TEST(Plugins, TwoKernelsOfOnePluginForANodeAreItsError) {
  const Finished run = RunNeg({"neg_twice"}, "30");
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.err, HasSubstr("Multiple OpKernel registrations match NodeDef at the same "
                                 "priority '{{node y}}'"));
  EXPECT_THAT(run.err, HasSubstr("libneg_twice.so"));
}

// --- Passes of several plug-ins.

TEST(Plugins, AllTheirPassesRunInOrderOfLoadingEachOnItsOwn) {
  const std::string out = TempPath("passes_out.pbtxt");
  std::vector<std::string> args = {"opt", kMlp, "-o", out, "--json"};
  for (const char* name : {"pass_one", "pass_two", "pass_three"})
    args.insert(args.end(), {"--plugin", TestPlugin(name)});
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("plugin:CPU:libpass_two.so: rolled back: it came to nothing"));
  EXPECT_THAT(run.err, HasSubstr("libpass_two.so"));
  // In both iterations the same, told once.
  EXPECT_EQ(run.err.find("it came to nothing"), run.err.rfind("it came to nothing")) << run.err;
  const std::string graph = ReadFile(out);
  EXPECT_THAT(graph, HasSubstr("\"pass_one\""));
  EXPECT_THAT(graph, HasSubstr("\"pass_three_after_pass_one\""));
  EXPECT_THAT(graph, Not(HasSubstr("pass_two")));
}

// As in TensorFlow, a pass finds attributes in the nodes that the file leaves to the op's defaults,
// and sees what a function holds.
TEST(Plugins, TheirPassesSeeBodiesAndAttributesInFull) {
  const std::string model = TempFile("pool.pbtxt", R"(
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "y" op: "f" input: "x" }
      library { function {
        signature { name: "f" input_arg { name: "a" type: DT_FLOAT }
                    output_arg { name: "r" type: DT_FLOAT } }
        node_def { name: "pool" op: "MaxPool" input: "a"
                   attr { key: "ksize" value { list { i: [1, 2, 2, 1] } } }
                   attr { key: "strides" value { list { i: [1, 2, 2, 1] } } }
                   attr { key: "padding" value { s: "VALID" } } }
        node_def { name: "relu" op: "Relu" input: "pool:output:0"
                   attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "r" value: "relu:activations:0" } } })");
  const std::string out = TempPath("pool_out.pbtxt");
  const Finished run = GraphRun(
      {"opt", model, "-o", out, "--output", "y", "--json", "--plugin", TestPlugin("pass_one")});
  EXPECT_EQ(run.exit, 0) << run.err;
  const std::string graph = ReadFile(out);
  EXPECT_THAT(graph, HasSubstr("\"pass_one\""));
  const size_t node = graph.find("\"y/pool\"");
  ASSERT_NE(node, graph.npos);
  EXPECT_THAT(graph.substr(node, graph.find("\nnode", node) - node),
              AllOf(HasSubstr("\"T\""), HasSubstr("\"data_format\"")));
}

// --- A plug-in that breaks at one of its callbacks.

std::string BoardGraph() {
  std::string text =
      "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } "
      "attr { key: \"shape\" value { shape { } } } }\n";
  const char* const nodes[][3] = {
      {"a", "x", "BOARD"}, {"b", "a", "CPU"}, {"c", "b", "BOARD"}, {"y", "c", "BOARD"}};
  for (const auto& [name, input, device] : nodes) {
    absl::StrAppend(&text, "node { name: \"", name, "\" op: \"BoardOp\" input: \"", input,
                    "\" device: \"/device:", device, ":0\" }\n");
  }
  return TempFile("board.pbtxt", text);
}

struct Callback {
  const char* name;
  int exit;          // where it throws: 0 is a warning
  const char* node;  // that it works for; empty: none; "?": one of several
};

class Callbacks : public ::testing::TestWithParam<Callback> {
 protected:
  static Finished Run(const std::string& way) {
    return GraphRun({{"run", BoardGraph(), "--input", "x=f32=3", "--plugin", TestPlugin("board")},
                     "",
                     {{"BOARD_AT", GetParam().name},
                      {"BOARD_WAY", way},
                      {"TMPDIR", std::filesystem::path(BoardGraph()).parent_path().string()}}});
  }
  // "create_func" for "create_func of the pass".
  static std::string Name() {
    const std::string name = GetParam().name;
    return name.substr(0, name.find(' '));
  }
};

TEST_P(Callbacks, ThatThrowAreErrorsOrWarnings) {
  const Finished run = Run("throw");
  EXPECT_EQ(run.exit, GetParam().exit) << run.err;
  EXPECT_THAT(run.err, HasSubstr(Name() + " of plug-in "));
  EXPECT_THAT(run.err, HasSubstr("libboard.so threw an exception: as asked"));
  if (run.exit == 0) EXPECT_THAT(run.err, HasSubstr("warning: "));
  if (run.exit == 1) EXPECT_THAT(run.err, HasSubstr(absl::StrCat("node '", GetParam().node, "'")));
}

TEST_P(Callbacks, ThatCrashOrExitAreNamed) {
  const std::string_view name = GetParam().node;
  const std::string node = name.empty()  ? " (at lib"
                           : name == "?" ? " of node '"
                                         : absl::StrCat(" of node '", name, "' (at lib");
  for (const auto& [way, what] : {std::pair("segv", "SIGSEGV (memory that it may not touch) in "),
                                  std::pair("exit", "exit() was called in ")}) {
    const Finished run = Run(way);
    EXPECT_EQ(run.exit, 5) << run.err;
    EXPECT_THAT(run.err, HasSubstr(absl::StrCat("libboard.so: ", what, Name(), node)));
    if (Name() == "optimize_func") EXPECT_THAT(run.err, HasSubstr("; /"));
  }
}

TEST(Plugins, CrashesInCopiesOfConstantsNameWhoReadsThem) {
  const std::string graph = TempFile(
      "constant.pbtxt",
      "node { name: \"c\" op: \"Const\" attr { key: \"dtype\" value { type: DT_FLOAT } } "
      "attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 "
      "} } } }\n"
      "node { name: \"y\" op: \"BoardOp\" input: \"c\" device: \"/device:BOARD:0\" }\n");
  const Finished run = GraphRun({{"run", graph, "--plugin", TestPlugin("board")},
                                 "",
                                 {{"BOARD_AT", "memcpy_htod"}, {"BOARD_WAY", "segv"}}});
  EXPECT_EQ(run.exit, 5) << run.err;
  EXPECT_THAT(run.err, HasSubstr("in memcpy_htod of node 'y' (at libboard.so+0x"));
}

INSTANTIATE_TEST_SUITE_P(
    All, Callbacks,
    ::testing::Values(Callback{"SE_InitPlugin", 5, ""}, Callback{"create_device_fns", 5, ""},
                      Callback{"create_stream_executor", 5, ""}, Callback{"TF_InitKernel", 5, ""},
                      Callback{"TF_InitGraph", 5, ""}, Callback{"TF_InitProfiler", 5, ""},
                      Callback{"get_device_count", 0, ""}, Callback{"create_device", 5, ""},
                      Callback{"device_memory_usage", 5, ""}, Callback{"create_stream", 5, ""},
                      Callback{"shape_inference_func", 5, "a"},
                      Callback{"create_func of the pass", 0, ""}, Callback{"optimize_func", 0, ""},
                      Callback{"destroy_func", 0, ""}, Callback{"create_func", 1, "a"},
                      Callback{"allocate", 1, "x"}, Callback{"memcpy_htod", 1, "x"},
                      Callback{"compute_func", 1, "a"},
                      Callback{"create_stream_dependency", 1, "x"}, Callback{"memcpy_dtoh", 1, "a"},
                      Callback{"create_event", 1, "x"}, Callback{"record_event", 1, "x"},
                      Callback{"get_event_status", 1, "a"}, Callback{"delete_func", 0, "?"},
                      Callback{"block_host_for_event", 0, ""}, Callback{"deallocate", 0, ""},
                      Callback{"destroy_event", 0, ""}, Callback{"destroy_stream", 0, ""},
                      Callback{"destroy_device", 0, ""}, Callback{"destroy_device_fns", 0, ""},
                      Callback{"destroy_stream_executor", 0, ""},
                      Callback{"destroy_platform", 0, ""}, Callback{"destroy_platform_fns", 0, ""},
                      Callback{"destroy_profiler", 0, ""}, Callback{"destroy_profiler_fns", 0, ""}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

}  // namespace
}  // namespace tenon::testing::plugin_loading_test
