// The plug-in for OpenCL devices: devices, ops against TensorFlow's answers, models, the rules of
// the ABI, the cache of compiled programs.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/opencl_util.h"
#include "tests/e2e/process_util.h"

namespace tenon::opencl_test {
namespace {

using ::nlohmann::json;
using ::tenon::testing::Finished;
using ::tenon::testing::GraphRun;
using ::tenon::testing::ReadFile;
using ::tenon::testing::TempFile;
using ::tenon::testing::TempPath;
using ::testing::HasSubstr;

TEST_F(OpenCl, VariablesChooseAmongDevices) {
  EXPECT_THAT(OnDevice({"devices"}, {{"TENON_OPENCL_PLATFORM", "0"}}).out, HasSubstr("OPENCL:0"));
  const Finished none = OnDevice({"devices"}, {{"TENON_OPENCL_DEVICE", "no device has this name"}});
  EXPECT_EQ(none.exit, 0) << none.err;
  EXPECT_THAT(none.out, ::testing::Not(HasSubstr("OPENCL:0")));
}

TEST_F(OpenCl, PluginCheckFindsNoFault) {
  const Finished check = GraphRun({"plugin", "check", Plugin(), "--json"});
  EXPECT_EQ(check.exit, 0) << check.out << check.err;
  const json doc = json::parse(check.out);
  EXPECT_EQ(doc["verdict"], "loads");
  EXPECT_EQ(doc["init"]["doubts"], json::array());
}

// One op of each way in which kernels work; all others share their code.
class OpenClOps : public OpenCl, public ::testing::WithParamInterface<const char*> {};

TEST_P(OpenClOps, AnswersAsTensorFlow) {
  const std::string graph = std::string("tests/golden/") + GetParam() + ".pbtxt.xz";
  const Finished check = OnDevice({"check", graph, "--json", "--device", "OPENCL:0"});
  EXPECT_EQ(check.exit, 0) << check.out << check.err;
  const json doc = json::parse(check.out);
  EXPECT_GT(doc["plugins"][0]["cases"], 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, OpenClOps,
    ::testing::Values("ops/Relu", "ops/AddV2", "ops/FloorDiv", "ops/SelectV2", "ops/Sum",
                      "ops/ArgMax", "ops/Softmax", "ops/Transpose", "ops/ConcatV2",
                      "ops/StridedSlice", "ops/GatherV2", "ops/MatMul", "ops/BatchMatMulV2",
                      "ops/Conv2D", "ops/DepthwiseConv2dNative", "ops/MaxPool",
                      "ops/FusedBatchNormV3", "ops/Reshape", "ops/ResizeBilinear",
                      "ops/EmptyAndScalar", "ops/HostileIndices", "ops/Fill", "ops/OneHot",
                      "ops/MatrixBandPart", "ops/RsqrtGrad", "ops/SigmoidGradSizes",
                      "ops/CastTruncate", "state/ResourceApplyAdam"));

TEST_F(OpenCl, ModelRunsWithoutANodeOnTheHost) {
  const std::string model = "tests/golden/models/mlp";
  std::vector<std::string> args = {"run",      model + "/graph.pbtxt", "--device",
                                   "OPENCL:0", "--no-fallback",        "--abi-check=strict"};
  for (const auto& [folder, flag] :
       {std::pair("feeds", "--input"), std::pair("fetches", "--expect")}) {
    for (const auto& file : std::filesystem::directory_iterator(model + "/" + folder)) {
      args.push_back(flag);
      args.push_back(file.path().stem().string() + "=@" + file.path().string());
    }
  }
  const Finished run = OnDevice(args);
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("matches"));
}

constexpr char kRelu[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
    "node { name: 'y' op: 'Relu' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }\n";

// A file of the cache that is damaged is compiled again, and a folder that cannot be written to
// costs nothing but time.
TEST_F(OpenCl, DamagedProgramsAreCompiledAgain) {
  const std::string folder = TempPath("opencl_cache"), graph = TempFile("relu.pbtxt", kRelu);
  const auto run = [&](const std::string& cache) {
    return OnDevice(
        {"run", graph, "--input", "x=3xf32=ones", "--output", "y", "--device", "OPENCL:0"},
        {{"TENON_OPENCL_CACHE", cache}});
  };
  const Finished first = run(folder);
  ASSERT_EQ(first.exit, 0) << first.err;
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    ++files;
    std::string bytes = ReadFile(file.path().string());
    ASSERT_GT(bytes.size(), 1000u);
    bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);
    TempFile("opencl_cache/" + file.path().filename().string(), bytes);
  }
  EXPECT_GT(files, 0);
  EXPECT_EQ(run(folder).exit, 0);
  EXPECT_EQ(run("/proc/nowhere").exit, 0);
  EXPECT_EQ(run("off").exit, 0);
}

// Sign has cases with denormals, which count as zero: a program of the cache runs as it was built.
TEST_F(OpenCl, ProgramsOfTheCacheAnswerAsThoseThatWereCompiled) {
  const std::string folder = TempPath("opencl_warm_cache");
  for (const bool warm : {false, true}) {
    const Finished check =
        OnDevice({"check", "tests/golden/ops/Sign.pbtxt.xz", "--device", "OPENCL:0"},
                 {{"TENON_OPENCL_CACHE", folder}});
    EXPECT_EQ(check.exit, 0) << warm << check.out << check.err;
  }
}

// The error of a kernel that ran is told when the run ends, with node and value.
TEST_F(OpenCl, IndexOutOfRangeNamesNodeAndValue) {
  const std::string graph = TempFile(
      "gather.pbtxt",
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
      "node { name: 'i' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT64 } } }\n"
      "node { name: 'y' op: 'Gather' input: ['x', 'i'] attr { key: 'Tparams' value { type: "
      "DT_FLOAT } }\n"
      "  attr { key: 'Tindices' value { type: DT_INT64 } } }\n");
  const Finished run = OnDevice({"run", graph, "--input", "x=3xf32=ones", "--input", "i=[0, 7]",
                                 "--output", "y", "--device", "OPENCL:0"});
  EXPECT_EQ(run.exit, 1) << run.out;
  EXPECT_THAT(run.err, HasSubstr("indices: 7 is not in [0, 3) in node 'y' (Gather)"));
}

// A trace has the work of the device's queues, from OpenCL's own clock.
TEST_F(OpenCl, ProfilerShowsKernelsAndCopies) {
  const std::string graph = TempFile("relu.pbtxt", kRelu), trace = TempPath("opencl_trace.json");
  const Finished run = OnDevice({"run", graph, "--input", "x=3xf32=ones", "--output", "y",
                                 "--device", "OPENCL:0", "--trace", trace});
  ASSERT_EQ(run.exit, 0) << run.err;
  const std::string text = ReadFile(trace);
  EXPECT_THAT(text, HasSubstr("\"map\""));
  EXPECT_THAT(text, HasSubstr("copy to device"));
}

}  // namespace
}  // namespace tenon::opencl_test
