// What rules do not build: errors that name the op and the node.
#include "graph/gradients/gradients.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Limit {
  std::string op, shape, attrs, inputs, message;
};

// The error for a node "limit" of floats whose input 0 is "x", of this shape, and whose inputs are
// `inputs`; "l2" is a double.
absl::Status Differentiate(const Limit& limit) {
  const auto placeholder = [](std::string_view name, std::string_view type,
                              std::string_view shape) {
    return absl::StrCat("node { name: '", name, "' op: 'Placeholder' ",
                        "attr { key: 'dtype' value { type: ", type, " } } ",
                        "attr { key: 'shape' value { shape { ", shape, " } } } }\n");
  };
  Graph graph = testing::Parse(
      absl::StrCat(placeholder("x", "DT_FLOAT", limit.shape), placeholder("l2", "DT_DOUBLE", ""),
                   "node { name: 'limit' op: '", limit.op, "' ", limit.inputs,
                   " attr { key: 'T' value { type: DT_FLOAT } } ", limit.attrs, " }\n"));
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph);
  EXPECT_TRUE(shapes.ok()) << shapes.status();
  if (!shapes.ok()) return absl::OkStatus();
  GradientRequest request;
  const NodeId node = graph.FindNode("limit");
  for (int i = 0; i < graph.num_outputs(node); ++i) request.ys.push_back({node, i});
  request.xs = {{graph.FindNode("x"), 0}};
  return AddGradients(graph, *shapes, {}, request).status();
}

std::string Flag(std::string_view name, bool value) {
  return absl::StrCat("attr { key: '", name, "' value { b: ", value ? "true" : "false", " } } ");
}
std::string Sizes(std::initializer_list<int> sizes) {
  std::string text;
  for (const int size : sizes) absl::StrAppend(&text, "dim { size: ", size, " } ");
  return text;
}

TEST(GradientLimits, AreErrorsThatNameTheNode) {
  const std::string x = "input: 'x'", lstsq = "input: 'x' input: 'x' input: 'l2'";
  const Limit limits[] = {
      {"Qr", Sizes({-1, 3}), "", x, "factors of unknown sizes"},
      {"Qr", "unknown_rank: true", "", x, "factors of unknown sizes"},
      {"Qr", Sizes({4, 3}), Flag("full_matrices", true), x, "[4,3]"},
      {"Svd", Sizes({2, -1, 3}), "", x, "a matrix of unknown size: its shape is [2,?,3]"},
      {"Svd", Sizes({2, 5}), Flag("full_matrices", true), x, "2 rows and 5 columns"},
      {"MatrixSolveLs", Sizes({3, 3}), Flag("fast", false), lstsq, "fast=false"},
      {"MatrixSolveLs", Sizes({3, -1}), Flag("fast", true), lstsq, "its shape is [3,?]"},
  };
  for (const Limit& limit : limits) {
    const absl::Status status = Differentiate(limit);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << limit.op << ": " << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(limit.message), HasSubstr("limit"), HasSubstr(limit.op)));
  }
}

// The same ops within the limits.
TEST(GradientLimits, HaveGradientsWithinThem) {
  const std::string x = "input: 'x'", lstsq = "input: 'x' input: 'x' input: 'l2'";
  const Limit built[] = {
      {"Qr", Sizes({4, 3}), "", x, ""},
      {"Qr", Sizes({3, 4}), Flag("full_matrices", true), x, ""},
      {"Svd", Sizes({2, 3}), Flag("full_matrices", true), x, ""},
      {"Svd", "unknown_rank: true", Flag("compute_uv", false), x, ""},
      {"MatrixSolveLs", Sizes({3, 3}), "", lstsq, ""},
  };
  for (const Limit& limit : built) EXPECT_TRUE(Differentiate(limit).ok()) << limit.op;
}

}  // namespace
}  // namespace tenon
