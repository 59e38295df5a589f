// Who runs what is written: names of targets, what they have, and graphs for old versions.
#include "grappler_lite/target/target.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "graph/functions/function_body.h"
#include "grappler_lite/target/target_graph.h"
#include "grappler_lite/target/tensorflow_versions.h"
#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Parse;

TEST(Target, HasAName) {
  for (const char* name : {"tenon", "tensorflow", "tensorflow@2.7", "tensorflow@2.21",
                           "tensorflow+onednn", "tensorflow@2.9+onednn"})
    EXPECT_EQ(Target::Parse(name)->name(), name);
  EXPECT_EQ(*Target::Parse("tensorflow@2.0"), *Target::Parse("tensorflow"));
  EXPECT_EQ(*Target::Parse("tensorflow@2.21+onednn"), *Target::Parse("tensorflow+onednn"));
  EXPECT_EQ(*Target::Parse("tenon"), Target());
  EXPECT_FALSE(Target().is_tensorflow());
  EXPECT_EQ(*Target::Parse("tensorflow@2.12+onednn"), Target::TensorFlow(12, true));
}

TEST(Target, RefusesOtherNames) {
  for (const char* name :
       {"", "Tensorflow", "tensorflow@", "tensorflow@2", "tensorflow@2.", "tensorflow@2.x",
        "tensorflow@2.07", "tensorflow@2.-1", "tensorflow@2.99999999999", "tensorflow@1.15",
        "tensorflow@2.3.1", "tensorflow+", "tensorflow+onednn@2.3", "tenon+onednn", "onednn"})
    EXPECT_FALSE(Target::Parse(name).ok()) << name;
  EXPECT_THAT(Target::Parse("tensorflw").status().message(),
              HasSubstr("'tensorflw' is no target (did you mean 'tensorflow'?); there are "));
  EXPECT_THAT(Target::Parse("tensorflow@2.22").status().message(),
              HasSubstr("the newest TensorFlow that is known is 2.21"));
}

// Whether the target has an op with these attributes, as a text has them.
bool Has(std::string_view target, std::string_view op, std::string_view attrs,
         bool grouped = false) {
  const Graph graph =
      Parse(absl::StrCat("node { name: 'x' op: 'Placeholder' ",
                         "attr { key: 'dtype' value { type: DT_FLOAT } } ", attrs, " }"));
  return Target::Parse(target)->Has(op, graph.attrs(graph.FindNode("x")), grouped);
}

std::string Fused(std::string_view fused, std::string_view more = "",
                  std::string_view type = "DT_FLOAT") {
  std::string attrs = absl::StrCat("attr { key: 'T' value { type: ", type, " } } ", more,
                                   " attr { key: 'fused_ops' value { list { ");
  for (std::string_view op : absl::StrSplit(fused, '+')) absl::StrAppend(&attrs, "s: '", op, "' ");
  return attrs + "} } }";
}

TEST(Target, HasWhatItsVersionFuses) {
  constexpr char kProduct[] = "_FusedMatMul", kImages[] = "_FusedConv2D";
  EXPECT_TRUE(Has("tensorflow", kProduct, Fused("BiasAdd+Relu")));
  EXPECT_FALSE(Has("tensorflow", kProduct, Fused("BiasAdd+LeakyRelu")));
  EXPECT_TRUE(Has("tensorflow@2.5", kProduct, Fused("BiasAdd+LeakyRelu")));
  EXPECT_FALSE(Has("tensorflow@2.15", kProduct, Fused("BiasAdd+Tanh")));
  EXPECT_TRUE(Has("tensorflow@2.16", kProduct, Fused("BiasAdd+Tanh")));
  EXPECT_FALSE(Has("tensorflow@2.19", kProduct, Fused("BiasAdd", "", "DT_BFLOAT16")));
  EXPECT_TRUE(Has("tensorflow@2.20", kProduct, Fused("BiasAdd", "", "DT_BFLOAT16")));
  EXPECT_FALSE(Has("tensorflow@2.21", kProduct, Fused("BiasAdd", "", "DT_DOUBLE")));
  EXPECT_FALSE(Has("tensorflow@2.10", kImages, Fused("BiasAdd")));
  EXPECT_TRUE(Has("tensorflow@2.11", kImages, Fused("BiasAdd")));
  EXPECT_FALSE(Has("tensorflow@2.11", kImages, Fused("BiasAdd"), /*grouped=*/true));
  EXPECT_TRUE(Has("tenon", kImages, Fused("BiasAdd+Tanh")));
}

