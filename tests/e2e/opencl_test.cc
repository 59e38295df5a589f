// The plug-in for OpenCL devices: devices, ops against TensorFlow's answers, models, the rules of
// the ABI, the cache of compiled programs.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
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
    ::testing::Values(
        "ops/Relu", "ops/AddV2", "ops/FloorDiv", "ops/SelectV2", "ops/Sum", "ops/ArgMax",
        "ops/Softmax", "ops/Transpose", "ops/ConcatV2", "ops/StridedSlice", "ops/GatherV2",
        "ops/MatMul", "ops/BatchMatMulV2", "ops/Conv2D", "ops/DepthwiseConv2dNative", "ops/MaxPool",
        "ops/FusedBatchNormV3", "ops/Reshape", "ops/ResizeBilinear", "ops/EmptyAndScalar",
        "ops/HostileIndices", "ops/Fill", "ops/OneHot", "ops/MatrixBandPart", "ops/RsqrtGrad",
        "ops/SigmoidGradSizes", "ops/CastTruncate", "state/ResourceApplyAdam",
        "ops/Conv2DBackpropInput", "ops/Conv2DBackpropFilter",
        "ops/DepthwiseConv2dNativeBackpropInput", "ops/DepthwiseConv2dNativeBackpropFilter",
        "ops/MaxPoolGrad", "ops/MaxPoolGradGrad", "ops/AvgPoolGrad", "ops/FusedBatchNormGradV3",
        "ops/StridedSliceGrad", "ops/ResizeBilinearGrad", "ops/ResizeNearestNeighborGrad",
        "ops/CropAndResize", "ops/MirrorPad", "ops/ScatterNd", "ops/TensorScatterMax",
        "ops/UnsortedSegmentSum", "ops/UnsortedSegmentMax", "ops/DenseBincount", "ops/TopKV2",
        "ops/Cumsum", "ops/Einsum", "ops/BroadcastGradientArgs", "ops/ConcatOffset",
        "ops/InvertPermutation", "ops/StatelessRandomUniformV2", "ops/StatelessRandomNormal",
        "ops/StatelessTruncatedNormal", "ops/StatelessRandomUniformInt", "ops/RandomUniform",
        "state/ResourceGather", "state/ResourceGatherNd", "state/ResourceScatterAdd",
        "state/ResourceScatterDiv", "state/ResourceScatterNdUpdate", "state/ResourceApplyFtrlV2"));

// Kernels that only GPUs have, on the processor that tests have.
class OpenClGpuOps : public OpenCl, public ::testing::WithParamInterface<const char*> {};

TEST_P(OpenClGpuOps, AnswerAsTensorFlow) {
  const std::string graph = std::string("tests/golden/ops/") + GetParam() + ".pbtxt.xz";
  const Finished check = OnDevice({"check", graph, "--json", "--device", "OPENCL:0"},
                                  {{"TENON_OPENCL_KERNELS", "gpu"}});
  EXPECT_EQ(check.exit, 0) << check.out << check.err;
  EXPECT_GT(json::parse(check.out)["plugins"][0]["cases"], 0);
}

INSTANTIATE_TEST_SUITE_P(All, OpenClGpuOps,
                         ::testing::Values("MaxPool", "DepthwiseConv2dNative", "Softmax", "Sum",
                                           "Conv2DBackpropFilter", "FusedBatchNormGradV3",
                                           "ScatterNd", "UnsortedSegmentSum", "TopKV2"));

struct Product {
  int m, n, k;
  bool transpose_a, transpose_b;
};

// A GPU's products, on the processor that tests have.
class OpenClProducts : public OpenCl, public ::testing::WithParamInterface<Product> {};

TEST_P(OpenClProducts, OfAGpuAnswerAsTheHost) {
  const Product p = GetParam();
  const auto side = [](const char* name, int rows, int columns, bool transposed) {
    if (transposed) std::swap(rows, columns);
    return std::pair(
        absl::StrCat("node { name: '", name, "' op: 'Placeholder' attr { key: 'dtype' value { ",
                     "type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: ", rows,
                     " } dim { size: ", columns, " } } } } } "),
        absl::StrCat(name, "=", rows, "x", columns, "xf32=random(seed=1)"));
  };
  const auto [a, a_spec] = side("a", p.m, p.k, p.transpose_a);
  const auto [b, b_spec] = side("b", p.k, p.n, p.transpose_b);
  const auto flag = [](const char* name, bool value) {
    return absl::StrCat("attr { key: '", name, "' value { b: ", value ? "true" : "false", " } } ");
  };
  const std::string graph = TempFile(
      "product.pbtxt",
      absl::StrCat(a, b, "node { name: 'y' op: 'MatMul' input: 'a' input: 'b' attr { key: 'T' ",
                   "value { type: DT_FLOAT } } ", flag("transpose_a", p.transpose_a),
                   flag("transpose_b", p.transpose_b), "}"));
  const std::string answer = TempPath("product.npy");
  const std::vector<std::string> run = {"run", graph, "--input", a_spec, "--input", b_spec};
  std::vector<std::string> host = run, device = run;
  host.insert(host.end(), {"--output", "y=@" + answer});
  ASSERT_EQ(GraphRun(host).exit, 0);
  device.insert(device.end(), {"--expect", "y=@" + answer, "--device", "OPENCL:0", "--no-fallback",
                               "--rtol=1e-5", "--atol=1e-4"});
  const Finished compared = OnDevice(device, {{"TENON_OPENCL_KERNELS", "gpu"}});
  EXPECT_EQ(compared.exit, 0) << compared.out << compared.err;
}

