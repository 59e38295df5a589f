// What becomes one kernel on OpenCL devices: elementwise nodes by the graph pass of the plug-in,
// with the same bits, and attention by the host's passes.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/e2e/opencl_util.h"
#include "tests/e2e/process_util.h"

namespace tenon::opencl_test {
namespace {

using ::tenon::testing::Finished;
using ::tenon::testing::GraphRun;
using ::tenon::testing::ReadFile;
using ::tenon::testing::TempFile;
using ::tenon::testing::TempPath;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Attr(const std::string& name, const std::string& value) {
  return " attr { key: '" + name + "' value { " + value + " } }";
}
std::string Type(const std::string& name, const std::string& type) {
  return Attr(name, "type: " + type);
}

// A node of a GraphDef, with attribute T unless `type` is empty.
std::string Node(const std::string& name, const std::string& op,
                 const std::vector<std::string>& inputs, const std::string& type,
                 const std::string& more = "") {
  std::string text = "node { name: '" + name + "' op: '" + op + "'";
  for (const std::string& input : inputs) text += " input: '" + input + "'";
  return text + (type.empty() ? "" : Type("T", type)) + more + " }\n";
}

std::string Placeholder(const std::string& name, const std::string& type, const std::string& dims) {
  std::string shape;
  for (const absl::string_view dim : absl::StrSplit(dims, ',', absl::SkipEmpty()))
    absl::StrAppend(&shape, "dim { size: ", dim == "?" ? "-1" : dim, " } ");
  return Node(name, "Placeholder", {}, "",
              Type("dtype", type) + Attr("shape", "shape { " + shape + "}"));
}

constexpr char kOff[] = "--disable-pass=plugin:OPENCL";

// Runs the graph with the pass and without it. The results must have the same bits. Returns what
// the pass did.
std::string RunBothWays(const std::string& graph, const std::vector<std::string>& feeds,
                        const std::vector<std::string>& outputs,
                        const std::map<std::string, std::string>& environment = {}) {
  const std::string file = TempFile("fusion.pbtxt", graph);
  std::string changes;
  std::vector<std::string> bytes[2];
  for (const bool fused : {false, true}) {
    std::vector<std::string> args = {"run", file, "--device", "OPENCL:0", "--print-changed=diff"};
    if (!fused) args.push_back(kOff);
    for (const std::string& feed : feeds) args.insert(args.end(), {"--input", feed});
    for (const std::string& output : outputs)
      args.insert(args.end(), {"--output", output + "=@" + TempPath(output + ".npy")});
    const Finished run = OnDevice(args, environment);
    EXPECT_EQ(run.exit, 0) << run.err;
    if (fused) changes = run.err;
    for (const std::string& output : outputs)
      bytes[fused ? 1 : 0].push_back(ReadFile(TempPath(output + ".npy")));
  }
  EXPECT_EQ(bytes[0], bytes[1]) << graph << changes;
  return changes;
}

// The line of the diff that adds the node.
std::string AddedLine(const std::string& changes, const std::string& node) {
  const size_t begin = changes.find("+ " + node + " = ");
  if (begin == changes.npos) return "";
  return changes.substr(begin, changes.find('\n', begin) - begin);
}

class OpenClFusion : public OpenCl {};

TEST_F(OpenClFusion, AChainWithBroadcastsAndConstantsIsOneKernel) {
  const std::string graph =
      Placeholder("x", "DT_FLOAT", "?,4") + Placeholder("bias", "DT_FLOAT", "4") +
      Node("half", "Const", {}, "",
           Type("dtype", "DT_FLOAT") +
               Attr("value", "tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0.5 }")) +
      Node("scaled", "Mul", {"x", "half"}, "DT_FLOAT") +
      Node("shifted", "AddV2", {"scaled", "bias"}, "DT_FLOAT") +
      Node("leaky", "LeakyRelu", {"shifted"}, "DT_FLOAT", Attr("alpha", "f: 0.25")) +
      Node("above", "Greater", {"leaky", "x"}, "DT_FLOAT") +
      Node("number", "Cast", {"above"}, "", Type("SrcT", "DT_BOOL") + Type("DstT", "DT_FLOAT")) +
      Node("y", "Select", {"above", "number", "leaky"}, "DT_FLOAT");
  const std::string changes =
      RunBothWays(graph, {"x=3x4xf32=random(seed=1)", "bias=4xf32=random(seed=2)"}, {"y"});
  // Select chooses rows, too: with an unknown dimension it stays.
  EXPECT_THAT(AddedLine(changes, "leaky"),
              HasSubstr("program=\"Mul(x0, 0.5:float); AddV2(v0, x1); LeakyRelu[0.25](v1)\""));
  EXPECT_THAT(AddedLine(changes, "y"), Not(HasSubstr("_OpenCLFused")));
}

// What goes on with whole rows stands at the end of a group, on processors and on GPUs.
class OpenClFusionEnds : public OpenClFusion, public ::testing::WithParamInterface<const char*> {};

TEST_P(OpenClFusionEnds, SoftmaxNormAndReductionsAreOneKernelWithWhatStandsBefore) {
  const std::string axis =
      "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: -1 }";
  const std::string both =
      "tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 0 int_val: 1 }";
  const auto reduce = [](const std::string& op, const std::string& first, const std::string& axes,
                         const char* keep) {
    return Node(op, op, {"square_" + op, axes}, "DT_FLOAT",
                Type("Tidx", "DT_INT32") + Attr("keep_dims", keep)) +
           Node("square_" + op, "Square", {"first_" + op}, "DT_FLOAT") +
           Node("first_" + op, first, {"x", "row"}, "DT_FLOAT");
  };
  const std::string graph =
      Placeholder("x", "DT_FLOAT", "?,?") + Placeholder("row", "DT_FLOAT", "?") +
      Placeholder("column", "DT_FLOAT", "?,1") +
      Node("axis", "Const", {}, "", Type("dtype", "DT_INT32") + Attr("value", axis)) +
      Node("both", "Const", {}, "", Type("dtype", "DT_INT32") + Attr("value", both)) +
      Node("scaled", "Mul", {"x", "column"}, "DT_FLOAT") +
      Node("masked", "AddV2", {"scaled", "row"}, "DT_FLOAT") +
      Node("soft", "Softmax", {"masked"}, "DT_FLOAT") +
      Node("residual", "AddV2", {"x", "column"}, "DT_FLOAT") +
      Node("norm", "_TenonLayerNorm", {"residual", "row", "row"}, "DT_FLOAT",
           Attr("epsilon", "f: 0.001")) +
      reduce("Mean", "AddV2", "axis", "b: true") + reduce("Max", "Sub", "axis", "b: false") +
      reduce("Sum", "Mul", "both", "b: false");
  const std::string changes = RunBothWays(
      graph,
      {"x=5x83xf32=random(seed=1)", "row=83xf32=random(seed=2)", "column=5x1xf32=random(seed=3)"},
      {"soft", "norm", "Mean", "Max", "Sum"}, {{"TENON_OPENCL_KERNELS", GetParam()}});
  EXPECT_THAT(AddedLine(changes, "soft"), HasSubstr("end=\"Softmax\""));
  EXPECT_THAT(AddedLine(changes, "norm"), HasSubstr("end=\"LayerNorm\""));
  EXPECT_THAT(AddedLine(changes, "Mean"), HasSubstr("_OpenCLFusedRowsKept"));
  EXPECT_THAT(AddedLine(changes, "Max"), HasSubstr("_OpenCLFusedRows"));
  EXPECT_THAT(AddedLine(changes, "Sum"), HasSubstr("_OpenCLFusedAll"));
}

INSTANTIATE_TEST_SUITE_P(All, OpenClFusionEnds, ::testing::Values("cpu", "gpu"));

// A value of 16 or 8 bits is rounded, or wraps, where the chain of ops would store it.
class OpenClFusionTypes
    : public OpenClFusion,
      public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(OpenClFusionTypes, EachValueIsRoundedToItsType) {
  const auto& [type, numpy] = GetParam();
  const std::string graph =
      Placeholder("a", type, "9") + Placeholder("b", type, "9") +
      Node("m", "Mul", {"a", "b"}, type) + Node("n", "Mul", {"m", "m"}, type) +
      Node("s", "Sub", {"n", "a"}, type) + Node("q", "Square", {"s"}, type) +
      Node("e", "Equal", {"q", "m"}, type) + Node("l", "Less", {"s", "b"}, type) +
      Node("y", "Maximum", {"q", "m"}, type) + Node("both", "LogicalOr", {"e", "l"}, "");
  const std::string spec = std::string("9x") + numpy + "=1,3,5,7,11,13,17,100,120";
  const std::string changes = RunBothWays(graph, {"a=" + spec, "b=" + spec}, {"y", "both"});
  EXPECT_THAT(changes, HasSubstr("_OpenCLFused"));
}

INSTANTIATE_TEST_SUITE_P(
    All, OpenClFusionTypes,
    ::testing::Values(std::pair("DT_FLOAT", "f32"), std::pair("DT_HALF", "f16"),
                      std::pair("DT_BFLOAT16", "bf16"), std::pair("DT_DOUBLE", "f64"),
                      std::pair("DT_INT32", "i32"), std::pair("DT_INT64", "i64"),
                      std::pair("DT_INT16", "i16"), std::pair("DT_INT8", "i8"),
                      std::pair("DT_UINT8", "u8"), std::pair("DT_UINT16", "u16"),
                      std::pair("DT_UINT32", "u32"), std::pair("DT_UINT64", "u64")));

// Random graphs without cycles: results with several readers, fetched ones in the middle, operands
// that broadcast, control edges.
class OpenClFusionGraphs : public OpenClFusion, public ::testing::WithParamInterface<int> {};

TEST_P(OpenClFusionGraphs, AnswerTheSameBits) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const std::vector<std::string> unary = {"Relu", "Tanh", "Neg", "Abs", "Square", "Sigmoid"},
                                 binary = {"AddV2", "Sub", "Mul", "Maximum", "Minimum"};
  std::vector<std::string> names = {"x", "row", "one"};
  std::string graph = Placeholder("x", "DT_FLOAT", "5,7") + Placeholder("row", "DT_FLOAT", "7") +
                      Placeholder("one", "DT_FLOAT", "");
  const size_t nodes = 10 + below(30);
  for (size_t i = 0; i < nodes; ++i) {
    const auto any = [&] {
      return names[below(4) == 0 ? below(names.size())
                                 : names.size() - 1 - below(std::min(names.size(), size_t{4}))];
    };
    const std::string name = "n" + std::to_string(i);
    std::vector<std::string> inputs = {any()};
    const bool two = below(2) == 0;
    if (two) inputs.push_back(any());
    if (below(12) == 0) inputs.push_back("^" + names[below(names.size())]);
    graph += Node(name, two ? binary[below(binary.size())] : unary[below(unary.size())], inputs,
                  "DT_FLOAT");
    names.push_back(name);
  }
  const std::string changes =
      RunBothWays(graph, {"x=5x7xf32=random(seed=1)", "row=7xf32=random(seed=2)", "one=f32=0.75"},
                  {names.back(), names[names.size() - 4], names[names.size() / 2]});
  EXPECT_THAT(changes, HasSubstr("_OpenCLFused"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, OpenClFusionGraphs, ::testing::Range(1, 9));

// The pass knows its device under the name that the user gave it.
TEST_F(OpenClFusion, WorksForARenamedDevice) {
  const std::string graph =
      TempFile("renamed.pbtxt",
               Placeholder("x", "DT_FLOAT", "3") + Node("a", "Square", {"x"}, "DT_FLOAT") +
                   Node("b", "Relu", {"a"}, "DT_FLOAT") + Node("y", "Neg", {"b"}, "DT_FLOAT"));
  const Finished run =
      GraphRun({"run", graph, "--input", "x=3xf32=1,2,3", "--expect", "y=3xf32=-1,-4,-9",
                "--print-changed=diff", "--plugin", Plugin() + ";as=GPU"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("_OpenCLFused(x) T=DT_FLOAT Tin=[DT_FLOAT]"));
}

TEST_F(OpenClFusion, ProgramsTakeNumbersThatAreNotFinite) {
  const char* const program =
      "AddV2(x0, inf:float); Mul(v0, -inf:float); LeakyRelu[nan](v1); LeakyRelu[inf](v2)";
  const std::string graph = TempFile(
      "infinite.pbtxt", Placeholder("x", "DT_FLOAT", "3") +
                            Node("y", "_OpenCLFused", {"x"}, "DT_FLOAT",
                                 Attr("Tin", "list { type: DT_FLOAT }") +
                                     Attr("program", std::string("s: '") + program + "'")));
  const Finished run =
      OnDevice({"run", graph, "--input", "x=3xf32=ones", "--output", "y", "--device", "OPENCL:0"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

// A graph may hold any program. One that is none is an error of its node.
class OpenClBadPrograms
    : public OpenClFusion,
      public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(OpenClBadPrograms, AreRefused) {
  const auto& [program, why] = GetParam();
  const std::string graph =
      TempFile("bad.pbtxt", Placeholder("x", "DT_FLOAT", "3") +
                                Node("y", "_OpenCLFused", {"x"}, "DT_FLOAT",
                                     Attr("Tin", "list { type: DT_FLOAT }") +
                                         Attr("program", std::string("s: '") + program + "'")));
  const Finished run =
      OnDevice({"run", graph, "--input", "x=3xf32=ones", "--output", "y", "--device", "OPENCL:0"});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr(why));
  EXPECT_THAT(run.err, HasSubstr("'y'"));
}

INSTANTIATE_TEST_SUITE_P(
    All, OpenClBadPrograms,
    ::testing::Values(std::pair("", "a word is missing"), std::pair("Relu", "'(' is missing"),
                      std::pair("Relu(x0", "')' is missing"),
                      std::pair("Relu(x0) }", "text behind the end"),
                      std::pair("Relu(x1)", "there is no value 'x1'"),
                      std::pair("Relu(v0)", "there is no value 'v0'"),
                      std::pair("Relu(x0x)", "there is no value 'x0x'"),
                      std::pair("Gelu(x0)", "'Gelu' is no op of a program"),
                      std::pair("Relu(x0, x0)", "Relu has 1 operands"),
                      std::pair("AddV2(x0, 1:int32)", "differ in type"),
                      std::pair("AddV2(x0, 1)", "':' is missing"),
                      std::pair("AddV2(x0, 1;:float)", "':' is missing"),
                      std::pair("AddV2(x0, 1e:float)", "'1e' is no number"),
                      std::pair("AddV2(x0, 1:string)", "'string' is no type of a program"),
                      std::pair("Cast<float>(1.5:int32)", "'1.5' is no int32"),
                      std::pair("Cast<float>(128:int8)", "'128' is no int8"),
                      std::pair("Cast<float>(-129:int8)", "'-129' is no int8"),
                      std::pair("Cast<float>(-1:uint64)", "'-1' is no uint64"),
                      std::pair("Cast<float>(9223372036854775808:int64)", "is no int64"),
                      std::pair("LeakyRelu(x0)", "needs a number in brackets"),
                      std::pair("Relu[1](x0)", "has no number in brackets"),
                      std::pair("Cast(x0)", "has a type in angles"),
                      std::pair("BitwiseAnd(x0, x0)", "of this type is no op of a program"),
                      std::pair("SelectV2(x0, x0, x0)", "has a bool and two operands"),
                      std::pair("IsNan(x0)", "is not the type of its program's result")));

// softmax(q * k^T / 4 + mask) * v of two heads.
struct Heads {
  int rows, keys, depth, width;
  std::string mask;     // a SPEC of `keys` floats; empty: none
  std::string kernels;  // for a processor or a GPU
};

// All in floats, or from the feeds on in doubles.
std::string AttentionGraph(const Heads& h, bool doubles) {
  const std::string type = doubles ? "DT_DOUBLE" : "DT_FLOAT";
  std::string text;
  const auto feed = [&](const std::string& name, const std::string& dims) {
    text += Placeholder(name, "DT_FLOAT", dims) +
            Node("as_" + name, "Cast", {name}, "", Type("SrcT", "DT_FLOAT") + Type("DstT", type));
    return "as_" + name;
  };
  const auto head = [](int rows, int columns) { return absl::StrCat("1,2,", rows, ",", columns); };
  const std::string q = feed("q", head(h.rows, h.depth)), k = feed("k", head(h.keys, h.depth)),
                    v = feed("v", head(h.keys, h.width));
  text += Node("quarter", "Const", {}, "",
               Type("dtype", type) +
                   Attr("value", "tensor { dtype: " + type + " tensor_shape {} " +
                                     (doubles ? "double" : "float") + "_val: 0.25 }")) +
          Node("products", "BatchMatMulV2", {q, k}, type, Attr("adj_y", "b: true")) +
          Node("scores", "Mul", {"products", "quarter"}, type);
  if (!h.mask.empty())
    text += Node("masked", "AddV2", {"scores", feed("mask", absl::StrCat(h.keys))}, type);
  return text + Node("weights", "Softmax", {h.mask.empty() ? "scores" : "masked"}, type) +
         Node("result", "BatchMatMulV2", {"weights", v}, type) +
         Node("y", "Cast", {"result"}, "", Type("SrcT", type) + Type("DstT", "DT_FLOAT"));
}

// The host makes one op of it, whose rounding differs from that of the ops: so answers in double
// precision are right, for one kernel with an online softmax as for a chain of kernels.
class OpenClAttention : public OpenCl, public ::testing::WithParamInterface<Heads> {};

TEST_P(OpenClAttention, AnswersAsInDoublePrecision) {
  const Heads& h = GetParam();
  const std::string answer = TempPath("attention.npy");
  const auto args = [&](bool doubles) {
    const auto head = [](const char* name, int rows, int columns) {
      return absl::StrCat(name, "=1x2x", rows, "x", columns, "xf32=random(seed=", int{*name},
                          ",lo=-1,hi=1)");
    };
    std::vector<std::string> args = {
        "run",     TempFile("attention.pbtxt", AttentionGraph(h, doubles)),
        "--input", head("q", h.rows, h.depth),
        "--input", head("k", h.keys, h.depth),
        "--input", head("v", h.keys, h.width)};
    if (!h.mask.empty()) args.insert(args.end(), {"--input", "mask=" + h.mask});
    return args;
  };
  std::vector<std::string> host = args(true);
  host.insert(host.end(), {"--output", "y=@" + answer});
  const Finished right = GraphRun(host);
  ASSERT_EQ(right.exit, 0) << right.err;
  std::vector<std::string> device = args(false);
  device.insert(device.end(),
                {"--expect", "y=@" + answer, "--device", "OPENCL:0", "--no-fallback",
                 "--print-changed=diff", "--equal-nan", "--rtol=2e-6", "--atol=1e-6"});
  const Finished compared = OnDevice(device, {{"TENON_OPENCL_KERNELS", h.kernels}});
  EXPECT_EQ(compared.exit, 0) << compared.out << compared.err;
  EXPECT_THAT(compared.err, HasSubstr("_TenonAttention"));
}

// A mask that leaves no weight to the first 64 keys, with which the row's maximum begins as
// -infinity.
std::string LateKeys(int keys) {
  std::vector<std::string> values(static_cast<size_t>(keys), "-inf");
  for (size_t i = 64; i < values.size(); ++i) values[i] = "0.5";
  return absl::StrCat(keys, "xf32=", absl::StrJoin(values, ","));
}

// With two compute units a work-item of the kernel for GPUs has 1, 2 and 4 rows; long heads have
// smaller blocks of keys. Rows without any weight are NaN. Heads of 6 or 130 elements go through a
// chain of kernels, as all on processors.
INSTANTIATE_TEST_SUITE_P(
    All, OpenClAttention,
    ::testing::Values(Heads{5, 70, 8, 12, LateKeys(70), "gpu"}, Heads{20, 64, 64, 64, "", "gpu"},
                      Heads{41, 130, 64, 32, "130xf32=random(seed=4,lo=-3,hi=3)", "gpu"},
                      Heads{40, 80, 96, 72, LateKeys(80), "gpu"},
                      Heads{9, 12, 64, 64, LateKeys(12), "gpu"},
                      Heads{3, 5, 6, 4, "5xf32=random(seed=4)", "gpu"},
                      Heads{4, 7, 130, 8, "", "gpu"}, Heads{20, 70, 8, 12, LateKeys(70), "cpu"}));

}  // namespace
}  // namespace tenon::opencl_test
