// What computing ops is taken to cost.

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "graph/shapes/cost.h"
#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using testing::Parse;

constexpr char kFloatAttr[] = "attr { key: 'T' value { type: DT_FLOAT } } ";

Tensor Zeros(std::vector<int64_t> dims, DataType type = DataType::kFloat) {
  Tensor t = *Tensor::Allocate(type, Shape(dims));
  std::memset(t.data(), 0, t.bytes());
  return t;
}

// Of a node of this op whose inputs are placeholders in the graph and these when it is computed.
double Work(std::string_view op, std::vector<Tensor> inputs, std::string_view attrs = kFloatAttr,
            int64_t elements = 0) {
  std::string text;
  std::string node = absl::StrCat("node { name: 'n' op: '", op, "' ");
  for (size_t i = 0; i < inputs.size(); ++i) {
    absl::StrAppend(&text, "node { name: 'p", i, "' op: 'Placeholder' attr { key: 'dtype' value { ",
                    "type: ", inputs[i].dtype() == DataType::kInt32 ? "DT_INT32" : "DT_FLOAT",
                    " } } } ");
    absl::StrAppend(&node, "input: 'p", i, "' ");
  }
  const Graph graph = Parse(absl::StrCat(text, node, attrs, "}"));
  return static_cast<double>(EstimateWork(graph, graph.FindNode("n"), inputs, elements));
}

std::string With(std::string_view more) { return absl::StrCat(kFloatAttr, more); }

// Most is its products; what the elements cost comes to that.
void ExpectAbout(double work, double products) {
  EXPECT_GE(work, products);
  EXPECT_LE(work, products * 1.5);
}

TEST(WorkEstimate, CountsProductsOfMatrices) {
  ExpectAbout(Work("MatMul", {Zeros({300, 200}), Zeros({200, 400})}), 2. * 300 * 200 * 400);
  ExpectAbout(Work("MatMul", {Zeros({200, 300}), Zeros({400, 200})},
                   With("attr { key: 'transpose_a' value { b: true } } "
                        "attr { key: 'transpose_b' value { b: true } } ")),
              2. * 300 * 200 * 400);
  ExpectAbout(Work("BatchMatMulV2", {Zeros({5, 1, 100, 200}), Zeros({7, 200, 300})}),
              2. * 5 * 7 * 100 * 200 * 300);
  ExpectAbout(Work("Einsum", {Zeros({100, 200}), Zeros({200, 300, 2})},
                   With("attr { key: 'N' value { i: 2 } } "
                        "attr { key: 'equation' value { s: 'ab,bcd->acd' } } ")),
              2. * 100 * 200 * 300 * 2);
}

TEST(WorkEstimate, CountsWindowsAndMatrices) {
  ExpectAbout(Work("Conv2D", {Zeros({1, 64, 64, 32}), Zeros({3, 3, 32, 64})},
                   With("attr { key: 'strides' value { list { i: [1, 2, 2, 1] } } } "
                        "attr { key: 'padding' value { s: 'SAME' } } ")),
              2. * 32 * 32 * 9 * 32 * 64);
  const char kPadded[] =
      "attr { key: 'mode' value { s: 'REFLECT' } } attr { key: 'padding' value { s: 'VALID' } } "
      "attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } } ";
  ExpectAbout(Work("FusedPadConv2D",
                   {Zeros({1, 64, 64, 32}), Zeros({4, 2}, DataType::kInt32), Zeros({3, 3, 32, 64})},
                   With(kPadded)),
              2. * 64 * 64 * 9 * 32 * 64);
  ExpectAbout(Work("FusedResizeAndPadConv2D",
                   {Zeros({1, 64, 64, 32}), Zeros({2}, DataType::kInt32),
                    Zeros({4, 2}, DataType::kInt32), Zeros({3, 3, 32, 64})},
                   With(kPadded)),
              2. * 64 * 64 * 9 * 32 * 64);
  const double svd = Work("Svd", {Zeros({400, 400})});
  EXPECT_GE(svd, std::pow(400, 3));
  EXPECT_NEAR(Work("Svd", {Zeros({800, 800})}) / svd, 8, 0.5);
}