// With two compute units these are tiles of 128 x 128, of 128 x 64, of 64 x 64 in parts, and
// products that are no whole tiles.
INSTANTIATE_TEST_SUITE_P(All, OpenClProducts,
                         ::testing::Values(Product{256, 128, 40, false, false},
                                           Product{128, 128, 48, false, true},
                                           Product{128, 128, 48, true, false},
                                           Product{64, 64, 1024, true, true},
                                           Product{130, 66, 50, false, true}));

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

// A window over channels with another step, which no kernel here computes.
TEST_F(OpenCl, RefusesWindowsOverChannelsThatOverlap) {
  const std::string graph = TempFile(
      "pool.pbtxt",
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
      "node { name: 'y' op: 'MaxPool' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } "
      "attr { key: 'ksize' value { list { i: [1, 1, 1, 2] } } } "
      "attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } } "
      "attr { key: 'padding' value { s: 'VALID' } } }\n");
  const Finished run = OnDevice(
      {"run", graph, "--input", "x=1x1x1x4xf32=1,2,3,4", "--device", "OPENCL:0", "--no-fallback"});
  EXPECT_NE(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("MaxPool"));
}

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

// A product of four rows has three ways on a processor. The fastest is kept on disk beside the
// programs; what is damaged there is measured anew.
TEST_F(OpenCl, TunesProductsIfToldTo) {
  const auto side = [](const char* name, int rows, int columns) {
    return absl::StrCat("node { name: '", name, "' op: 'Placeholder' attr { key: 'dtype' value { ",
                        "type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: ", rows,
                        " } dim { size: ", columns, " } } } } }\n");
  };
  const std::string folder = TempPath("opencl_tuned");
  const std::string graph = TempFile(
      "tuned.pbtxt",
      absl::StrCat(side("a", 4, 40), side("b", 40, 24),
                   "node { name: 'y' op: 'MatMul' input: ['a', 'b'] attr { key: 'T' value { type: "
                   "DT_FLOAT } } }\n"));
  const std::vector<std::string> feeds = {"run",     graph,
                                          "--input", "a=4x40xf32=random(seed=1)",
                                          "--input", "b=40x24xf32=random(seed=2)"};
  const std::string answer = TempPath("tuned.npy");
  std::vector<std::string> host = feeds, device = feeds;
  host.insert(host.end(), {"--output", "y=@" + answer});
  ASSERT_EQ(GraphRun(host).exit, 0);
  device.insert(device.end(), {"--expect", "y=@" + answer, "--device", "OPENCL:0", "--no-fallback",
                               "--rtol=1e-5", "--atol=1e-5"});
  // The file of the choice is the one that is no program.
  const auto run = [&](const char* tune) {
    const Finished run = OnDevice(device, {{"TENON_OPENCL_CACHE", folder},
                                           {"TENON_OPENCL_KERNELS", "cpu"},
                                           {"TENON_OPENCL_TUNE", tune}});
    EXPECT_EQ(run.exit, 0) << run.out << run.err;
    std::vector<std::string> choices;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.file_size() < 1000) choices.push_back(file.path().filename().string());
    }
    return choices;
  };
  EXPECT_EQ(run("0").size(), 0u);
  const std::vector<std::string> choices = run("1");
  ASSERT_EQ(choices.size(), 1u);
  const std::string path = "opencl_tuned/" + choices[0];
  std::string bytes = ReadFile(TempPath(path));
  ASSERT_LT(bytes.back(), 3);
  bytes.back() = 77;
  TempFile(path, bytes);
  EXPECT_EQ(run("1"), choices);
  EXPECT_LT(ReadFile(TempPath(path)).back(), 3);
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

TEST_F(OpenCl, AttributesMayBeInfinite) {
  const std::string graph = TempFile(
      "leaky.pbtxt",
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
      "node { name: 'y' op: 'LeakyRelu' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }\n"
      "  attr { key: 'alpha' value { f: inf } } }\n");
  const std::string answer = TempPath("leaky.npy");
  ASSERT_EQ(GraphRun({"run", graph, "--input", "x=[3.0, -2.0]", "--output", "y=@" + answer}).exit,
            0);
  const Finished run = OnDevice({"run", graph, "--input", "x=[3.0, -2.0]", "--expect",
                                 "y=@" + answer, "--device", "OPENCL:0", "--no-fallback"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

// A product into which nothing is fused: the empty list is read as one.
TEST_F(OpenCl, AListOfTextsMayBeEmpty) {
  const auto side = [](const char* name) {
    return absl::StrCat("node { name: '", name, "' op: 'Placeholder' attr { key: 'dtype' value { ",
                        "type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: 2 } ",
                        "dim { size: 2 } } } } }\n");
  };
  const std::string graph = TempFile(
      "fused.pbtxt",
      absl::StrCat(side("a"), side("b"), "node { name: 'y' op: '_FusedMatMul' input: ['a', 'b']\n",
                   "  attr { key: 'T' value { type: DT_FLOAT } }\n",
                   "  attr { key: 'num_args' value { i: 0 } }\n",
                   "  attr { key: 'fused_ops' value { list {} } } }\n"));
  const Finished run =
      OnDevice({"run", graph, "--input", "a=2x2xf32=ones", "--input", "b=2x2xf32=ones", "--output",
                "y", "--device", "OPENCL:0", "--no-fallback"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
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
