// --abi-check=strict: rules of the interface that a plug-in breaks are named with plug-in, callback
// and node; who breaks none is left alone.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kGraph[] = "plugin/template/test/graph.pbtxt";

std::vector<std::string> Args(const std::string& kind) {
  return {"run",
          kGraph,
          "--json",
          "--plugin",
          TestPlugin("unruly") + ";UNRULY=" + kind,
          "--device",
          "SAMPLE",
          "--opt-level",
          "0",
          "--input",
          "x=4xf32=1,2,3,4",
          "--expect",
          "plain=4xf32=-1,-2,-3,-4"};
}

Finished Strict(const std::string& kind) {
  std::vector<std::string> args = Args(kind);
  args.push_back("--abi-check=strict");
  return GraphRun(args);
}

struct Broken {
  std::string kind, rule, callback, node, says;
  int exit = 5;
};
std::string RuleName(const ::testing::TestParamInfo<Broken>& info) {
  return info.param.kind + "_" + info.param.callback;
}
class BrokenRules : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenRules, AreNamed) {
  const Broken& broken = GetParam();
#if defined(__SANITIZE_ADDRESS__)
  if (std::string_view(broken.kind) == "frees_input")
    GTEST_SKIP() << "the sanitizer ends the process where strict mode looks at the freed bytes";
#endif
  const Finished run = Strict(broken.kind);
  EXPECT_EQ(run.exit, broken.exit) << run.err;
  const json doc = json::parse(run.out, nullptr, false);
  ASSERT_FALSE(doc.is_discarded()) << run.err;
  bool found = false;
  for (const json& violation : doc["abi_check"]["violations"]) {
    if (violation["rule"] != broken.rule || violation["callback"] != broken.callback) continue;
    if (violation["node"] != broken.node) continue;
    if (std::string(violation["detail"]).find(broken.says) == std::string::npos) continue;
    EXPECT_THAT(std::string(violation["plugin"]), HasSubstr("libunruly.so"));
    found = true;
    break;
  }
  EXPECT_TRUE(found) << doc["abi_check"].dump(1);
  EXPECT_THAT(run.err, HasSubstr("abi-check: " + broken.rule + ": plug-in "));
  if (broken.exit == 5) {
    EXPECT_FALSE(doc["fetches"].empty()) << "the result is there all the same";
  }
}

constexpr char kCompute[] = "compute_func";
constexpr char kBehind[] = "has 16 bytes; bytes 16 to 16399 are written, behind its end";
constexpr char kBefore[] = "has 16 bytes; bytes -8 to -5 are written, before its begin";
// In memory of the host, in chunks of a device's regions, in blocks of a device's own.
const std::vector<std::string> kPlaces = {"UNRULY_DEVICE=CPU", "UNRULY_BFC=1", "UNRULY_BFC=0"};
const std::vector<Broken> kTrespasses = {
    {"past_output", "out_of_bounds", kCompute, "plain", std::string("output 0 ") + kBehind},
    {"before_output", "out_of_bounds", kCompute, "plain", std::string("output 0 ") + kBefore},
    {"past_input", "out_of_bounds", kCompute, "plain",
     "input 0 ('x') has 16 bytes; bytes 16 to 19"},
    {"past_temporary", "out_of_bounds", kCompute, "plain",
     "a tensor that it allocated has 12 bytes; bytes 12 to 15"},
    {"past_own", "out_of_bounds", kCompute, "plain", "has 12 bytes; bytes 12 to 15"},
    {"writes_input", "input_written", kCompute, "plain",
     "input 0 ('x') has 16 bytes; bytes 4 to 7"},
    {"writes_late", "written_late", kCompute, "plain", "output 0 has 16 bytes; bytes 8 to 11"},
    {"asks_late", "context_after_end", kCompute, "plain", "TF_NumInputs is called with"}};