// A graph of placeholders p0, p1 … of these shapes and one node `n` that reads them. They are of
// floats, or with an "i" behind the shape of int32.
double Flops(std::string_view op, const std::vector<std::string>& shapes, std::string_view attrs) {
  std::string text, node = absl::StrCat("node { name: 'n' op: '", op, "' ", attrs);
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string dims;
    std::string_view shape = shapes[i];
    const bool is_int = absl::ConsumeSuffix(&shape, "i");
    for (const std::string_view dim : absl::StrSplit(shape, 'x'))
      absl::StrAppend(&dims, "dim { size: ", dim, " } ");
    absl::StrAppend(&text, "node { name: 'p", i, "' op: 'Placeholder' attr { key: 'dtype' value { ",
                    is_int ? "type: DT_INT32" : "type: DT_FLOAT",
                    " } } attr { key: 'shape' value { shape { ", dims, "} } } } ");
    absl::StrAppend(&node, "input: 'p", i, "' ");
  }
  const Graph graph = Parse(absl::StrCat(text, node, "}"));
  const absl::StatusOr<GraphShapes> shapes_of = GraphShapes::Infer(graph, {});
  return EstimateFlops(graph, *shapes_of).flops;
}

constexpr char kConvolution[] =
    "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'padding' value { s: 'SAME' } } "
    "attr { key: 'strides' value { list { i: [1, 2, 2, 1] } } } ";

TEST(FlopEstimate, CountsProductsAndFilters) {
  EXPECT_EQ(Flops("MatMul", {"30x20", "20x40"}, kFloatAttr), 2. * 30 * 20 * 40);
  EXPECT_EQ(Flops("Conv2D", {"1x64x64x32", "3x3x32x8"}, kConvolution), 2. * 32 * 32 * 8 * 9 * 32);
  EXPECT_EQ(Flops("DepthwiseConv2dNative", {"1x64x64x32", "3x3x32x2"}, kConvolution),
            2. * 32 * 32 * 64 * 9);
  // A gradient has as many products as its op.
  EXPECT_EQ(Flops("Conv2DBackpropInput", {"4i", "3x3x32x8", "1x32x32x8"}, kConvolution),
            2. * 32 * 32 * 8 * 9 * 32);
  EXPECT_EQ(
      Flops("DepthwiseConv2dNativeBackpropInput", {"4i", "3x3x32x2", "1x32x32x64"}, kConvolution),
      2. * 32 * 32 * 64 * 9);
  EXPECT_EQ(Flops("DepthwiseConv2dNativeBackpropInput", {"4i", "3x3x32x2", "1x64x32x32"},
                  absl::StrCat(kConvolution, "attr { key: 'data_format' value { s: 'NCHW' } } ")),
            2. * 32 * 32 * 64 * 9);
  EXPECT_EQ(Flops("Einsum", {"10x20", "20x30"},
                  With("attr { key: 'N' value { i: 2 } } "
                       "attr { key: 'equation' value { s: 'ab,bc->ac' } } ")),
            2. * 10 * 20 * 30);
}

TEST(FlopEstimate, CountsElementsOfTheRestAndNothingOfMoves) {
  EXPECT_EQ(Flops("Exp", {"10x20"}, kFloatAttr), 200);
  EXPECT_EQ(Flops("Softmax", {"10x20"}, kFloatAttr), 200);
  EXPECT_EQ(Flops("Identity", {"10x20"}, kFloatAttr), 0);
}

TEST(WorkEstimate, GrowsAsElementsDo) {
  const double little = Work("Exp", {Zeros({1000})}, kFloatAttr, 1000);
  EXPECT_EQ(Work("Exp", {Zeros({10, 1000})}, kFloatAttr, 10'000), 10 * little);
  EXPECT_GT(Work("Betainc", {Zeros({1000}), Zeros({1000}), Zeros({1000})}), 100 * little);
  EXPECT_EQ(Work("Exp", {Zeros({0, 1000})}), 0);
}

}  // namespace
}  // namespace tenon
