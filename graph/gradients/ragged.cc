// Ragged tensors: vectors of row splits and the values in rows. Only values have gradients.
#include "absl/algorithm/container.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// Rows of values are taken with all their parts; `splits` of the outermost rows are followed down
// to the values.
void RaggedGatherGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const int at_values = s.num_inputs() - 2;
  const Value values = s.x(at_values), rows = Reshape(s.x(at_values + 1), b.Ints({-1}));
  Value splits = s.x(0);
  for (int i = 1; i < at_values; ++i) splits = Gather(s.x(i), splits);
  const NodeId numbers = b.AddNode(
      "RaggedRange", {Gather(splits, rows), Gather(Part(splits, 1, -1), rows), Number(splits, 1)});
  s.Set(at_values, Slices{s.dy(s.num_outputs() - 1), b.At(numbers, 1), ShapeOf(values)});
}

// The same op for the numbers of the values says which value went where; -1: the default value.
void RaggedTensorToTensorGradient(GradientScope& s) {
  const Value values = s.x(1), dflt = s.x(2), dy = s.dy();
  // The first size, where it is given, is no axis of rows of several lengths.
  const auto ragged_axes = static_cast<int64_t>(absl::c_count_if(
      s.Strings("row_partition_types"), [](auto type) { return type != "FIRST_DIM_SIZE"; }));
  const Value count = DimOf(values, 0), none = Number(count, -1);
  std::vector<Value> inputs = {Part(ShapeOf(dy), 0, 1 + ragged_axes),
                               Range(Number(count, 0), count), none};
  for (int i = 3; i < s.num_inputs(); ++i) inputs.push_back(s.x(i));
  const Value numbers = Op("RaggedTensorToTensor", inputs, s.Attrs({"row_partition_types"}));
  const auto where = [&](std::string_view compare) {
    return Op("Where", {Compare(compare, numbers, none)});
  };
  const Value of_values = where("NotEqual");
  s.Set(1, Slices{Op("GatherNd", {dy, of_values}), Op("GatherNd", {numbers, of_values}),
                  ShapeOf(values)});
  const Value of_default = Op("GatherNd", {dy, where("Equal")});
  s.Set(2, SumToShapeOf(of_default, dflt, of_default));
}

void RaggedFillEmptyRowsGradient(GradientScope& s) {
  const NodeId both = s.builder().AddNode("RaggedFillEmptyRowsGrad", {s.y(3), s.dy(1)});
  s.Set(1, s.builder().At(both, 0));
  s.Set(3, s.builder().At(both, 1));
}

void RaggedTensorToSparseGradient(GradientScope& s) {
  const int at_values = s.num_inputs() - 1;
  s.Set(at_values, ReshapeLike(s.dy(1), s.x(at_values)));
}

// --- A ragged tensor as one variant, or as a vector of one for each row.

void RaggedTensorToVariantGradient(GradientScope& s) {
  const int at_values = s.num_inputs() - 1;
  const Value splits = at_values > 0 ? s.x(0) : s.builder().Scalar(s.Type("Tsplits"), 0);
  s.Set(at_values, Op("RaggedTensorToVariantGradient", {s.dy(), splits, ShapeOf(s.x(at_values))},
                      s.Attrs({"Tvalues", "Tsplits"})));
}

Value OfRaggedTensorFromVariant(GradientScope& s) {
  const int rank = s.x().rank(), values = s.num_outputs() - 1;
  if (rank > 1) s.Unimplemented("a tensor of variants of rank 2 and more");
  std::vector<Value> inputs;
  for (int i = 0; i < values; ++i) inputs.push_back(s.y(i));
  inputs.push_back(s.dy(values));
  NewAttrs attrs = s.Attrs({"Tsplits"});
  attrs.push_back({"batched_input", attr::Bool(rank < 0 ? values > 0 : rank == 1)});
  return Op("RaggedTensorToVariant", inputs, std::move(attrs));
}

constexpr GradientRow kRagged[] = {
    {"RaggedFillEmptyRows", RaggedFillEmptyRowsGradient},
    {"RaggedGather", RaggedGatherGradient},
    {"RaggedTensorFromVariant", Unary<OfRaggedTensorFromVariant>},
    {"RaggedTensorToSparse", RaggedTensorToSparseGradient},
    {"RaggedTensorToTensor", RaggedTensorToTensorGradient},
    {"RaggedTensorToVariant", RaggedTensorToVariantGradient},
};

}  // namespace

absl::Span<const GradientRow> Ragged() { return kRagged; }

}  // namespace tenon::gradients