class Trespasses : public ::testing::TestWithParam<std::tuple<Broken, std::string>> {};
TEST_P(Trespasses, AreNamedWithTheirBytes) {
  const auto& [broken, place] = GetParam();
  const bool on_host = place == kPlaces[0];
  const Finished run =
      GraphRun({"run", kGraph, "--json", "--plugin",
                TestPlugin("unruly") + ";UNRULY=" + broken.kind + ";" + place, "--device",
                on_host ? "CPU" : "SAMPLE", "--opt-level", "0", "--input", "x=4xf32=1,2,3,4",
                "--output", "plain", "--abi-check=strict"});
  EXPECT_EQ(run.exit, 5) << run.err;
  const json doc = json::parse(run.out, nullptr, false);
  ASSERT_FALSE(doc.is_discarded()) << run.err;
  const json& violations = doc["abi_check"]["violations"];
  ASSERT_EQ(violations.size(), 1u) << violations.dump(1);
  EXPECT_EQ(violations[0]["rule"], broken.rule);
  EXPECT_EQ(violations[0]["callback"], broken.callback);
  EXPECT_EQ(violations[0]["node"], broken.node);
  EXPECT_THAT(std::string(violations[0]["plugin"]), HasSubstr("libunruly.so"));
  EXPECT_THAT(std::string(violations[0]["detail"]), HasSubstr(broken.says));
}
INSTANTIATE_TEST_SUITE_P(
    Everywhere, Trespasses,
    ::testing::Combine(::testing::ValuesIn(kTrespasses), ::testing::ValuesIn(kPlaces)),
    [](const auto& info) {
      const auto place = std::find(kPlaces.begin(), kPlaces.end(), std::get<1>(info.param));
      return std::get<0>(info.param).kind + "_" + std::to_string(place - kPlaces.begin());
    });
INSTANTIATE_TEST_SUITE_P(Memory, BrokenRules,
                         ::testing::Values(Broken{"misaligned", "misaligned", "allocate", "x",
                                                  "which is no multiple of 64"}),
                         RuleName);
INSTANTIATE_TEST_SUITE_P(Pointers, BrokenRules,
                         ::testing::Values(Broken{"host_output", "device_pointer", kCompute,
                                                  "plain", "output 0 is no memory of the device"},
                                           Broken{"host_output", "device_pointer", "memcpy_dtoh",
                                                  "plain", "a host pointer"},
                                           Broken{"from_host", "device_pointer", kCompute, "plain",
                                                  "the source, 16 bytes at"},
                                           Broken{"device_output", "host_pointer", kCompute,
                                                  "plain", "output 0 is memory of the device"},
                                           Broken{"to_device", "host_pointer", kCompute, "plain",
                                                  "the target, 16 bytes at"}),
                         RuleName);
INSTANTIATE_TEST_SUITE_P(
    Streams, BrokenRules,
    ::testing::Values(
        Broken{"frees_input", "free_before_done", kCompute, "plain", "16 bytes at"},
        Broken{"early_event", "done_too_early", "get_event_status", "own", "has not run"},
        Broken{"callback_twice", "called_twice", "host_callback", "", "made before"},
        Broken{"unrecorded", "event_not_recorded", kCompute, "plain", "never recorded"},
        Broken{"same_event", "event", kCompute, "plain", "one handle"},
        Broken{"same_stream", "stream", "create_stream", "", "one handle"}),
    RuleName);
INSTANTIATE_TEST_SUITE_P(
    Sizes, BrokenRules,
    ::testing::Values(
        Broken{"platform_size", "struct_size", "SE_InitPlugin", "", "SP_Platform.struct_size"},
        Broken{"platform_fns_size", "struct_size", "SE_InitPlugin", "", "SP_PlatformFns."},
        Broken{"device_fns_size", "struct_size", "create_device_fns", "", "SP_DeviceFns."},
        Broken{"table_size", "struct_size", "create_stream_executor", "", "SP_StreamExecutor."},
        Broken{"device_size", "struct_size", "create_device", "", "SP_Device."},
        Broken{"memory_size", "struct_size", "allocate", "x", "SP_DeviceMemoryBase."},
        Broken{"optimizer_size", "struct_size", "TF_InitGraph", "", "TP_Optimizer."},
        Broken{"configs_size", "struct_size", "TF_InitGraph", "", "TP_OptimizerConfigs."}),
    RuleName);
INSTANTIATE_TEST_SUITE_P(
    Exceptions, BrokenRules,
    ::testing::Values(Broken{"copy_throws", "exception", "memcpy_htod", "x", "from the copy", 1},
                      Broken{"kernel_throws", "exception", kCompute, "plain", "from the kernel", 1},
                      Broken{"own_device", "exception", kCompute, "plain", "an SP_Device", 1}),
    RuleName);
