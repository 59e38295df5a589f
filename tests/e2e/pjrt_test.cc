// Models on devices behind PJRT: the reference plug-in compiles clusters of their nodes.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::pjrt_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Reference() { return Built("lib/plugins/libpjrt_reference.so"); }

struct Model {
  std::string name;
  std::vector<std::string> feeds, fetches;
};

class PjrtModels : public ::testing::TestWithParam<Model> {};

// Whole models are one cluster each, and right.
TEST_P(PjrtModels, MatchTensorFlow) {
  const Model& model = GetParam();
  std::vector<std::string> args = GoldenRun(model.name, model.feeds, model.fetches);
  for (const char* arg : {"--plugin", "", "--device", "REFERENCE:0", "--no-fallback",
                          "--xla-errors", "fail", "--rtol", "2e-4", "--atol", "2e-5"})
    args.emplace_back(arg[0] == 0 ? Reference() : arg);
  const json doc = Document(args);
  ASSERT_FALSE(doc["expect"].empty());
  for (const json& expect : doc["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
}

INSTANTIATE_TEST_SUITE_P(All, PjrtModels,
                         ::testing::Values(Model{"mlp", {"x"}, {"out"}},
                                           Model{"cnn_bn", {"x"}, {"out"}},
                                           Model{"dlrm", {"dense", "sparse"}, {"out"}}),
                         [](const auto& info) { return info.param.name; });

TEST(PjrtExplain, TellsTheClusterOfEachNode) {
  const json doc = Document({"explain", kMlp, "--plugin", Reference()});
  ASSERT_EQ(doc["clusters"].size(), 1u);
  EXPECT_EQ(doc["clusters"][0]["name"], "cluster_0");
  EXPECT_EQ(doc["clusters"][0]["device"], "/device:REFERENCE:0");
  int in_cluster = 0, fed = 0;
  for (const json& node : doc["nodes"]) {
    in_cluster += node.value("cluster", "") == "cluster_0" ? 1 : 0;
    if (node["op"] == "Placeholder") fed += node["no_cluster"]["code"] == "FED" ? 1 : 0;
  }
  EXPECT_GT(in_cluster, 5);
  EXPECT_LE(fed, 1);
}

// A loop keeps a list that nobody reads as an input, though nothing makes it.
TEST(PjrtLists, ThatNobodyReadsCrossNoBorder) {
  const Finished run = GraphRun(
      {"check", "--gradients", "tests/golden/gradients/Loops.pbtxt.xz", "--plugin", Reference()});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

// The cases of all ops, lowered where they can be. These fail: denormal numbers are not flushed,
// places of NaNs and corners of complex functions are otherwise, and no size overflows an int.
TEST(PjrtOps, MatchTensorFlow) {
  const std::map<std::string, int> known = {{"ComplexCorners", 14}, {"Floor", 1},
                                            {"HostileIndices", 2},  {"QuantizeAndDequantizeV2", 2},
                                            {"SegmentMaxNan", 3},   {"Sign", 1}};
  const Finished run = GraphRun(
      {"check", "tests/golden/ops", "--plugin", Reference(), "--device", "REFERENCE:0", "--json"});
  const json doc = json::parse(run.out);
  std::map<std::string, int> failed;
  int crashed = 0;
  for (const json& c : doc["cases"]) {
    const std::string file = std::filesystem::path(c["file"].get<std::string>()).filename();
    failed[file.substr(0, file.find('.'))] += c["status"] == "failed" ? 1 : 0;
    crashed += c["status"] == "crashed" ? 1 : 0;
  }
  EXPECT_EQ(crashed, 0);
  for (const auto& [op, count] : failed) {
    const auto it = known.find(op);
    EXPECT_LE(count, it == known.end() ? 0 : it->second) << op;
  }
  EXPECT_GT(doc["cases"].size(), 11'000u);
}

// Ops that can be lowered alone are, with no kernel of the host beside them.
TEST(PjrtOps, AreLowered) {
  for (const char* op :
       {"MatrixInverse", "MatrixSolve", "MatrixDeterminant", "LogMatrixDeterminant",
        "ExtractImagePatches", "ExtractVolumePatches", "QuantizeAndDequantizeV4",
        "QuantizeAndDequantizeV4Grad", "StatelessRandomUniformV2", "StatelessRandomNormalV2",
        "StatelessRandomUniformInt", "StatelessRandomGetKeyCounter", "MaxPool3DGrad"}) {
    const Finished run = GraphRun({"check", std::string("tests/golden/ops/") + op + ".pbtxt.xz",
                                   "--plugin", Reference(), "--device", "REFERENCE:0",
                                   "--no-fallback", "--xla-errors", "fail", "--json"});
    const json doc = json::parse(run.out);
    int passed = 0;
    for (const json& c : doc["cases"]) {
      EXPECT_NE(c["status"], "failed") << c;
      passed += c["status"] == "passed" ? 1 : 0;
    }
    // Types that no program has are not implemented there.
    EXPECT_GE(passed * 10, static_cast<int>(doc["cases"].size()) * 9) << op;
  }
}

// The shape of what Where gives depends on values: that is the host's part.
TEST(PjrtOps, OfUnknownSizeBelongToTheHost) {
  const Finished run =
      GraphRun({"check", "tests/golden/ops/Where.pbtxt.xz", "--plugin", Reference(), "--device",
                "REFERENCE:0", "--no-fallback", "--xla-errors", "fail"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

// A compiler that fails costs a warning, or with --xla-errors=fail the run.
TEST(PjrtErrors, ACompilerThatFailsIsAFallback) {
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  for (const std::string& arg : {std::string("--plugin"), Reference(), std::string("--json")})
    args.push_back(arg);
  const std::map<std::string, std::string> broken = {
      {"TENON_PJRT_REFERENCE", "fail=Client_Compile:13"}};
  Finished run = GraphRun({args, "", broken});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("cluster_0"), HasSubstr("PJRT_Client_Compile"),
                             HasSubstr("ordinary kernels run")));
  for (const json& expect : json::parse(run.out)["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
  args.insert(args.end(), {"--xla-errors", "fail"});
  run = GraphRun({args, "", broken});
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("PJRT_Client_Compile"));
}

// So does a run that fails.
TEST(PjrtErrors, ARunThatFailsIsReplaced) {
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  for (const std::string& arg : {std::string("--plugin"), Reference(), std::string("--json")})
    args.push_back(arg);
  const Finished run =
      GraphRun({args, "", {{"TENON_PJRT_REFERENCE", "fail=LoadedExecutable_Execute:8"}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("PJRT_LoadedExecutable_Execute"));
  for (const json& expect : json::parse(run.out)["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
}

struct Misbehaviour {
  const char* name;
  const char* option;  // of the client; empty: none
  const char* variable;
  const char* says;  // empty: nobody need be told
};

class PjrtMisbehaviour : public ::testing::TestWithParam<Misbehaviour> {};

// Whatever a plug-in does, three runs give the right answers.
TEST_P(PjrtMisbehaviour, CostsAWarningAtMost) {
  const Misbehaviour& bad = GetParam();
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  const std::string plugin =
      Reference() + (bad.option[0] == 0 ? "" : std::string(";option.") + bad.option);
  for (const std::string& arg : {std::string("--plugin"), plugin, std::string("--json"),
                                 std::string("--runs"), std::string("3")})
    args.push_back(arg);
  const Finished run = GraphRun({args, "", {{"TENON_PJRT_REFERENCE", bad.variable}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr(bad.says));
  for (const json& expect : json::parse(run.out)["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
}

INSTANTIATE_TEST_SUITE_P(
    All, PjrtMisbehaviour,
    ::testing::Values(
        Misbehaviour{"late_runs", "late_events=execute", "delay_us=20000", ""},
        Misbehaviour{"failing_runs", "failing_events=execute", "", "ordinary kernels run"},
        Misbehaviour{"failing_transfers", "failing_events=transfer", "", "ordinary kernels run"},
        Misbehaviour{"one_result_more", "wrong_results=count", "", "the compiled program has"},
        Misbehaviour{"another_type", "wrong_results=type", "", "of the compiled program is not"},
        Misbehaviour{"another_shape", "wrong_results=shape", "", "of the compiled program is not"},
        Misbehaviour{"columns", "column_major=true", "", ""},
        Misbehaviour{"dies", "executions=2", "", "ordinary kernels run"},
        Misbehaviour{"throws", "", "throw=LoadedExecutable_Execute", "threw an exception"},
        Misbehaviour{"loop_of_extensions", "", "extensions=loop", ""},
        Misbehaviour{"no_pointers", "", "null_functions=Buffer_OpaqueDeviceMemoryDataPointer", ""},
        Misbehaviour{"maps_no_memory", "", "null_functions=Buffer_IsOnCpu;Client_DmaMap", ""},
        Misbehaviour{"fails_to_map", "", "null_functions=Buffer_IsOnCpu,fail=Client_DmaMap:8", ""}),
    [](const auto& info) { return std::string(info.param.name); });

// The first run finds out that results are not on the host. All later runs copy by way of one
// block.
TEST(PjrtTransfers, UseMappedMemoryAgain) {
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  for (const std::string& arg :
       {std::string("--plugin"), Reference(), std::string("--runs"), std::string("5"),
        std::string("--xla-errors"), std::string("fail")})
    args.push_back(arg);
  const auto count = [&](const std::string& variable, const std::string& function) {
    const Finished run = GraphRun({args, "", {{"TENON_PJRT_REFERENCE", variable}}});
    EXPECT_EQ(run.exit, 0) << run.out << run.err;
    int n = 0;
    for (size_t at = run.err.find(function); at != run.err.npos;
         at = run.err.find(function, at + 1))
      ++n;
    return n;
  };
  const std::string on_device = "trace=true,null_functions=Buffer_IsOnCpu";
  EXPECT_EQ(count(on_device, "Client_DmaMap"), 1);
  EXPECT_EQ(count(on_device, "Client_DmaUnmap"), 1);
  EXPECT_EQ(count(on_device + ",fail=Client_DmaMap:8", "Client_DmaMap"), 1);
  EXPECT_EQ(count("trace=true", "Client_DmaMap"), 0);
}

// Beside NaN and infinity TensorFlow's kernels have answers of their own.
TEST(PjrtNumbers, AreTensorFlowsBesideNan) {
  const auto run_op = [](const std::string& op, const std::string& type, const std::string& dims,
                         const std::string& feed, const std::string& want) {
    const std::string path = TempPath("pjrt_numbers.pbtxt");
    std::ofstream(path) << "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: "
                        << type << " } } attr { key: 'shape' value { shape { " << dims
                        << " } } } }\nnode { name: 'y' op: '" << op
                        << "' input: 'x' attr { key: 'T' value { type: " << type << " } } }\n";
    for (const std::string& device : {std::string("REFERENCE:0"), std::string("CPU:0")}) {
      const Finished run =
          GraphRun({"run", path, "--plugin", Reference(), "--device", device, "--xla-errors",
                    "fail", "--equal-nan", "--input", "x=" + feed, "--expect", "y=" + want});
      EXPECT_EQ(run.exit, 0) << op << " on " << device << run.out << run.err;
    }
  };
  run_op("Erf", "DT_DOUBLE", "dim { size: 5 }", "5xf64=inf,-inf,nan,7,-7",
         "5xf64=nan,nan,nan,1,-1");
  run_op("Erf", "DT_FLOAT", "dim { size: 3 }", "3xf32=inf,-inf,nan", "3xf32=1,-1,nan");
  run_op("RGBToHSV", "DT_FLOAT", "dim { size: 3 } dim { size: 3 }",
         "3x3xf32=nan,.2,.3,.2,nan,.3,.2,.3,nan", "3x3xf32=nan,.33333334,.3,0,0,.3,0,0,nan");
}

// A second process takes the program from disk; a broken file is replaced.
TEST(PjrtPrograms, AreKeptOnDisk) {
  const std::string folder = TempPath("pjrt_programs");
  std::filesystem::remove_all(folder);
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  for (const std::string& arg : {std::string("--plugin"), Reference(), std::string("--xla-cache"),
                                 folder, std::string("--xla-errors"), std::string("fail")})
    args.push_back(arg);
  const auto compiles = [&] {
    const Finished run = GraphRun({args, "", {{"TENON_PJRT_REFERENCE", "trace=true"}}});
    EXPECT_EQ(run.exit, 0) << run.out << run.err;
    return run.err.find("PJRT_Client_Compile") != run.err.npos ||
           run.err.find("Client_Compile") != run.err.npos;
  };
  EXPECT_TRUE(compiles());
  EXPECT_FALSE(compiles());
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  EXPECT_TRUE(compiles());
  EXPECT_FALSE(compiles());
}

// Clusters of nodes on the host are compiled if they are asked for.
TEST(PjrtClusters, OfTheHostAreForThoseWhoAsk) {
  const auto clusters = [](const std::vector<std::string>& more, const std::string& flags) {
    std::vector<std::string> args = {"explain",  kMlp,    "--plugin", Reference(),
                                     "--device", "CPU:0", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const Finished run = GraphRun({args, "", {{"TF_XLA_FLAGS", flags}}});
    EXPECT_EQ(run.exit, 0) << run.err;
    return json::parse(run.out)["clusters"].size();
  };
  EXPECT_EQ(clusters({}, ""), 0u);
  EXPECT_EQ(clusters({"--xla", "all"}, ""), 1u);
  EXPECT_EQ(clusters({}, "--tf_xla_auto_jit=2"), 0u);
  EXPECT_EQ(clusters({}, "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"), 1u);
  EXPECT_EQ(clusters({"--xla", "off"}, "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"), 0u);
  EXPECT_EQ(
      clusters({}, "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_min_cluster_size=99"), 0u);
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  for (const char* arg : {"--plugin", "", "--device", "CPU:0", "--xla", "all", "--xla-errors",
                          "fail", "--rtol", "2e-4", "--atol", "2e-5"})
    args.emplace_back(arg[0] == 0 ? Reference() : arg);
  for (const json& expect : Document(args)["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
}

TEST(PjrtClusters, CanBeTurnedOff) {
  const json doc = Document({"explain", kMlp, "--plugin", Reference(), "--xla", "off"});
  EXPECT_FALSE(doc.contains("clusters") && !doc["clusters"].empty());
}

// A program that computes wrong numbers is found at its first run, with the node.
TEST(PjrtErrors, WrongNumbersAreFoundAndNotUsed) {
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  for (const std::string& arg :
       {std::string("--plugin"), Reference() + ";option.wrong_op=stablehlo.dot_general",
        std::string("--verify-each=numeric"), std::string("--json")})
    args.push_back(arg);
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("other numbers than ordinary kernels"),
                             HasSubstr("the first wrong node is"), HasSubstr("MatMul")));
  for (const json& expect : json::parse(run.out)["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
}

// A chain of six nodes, of which the plug-in computes the one with Tanh wrongly.
std::vector<std::string> WrongTanh(const std::string& command, const std::string& device) {
  const std::string path = TempPath("pjrt_wrong_tanh.pbtxt");
  std::ofstream file(path);
  file << "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr "
          "{ key: 'shape' value { shape { dim { size: 3 } } } } }\n";
  std::string input = "x";
  for (const char* op : {"Neg", "Abs", "Tanh", "Sqrt", "Exp", "Square"}) {
    file << "node { name: 'n_" << op << "' op: '" << op << "' input: '" << input
         << "' attr { key: 'T' value { type: DT_FLOAT } } }\n";
    input = std::string("n_") + op;
  }
  return {command,    path,          "--output",
          input,      "--plugin",    Reference() + ";option.wrong_op=stablehlo.tanh",
          "--device", device,        "--xla",
          "all",      "--opt-level", "0"};
}

class PjrtProofs : public ::testing::TestWithParam<const char*> {};

TEST_P(PjrtProofs, BisectFindsTheNodeOfACluster) {
  const json doc = Document(WrongTanh("bisect", GetParam()));
  EXPECT_EQ(doc["wrong"], true);
  EXPECT_EQ(doc["cause"], "placed node");
  EXPECT_EQ(doc["nodes"], json::array({"n_Tanh"})) << doc;
}

TEST_P(PjrtProofs, ReduceKeepsTheNodeOfACluster) {
  const std::string small = TempPath("pjrt_wrong_tanh_small.pbtxt");
  std::vector<std::string> args = WrongTanh("reduce", GetParam());
  args.insert(args.end(), {"-o", small});
  const json doc = Document(args);
  EXPECT_EQ(doc["nodes_after"], 2) << doc;
  // What was written is still wrong.
  args = WrongTanh("bisect", GetParam());
  args[1] = small;
  args[3] = doc["output"];
  args.insert(args.end(), {"--inputs", doc["inputs"]});
  EXPECT_EQ(Document(args)["nodes"], json::array({"n_Tanh"}));
  EXPECT_THAT(doc["next"].get<std::string>(), AllOf(HasSubstr("--xla=all"), HasSubstr(GetParam())));
}

TEST_P(PjrtProofs, VerifyingNamesTheNodeOfACluster) {
  std::vector<std::string> args = WrongTanh("run", GetParam());
  args.insert(args.end(),
              {"--input", "x=3xf32=1,2,3", "--verify-each=numeric", "--xla-errors", "fail"});
  const Finished run = GraphRun(args);
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("the first wrong node is 'n_Tanh' (Tanh)"));
}

INSTANTIATE_TEST_SUITE_P(All, PjrtProofs, ::testing::Values("REFERENCE:0", "CPU:0"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });

// A run whose batch no program has: the next bucket serves, and the answers are right.
TEST(PjrtBuckets, PadTheBatch) {
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  args.insert(args.end(), {"--plugin", Reference(), "--xla-buckets", "3,64", "--xla-errors", "fail",
                           "--rtol", "2e-4", "--atol", "2e-5"});
  const json doc = Document(args);
  for (const json& expect : doc["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
  ASSERT_EQ(doc["clusters"].size(), 1u);
  const json& cluster = doc["clusters"][0];
  EXPECT_EQ(cluster["padded_runs"], 1) << cluster;
  ASSERT_EQ(cluster["open_dimensions"].size(), 1u);
  EXPECT_EQ(cluster["open_dimensions"][0]["dimension"], 0);
  EXPECT_EQ(cluster["open_dimensions"][0]["padded"], true);
}

TEST(PjrtBuckets, RefuseOtherTexts) {
  const Finished run = GraphRun({"run", kMlp, "--xla-buckets", "8,4"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--xla-buckets"), HasSubstr("4 follows 8")));
}

// The process ends long before the compiler does.
TEST(PjrtAsync, AnswersMeanwhileAndEnds) {
  std::vector<std::string> args = GoldenRun("mlp", {"x"}, {"out"});
  args.insert(args.end(), {"--plugin", Reference() + ";option.compile_ms=120000", "--xla-async",
                           "--json", "--runs", "3"});
  const auto begin = std::chrono::steady_clock::now();
  const Finished run = GraphRun(args);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(run.exit, 0) << run.err;
  const json doc = json::parse(run.out);
  for (const json& expect : doc["expect"]) EXPECT_TRUE(expect["ok"]) << expect;
  EXPECT_EQ(doc["clusters"][0]["compiling"], 1);
}

TEST(PjrtDevices, AreListedWithTheirKind) {
  const json doc = Document({"devices", "--plugin", Reference() + ";option.device_count=2"});
  int count = 0;
  for (const json& device : doc["devices"]) {
    if (device["kind"] != "pjrt") continue;
    EXPECT_EQ(device["name"], "/physical_device:REFERENCE:" + std::to_string(count++));
    EXPECT_NE(device["hardware"], "");
  }
  EXPECT_EQ(count, 2);
  EXPECT_EQ(doc["plugins"][0]["pjrt"]["platform"], "reference");
}

TEST(PjrtDevices, PluginCheckMakesAClientOnlyIfAsked) {
  const auto check = [](const std::vector<std::string>& args) {
    return json::parse(GraphRun(args).out, nullptr, false);
  };
  const json table = check({"plugin", "check", Reference(), "--json"});
  EXPECT_EQ(table["init"]["kind"], "pjrt");
  EXPECT_EQ(table["init"]["pjrt"]["platform"], "");
  const json client = check({"plugin", "check", Reference(), "--init", "--json"});
  EXPECT_EQ(client["init"]["pjrt"]["platform"], "reference");
}

}  // namespace
}  // namespace tenon::testing::pjrt_test
