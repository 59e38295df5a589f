// Shape functions of ops that batch what several runs bring, that exchange tensors between
// devices, and of the handles of several variables at once.
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

// The shape with another number of rows.
absl::StatusOr<PartialShape> WithRows(const PartialShape& s, int64_t rows) {
  if (s.rank() == 0) return Invalid("Out of range dim_index 0 for shape with 0 dimensions");
  return ReplaceDim(s, 0, rows);
}

}  // namespace

// Tensors -> the same with the rows of several runs, where each row came from, the batch's number.
absl::Status BatchShape(InferenceContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(PartialShape rows, WithRows(c.input(i), kUnknownDim));
    c.set_output(i, std::move(rows));
  }
  c.set_output(c.num_outputs() - 2, Matrix(kUnknownDim, 3));
  c.set_output(c.num_outputs() - 1, Shape());
  return absl::OkStatus();
}

absl::Status UnbatchShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape rows, WithRows(c.input(0), kUnknownDim));
  c.set_output(0, std::move(rows));
  return absl::OkStatus();
}

// Only the rank of the gradient is that of the batch.
absl::Status UnbatchGradShape(InferenceContext& c) {
  if (c.input(2).known_rank()) c.set_output(0, PartialShape::UnknownOfRank(c.input(2).rank()));
  return absl::OkStatus();
}

// The rows of all devices.
absl::Status CollectiveGatherShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  TENON_ASSIGN_OR_RETURN(const int64_t group, c.AttrInt("group_size"));
  if (!in.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const int64_t rows, MultiplyDims(in.dim(0), group));
  c.set_output(0, ReplaceDim(in, 0, rows));
  return absl::OkStatus();
}

// How many rows there are follows from the size of the group, which is an input.
absl::Status CollectiveRowsShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  c.set_output(0, ReplaceDim(std::move(in), 0, kUnknownDim));
  return absl::OkStatus();
}

// The last input is the shape of what is received.
absl::Status ReceivedShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape shape, c.input_as_shape(c.num_inputs() - 1));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

// Parts of one buffer, whose shapes are an attribute.
absl::Status ScopedAllocatorSplitShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf("shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, attr.AsShapeList());
  if (shapes.empty()) return absl::InternalError("shapes attribute is empty");
  int i = 0;
  for (const PartialShape& shape : shapes) c.set_output(i++, shape);
  return absl::OkStatus();
}

// Handles of variables, each with a type and a shape.
absl::Status VarHandlesShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t n, c.AttrInt("N"));
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> types, c.AttrTypeList("dtypes"));
  TENON_ASSIGN_OR_RETURN(const AttrValue shapes_attr, c.AttrOf("shapes"));
  TENON_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, shapes_attr.AsShapeList());
  if (static_cast<int64_t>(types.size()) != n)
    return Invalid("Mismatched number of dtypes (n=", n, ", num dtypes=", types.size(), ")");
  if (static_cast<int64_t>(shapes.size()) != n)
    return Invalid("Mismatched number of shapes (n=", n, ", num shapes=", shapes.size(), ")");
  for (int i = 0; i < n; ++i) {
    TensorInfo& handle = c.output(i);
    handle.shape = Shape();
    handle.handle_shape = std::make_shared<const PartialShape>(std::move(shapes[i]));
    handle.handle_type = types[i];
  }
  return absl::OkStatus();
}

absl::Status ReadVariablesShape(InferenceContext& c) {
  if (c.num_inputs() != c.num_outputs())
    return Invalid("Mismatched number of arguments to ReadVariablesOp");
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (const auto& shape = c.input_info(i).handle_shape) c.set_output(i, *shape);
  }
  return absl::OkStatus();
}

}  // namespace tenon::ops
