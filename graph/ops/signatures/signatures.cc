#include "graph/ops/signatures/signatures.h"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "graph/op_defs/op_row.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/shape.h"

namespace tenon {
namespace {

// "?" or "[?,2]".
PartialShape ShapeFromText(std::string_view text) {
  if (text == "?") return PartialShape();
  Dims dims;
  for (std::string_view dim :
       absl::StrSplit(text.substr(1, text.size() - 2), ',', absl::SkipEmpty())) {
    int64_t size = kUnknownDim;
    if (dim != "?") std::from_chars(dim.data(), dim.data() + dim.size(), size);
    dims.push_back(size);
  }
  return PartialShape(dims);
}

}  // namespace

absl::Span<const char* const> SignatureTables() {
  static constexpr const char* kTables[] = {ops::kOneDnnSignatures, ops::kOtherSignatures,
                                            ops::kPipelineSignatures, ops::kTpuSignatures,
                                            ops::kXlaSignatures};
  return kTables;
}

ShapeFn ShapesFromText(std::string_view text) {
  std::vector<PartialShape> shapes;
  for (std::string_view shape : absl::StrSplit(text, ' ', absl::SkipEmpty()))
    shapes.push_back(ShapeFromText(shape));
  return [shapes = std::move(shapes)](InferenceContext& context) {
    for (size_t i = 0; i < shapes.size(); ++i) context.set_output(static_cast<int>(i), shapes[i]);
    return absl::OkStatus();
  };
}

}  // namespace tenon
