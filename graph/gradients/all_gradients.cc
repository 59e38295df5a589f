// Every rule for a gradient, found by the name of its op.
#include <array>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradients.h"

namespace tenon {
namespace gradients {

absl::Span<const absl::Span<const GradientRow>> AllGradients() {
  static const std::array families = {Arrays(),
                                      ArraysDiagonals(),
                                      ArraysSlices(),
                                      Basic(),
                                      Containers(),
                                      ControlFlow(),
                                      Elementwise(),
                                      ElementwiseSpecial(),
                                      Functions(),
                                      Image(),
                                      Linalg(),
                                      LinalgEinsum(),
                                      LinalgFactorizations(),
                                      LinalgFft(),
                                      LinalgSolves(),
                                      Nn(),
                                      NnBatchNorm(),
                                      NnSequences(),
                                      NnWindows(),
                                      Nothing(),
                                      Quantize(),
                                      Ragged(),
                                      Random(),
                                      Reduction(),
                                      Selection(),
                                      Sparse(),
                                      SparseCsr(),
                                      TensorArrays(),
                                      Variables()};
  return families;
}

const GradientRow* FindGradientRow(std::string_view op) {
  static const auto& rows = *[] {
    auto* by_op = new absl::flat_hash_map<std::string_view, const GradientRow*>;
    for (const absl::Span<const GradientRow> family : AllGradients()) {
      for (const GradientRow& row : family) by_op->emplace(row.op, &row);
    }
    return by_op;
  }();
  const auto row = rows.find(op);
  return row == rows.end() ? nullptr : row->second;
}

}  // namespace gradients

bool HasGradient(std::string_view op) { return gradients::FindGradientRow(op) != nullptr; }

}  // namespace tenon