TEST(Target, HasMoreWithOneDnn) {
  constexpr char kSecond[] = "attr { key: 'data_format' value { s: 'NCHW' } }";
  constexpr char kTransposed[] = "attr { key: 'transpose_a' value { b: true } }";
  constexpr char kPadded[] = "attr { key: 'padding' value { s: 'EXPLICIT' } }";
  const struct {
    const char *op, *fused, *more;
  } cases[] = {
      {"_FusedMatMul", "BiasAdd+GeluExact", ""}, {"_FusedMatMul", "BiasAdd+Add", ""},
      {"_FusedConv2D", "BiasAdd+Add+Relu", ""},  {"_FusedConv2D", "BiasAdd", kSecond},
      {"_FusedConv3D", "BiasAdd", ""},           {"_FusedDepthwiseConv2dNative", "BiasAdd", ""},
      {"_MklFusedBatchMatMulV2", "Mul+Add", ""}};
  for (const auto& c : cases) {
    EXPECT_FALSE(Has("tensorflow@2.21", c.op, Fused(c.fused, c.more))) << c.op << " " << c.fused;
    EXPECT_TRUE(Has("tensorflow+onednn", c.op, Fused(c.fused, c.more))) << c.op << " " << c.fused;
  }
  EXPECT_TRUE(Has("tensorflow+onednn", "_FusedConv2D", Fused("BiasAdd"), /*grouped=*/true));
  EXPECT_FALSE(Has("tensorflow+onednn", "_FusedMatMul", Fused("BiasAdd+Add", kTransposed)));
  EXPECT_FALSE(Has("tensorflow+onednn", "_FusedDepthwiseConv2dNative", Fused("BiasAdd", kPadded)));
  // For processors without AVX-512.
  EXPECT_FALSE(Has("tensorflow+onednn", "_FusedMatMul", Fused("BiasAdd+Add", "", "DT_BFLOAT16")));
  EXPECT_FALSE(Has("tensorflow@2.13+onednn", "_FusedConv2D", Fused("BiasAdd+Mish")));
  EXPECT_TRUE(Has("tensorflow@2.14+onednn", "_FusedConv2D", Fused("BiasAdd+Mish")));
}

TEST(Target, HasOpsOfItsVersion) {
  EXPECT_TRUE(Has("tensorflow", "AddV2", ""));
  EXPECT_FALSE(Has("tensorflow@2.5", "_TensorToHashBucketFast", ""));
  EXPECT_TRUE(Has("tensorflow@2.6", "_TensorToHashBucketFast", ""));
  EXPECT_TRUE(Has("tenon", "_TensorToHashBucketFast", ""));
}

// A product and one in a function, each with attributes that came later.
constexpr char kNewer[] = R"(
  node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
  node { name: 'm' op: 'MatMul' input: 'x' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }
         attr { key: 'grad_a' value { b: false } } attr { key: 'grad_b' value { b: true } }
         attr { key: 'transpose_a' value { b: false } } }
  node { name: 'f' op: 'F' input: 'm' }
  library { function {
    signature { name: 'F' input_arg { name: 'a' type: DT_FLOAT }
                output_arg { name: 'r' type: DT_FLOAT } }
    node_def { name: 'p' op: 'MatMul' input: 'a' input: 'a'
               attr { key: 'T' value { type: DT_FLOAT } }
               attr { key: 'grad_a' value { b: false } }
               attr { key: 'transpose_b' value { b: true } } }
    ret { key: 'r' value: 'p:product:0' } } })";

std::vector<std::string> NamesOf(absl::Span<const Attr> attrs) {
  std::vector<std::string> names;
  for (const Attr& attr : attrs) names.emplace_back(attr.name);
  return names;
}

TEST(TargetGraph, LacksDefaultsThatAVersionDoesNotKnow) {
  const auto check = [](std::string_view target, std::vector<std::string> outside,
                        std::vector<std::string> inside) {
    Graph graph = Parse(kNewer);
    DropNewDefaults(graph, *Target::Parse(target));
    EXPECT_EQ(NamesOf(graph.attrs(graph.FindNode("m")).all()), outside) << target;
    const FunctionBody body = ParseFunctionBody(graph, *graph.FindFunction("F"));
    ASSERT_EQ(body.nodes.size(), 1);
    EXPECT_EQ(NamesOf(body.nodes[0].attrs().all()), inside) << target;
    EXPECT_EQ(body.nodes[0].inputs.size(), 2);
    EXPECT_EQ(body.returns.size(), 1);
  };
  check("tensorflow", {"T", "grad_b", "transpose_a"}, {"T", "transpose_b"});
  check("tensorflow@2.15+onednn", {"T", "grad_b", "transpose_a"}, {"T", "transpose_b"});
  for (const char* newer : {"tensorflow@2.16", "tenon"})
    check(newer, {"T", "grad_a", "grad_b", "transpose_a"}, {"T", "grad_a", "transpose_b"});
}

