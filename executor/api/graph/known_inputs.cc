#include "executor/api/graph/known_inputs.h"

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/graph/shape_errors.h"

namespace tenon::api {
namespace {

using ShapeOfInput = absl::FunctionRef<const PartialShape&(int)>;

constexpr std::string_view kMatrices = ".  Expected a known rank of either 2 or 3.";

// Each says what is not known enough; empty: nothing.

std::string AboutBlocks(ShapeOfInput input) {
  const PartialShape& blocks = input(1);
  if (!blocks.known_rank()) return "block_shape must have rank 1.";
  return blocks.dim(0) < 0 ? "block_shape must have known size." : "";
}

std::string AboutPads(const PartialShape& pads) {
  return pads.dim(0) < 0 ? "Shape must be rank -1 but is rank 4" : "";
}

std::string AboutSeed(ShapeOfInput input) {
  const PartialShape& seed = input(1);
  if (!seed.known_rank() || seed.dim(-1) >= 0) return "";
  return absl::StrCat("Seed must have shape [3] or [n, 3] but got [",
                      absl::StrJoin(seed.dims(), ", "), "].");
}

std::string AboutMatrixShape(ShapeOfInput input) {
  return input(0).dim(0) < 0 ? absl::StrCat("Invalid rank: -1", kMatrices) : "";
}

std::string AboutDense(ShapeOfInput input) {
  const PartialShape &dense = input(0), &indices = input(1);
  if (!dense.known_rank()) return absl::StrCat("Invalid rank of dense: -1", kMatrices);
  if (!indices.known_rank()) return "indices must be a matrix; but its rank is not 2: -1";
  if (indices.dim(1) >= 0) return "";
  return absl::StrCat("indices.shape[1] must match rank of dense; saw: -1 vs. ", dense.rank());
}

std::string AboutSparse(ShapeOfInput input) {
  const int64_t rank = input(2).dim(0);
  if (rank < 0) return absl::StrCat("Invalid rank: -1", kMatrices);
  return input(0).dim(1) < 0 ? absl::StrCat("Shape must be rank -1 but is rank ", rank) : "";
}

std::string AboutInputs(std::string_view op, ShapeOfInput input) {
  if (op == "SpaceToBatchND" || op == "BatchToSpaceND") return AboutBlocks(input);
  if (op == "FusedPadConv2D") return AboutPads(input(1));
  if (op == "FusedResizeAndPadConv2D") return AboutPads(input(2));
  if (op == "RandomIndexShuffle") return AboutSeed(input);
  if (op == "SparseMatrixZeros") return AboutMatrixShape(input);
  if (op == "DenseToCSRSparseMatrix") return AboutDense(input);
  if (op == "SparseTensorToCSRSparseMatrix") return AboutSparse(input);
  return "";
}

}  // namespace

absl::Status CheckKnownInputs(const TF_Graph& graph, NodeId n) {
  const Graph& nodes = graph.graph;
  const std::string text = AboutInputs(nodes.op_name(n), [&](int i) -> const PartialShape& {
    return graph.shapes.info(nodes.inputs(n)[static_cast<size_t>(i)]).shape;
  });
  if (text.empty()) return absl::OkStatus();
  return DescribeShapeError(graph, n, absl::InvalidArgumentError(text));
}

}  // namespace tenon::api