INSTANTIATE_TEST_SUITE_P(
    Lifetimes, BrokenRules,
    ::testing::Values(Broken{"tensor_leak", "leak", kCompute, "plain", "1 TF_Tensor that"},
                      Broken{"tensor_twice", "double_free", kCompute, "plain", "a TF_Tensor"},
                      Broken{"status_leak", "leak", kCompute, "plain", "1 TF_Status that"},
                      Broken{"status_twice", "double_free", kCompute, "plain", "a TF_Status"},
                      Broken{"buffer_leak", "leak", kCompute, "plain", "1 TF_Buffer that"},
                      Broken{"buffer_twice", "double_free", kCompute, "plain", "a TF_Buffer"},
                      Broken{"memory_leak", "leak", kCompute, "plain", "16 bytes of device memory"},
                      Broken{"memory_twice", "double_free", kCompute, "plain",
                             "is freed, which allocate"},
                      Broken{"event_leak", "leak", kCompute, "plain", "an event"},
                      Broken{"stream_leak", "leak", kCompute, "plain", "a stream"}),
    RuleName);

TEST(AbiCheck, MemoryThatIsInUseIsNotGivenOutAgain) {
  const Finished run = Strict("same_memory");
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("reuse_before_free: plug-in "));
}

TEST(AbiCheck, WithoutTheFlagNobodyWatches) {
  const Finished run = GraphRun(Args("memory_size"));
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_FALSE(json::parse(run.out).contains("abi_check"));
}

TEST(AbiCheck, WhoBreaksNoRuleIsClean) {
  for (const char* kind : {"good", "no_bfc", "no_callbacks"}) {
    const Finished run = Strict(kind);
    EXPECT_EQ(run.exit, 0) << kind << run.err;
    EXPECT_EQ(json::parse(run.out)["abi_check"]["violations"], json::array()) << kind;
  }
}

TEST(AbiCheck, TheApuIsCleanWithEachCommand) {
  const std::string mlp = GoldenGraph("mlp");
  const std::vector<std::vector<std::string>> commands = {
      {"run", mlp, "--input", "x=1x20xf32=1", "--runs", "20", "--concurrency", "3"},
      {"run", mlp, "--input", "x=1x20xf32=1", "--opt-level", "0", "--trace", TempPath("t.json")},
      {"bench", mlp, "--input", "x=1x20xf32=1", "--runs", "20", "--seconds", "0.1"},
      {"opt", mlp, "-o", TempPath("mlp.pbtxt")},
      {"explain", mlp},
      {"lint", mlp},
      {"show", mlp},
      {"devices", "--kernels"}};
  for (std::vector<std::string> args : commands) {
    const std::string command = args[0];
    args.insert(args.end(),
                {"--plugin", Built("lib/plugins/libapu.so"), "--abi-check=strict", "--json"});
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 0) << command << ": " << run.err;
    EXPECT_EQ(json::parse(run.out)["abi_check"]["violations"], json::array()) << command;
  }
}

TEST(AbiCheck, WorkersOfCheckTellWhatTheySaw) {
  const auto constant = [](const std::string& name, const std::string& values) {
    return "node { name: '" + name +
           "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value "
           "{ tensor { dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: " +
           values + " } } } }\n";
  };
  const std::string neg = TempFile(
      "Neg.pbtxt", constant("c000/x", "[1, 2, 3, 4]") + constant("c000/want0", "[-1, -2, -3, -4]") +
                       "node { name: 'c000/op' op: 'Neg' input: 'c000/x' "
                       "attr { key: 'T' value { type: DT_FLOAT } } }\n");
  const auto check = [&](const std::string& plugin) {
    return GraphRun({"check", neg, "--plugin", plugin, "--abi-check=strict", "--json"});
  };
  for (const auto& [kind, rule] :
       {std::pair{"device_size", "struct_size"}, std::pair{"status_leak", "leak"}}) {
    const Finished run = check(TestPlugin("unruly") + ";UNRULY=" + kind);
    EXPECT_EQ(run.exit, 5) << kind << run.err;
    const json violations = json::parse(run.out)["abi_check"]["violations"];
    ASSERT_FALSE(violations.empty()) << kind << run.out;
    EXPECT_EQ(violations[0]["rule"], rule);
    EXPECT_THAT(run.err, HasSubstr(std::string("abi-check: ") + rule + ": plug-in "));
  }
  const Finished clean = check(Built("lib/plugins/libapu.so"));
  EXPECT_EQ(clean.exit, 0) << clean.err;
  EXPECT_EQ(json::parse(clean.out)["abi_check"]["violations"], json::array());
}

TEST(AbiCheck, OtherWordsAreRefused) {
  const Finished run = GraphRun({"devices", "--abi-check=loose"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("loose"));
}

}  // namespace
}  // namespace tenon::testing