// Sums of a Switch's outputs, and a branch that takes one tensor three times.
constexpr char kRepeated[] = R"(
  node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
  node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } }
  node { name: 's' op: 'Switch' input: ['x', 'p'] attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'no' op: 'AddV2' input: ['s', 's'] attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'yes' op: 'AddV2' input: ['s:1', 's:1'] attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'mix' op: 'AddV2' input: ['s:1', 's'] attr { key: 'T' value { type: DT_FLOAT } } }
  node { name: 'times' op: 'Mul' input: ['s:1', 's:1'] attr { key: 'T' value { type: DT_FLOAT } } }
  node {
    name: 'if' op: 'If' input: ['p', 'x', 'x', 'p', 'x', 'p']
    attr { key: 'Tcond' value { type: DT_BOOL } }
    attr { key: 'Tin' value { list { type: [DT_FLOAT, DT_FLOAT, DT_BOOL, DT_FLOAT, DT_BOOL] } } }
    attr { key: 'Tout' value { list { type: DT_FLOAT } } }
    attr { key: 'then_branch' value { func { name: 'F' } } }
    attr { key: 'else_branch' value { func { name: 'F' } } } }
  library { function {
    signature {
      name: 'F'
      input_arg { name: 'a' type: DT_FLOAT } input_arg { name: 'b' type: DT_FLOAT }
      input_arg { name: 'q' type: DT_BOOL } input_arg { name: 'c' type: DT_FLOAT }
      input_arg { name: 'r' type: DT_BOOL } output_arg { name: 'y' type: DT_FLOAT } }
    ret { key: 'y' value: 'b' } } })";

// TensorFlow 2.21 gives nothing for 'yes' where p is true, nor for an If that adds its arguments.
TEST(TargetGraph, KeepsRepeatedTensorsApart) {
  Graph graph = Parse(kRepeated);
  const Graph before = graph;
  ASSERT_TRUE(SeparateRepeated(graph, Target()).ok());
  EXPECT_EQ(graph.num_nodes(), before.num_nodes());
  ASSERT_TRUE(SeparateRepeated(graph, Target::TensorFlow()).ok());
  const auto inputs = [&](std::string_view node) {
    std::vector<std::string> names;
    for (const Output& in : graph.data_inputs(graph.FindNode(node)))
      names.push_back(graph.OutputName(in));
    return names;
  };
  EXPECT_THAT(inputs("yes"), ElementsAre("s/again", "s/again"));
  EXPECT_THAT(inputs("s/again"), ElementsAre("s:1"));
  EXPECT_THAT(inputs("if"), ElementsAre("p", "x", "x/again", "p", "x/again_1", "p"));
  EXPECT_THAT(inputs("x/again_1"), ElementsAre("x"));
  for (const char* other : {"no", "mix", "times"})
    EXPECT_EQ(graph.data_inputs(graph.FindNode(other))[0].node, graph.FindNode("s")) << other;
  EXPECT_EQ(graph.num_nodes(), before.num_nodes() + 3);
}

TEST(TargetGraph, TellsTheOldestVersion) {
  const auto oldest = [](std::string_view node) {
    return OldestTensorFlow(Parse(absl::StrCat("node { name: 'n' op: ", node, " }")));
  };
  constexpr char kVariable[] =
      "'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { } } } ";
  EXPECT_EQ(oldest("'NoOp'").minor, 0);
  EXPECT_EQ(oldest("'NoOp'").why, "");
  EXPECT_EQ(oldest(kVariable).minor, 0);
  EXPECT_EQ(oldest(absl::StrCat(kVariable, "attr { key: 'debug_name' value { s: '' } }")).minor, 0);
  const Oldest named =
      oldest(absl::StrCat(kVariable, "attr { key: 'debug_name' value { s: 'v' } }"));
  EXPECT_EQ(named.minor, 15);
  EXPECT_EQ(named.why, "attribute 'debug_name' of node 'n' (VarHandleOp)");
  EXPECT_EQ(oldest("'DeviceIndex' attr { key: 'device_names' value { list { s: 'CPU' } } }").why,
            "op DeviceIndex of node 'n'");
  const Oldest product = OldestTensorFlow(Parse(kNewer));
  EXPECT_EQ(product.minor, 16);
  EXPECT_EQ(product.why, "attribute 'grad_b' of node 'm' (MatMul)");
}

TEST(TensorFlowVersions, AreThoseOfTheTable) {
  EXPECT_EQ(TensorFlowOpSince("MatMul"), 0);
  EXPECT_EQ(TensorFlowOpSince("BatchMatMulV3"), 6);
  EXPECT_EQ(TensorFlowOpSince("no such op"), 0);
  EXPECT_EQ(TensorFlowAttrSince("MatMul", "grad_a"), 16);
  EXPECT_EQ(TensorFlowAttrSince("MatMul", "transpose_a"), 0);
  EXPECT_EQ(TensorFlowAttrSince("BatchMatMulV3", "adj_x"), 0);
}

}  // namespace
}  // namespace tenon
