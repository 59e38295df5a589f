// Variables, containers and control flow: mostly handles and scalars.
#include <climits>

#include "absl/strings/str_cat.h"
#include "graph/shapes/shapes.h"
#include "graph/tensor/dtype.h"

namespace tenon::ops {

// A handle of two strings: stacks and the older containers.
absl::Status PairHandleShape(InferenceContext& c) { return SetOutputs(c, {Vector(2), Shape()}); }

absl::Status VarHandleShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape shape, c.AttrShape("shape"));
  TENON_ASSIGN_OR_RETURN(c.output(0).handle_type, c.AttrType("dtype"));
  c.set_output(0, Shape());
  c.output(0).handle_shape = std::make_shared<const PartialShape>(std::move(shape));
  return absl::OkStatus();
}

namespace {

// INVALID_ARGUMENT if the type of the variable behind input 0 is known, and attribute dtype says
// another one.
absl::Status CheckVariableType(InferenceContext& c, std::string_view what) {
  const DataType type = c.input_info(0).handle_type;
  TENON_ASSIGN_OR_RETURN(const DataType wanted, c.AttrType("dtype"));
  if (type == DataType::kInvalid || type == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Trying to ", what, " variable with wrong dtype. Expected ",
                   DataTypeSpecName(type), " got ", DataTypeSpecName(wanted)));
}

}  // namespace

absl::Status AssignVariableShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckVariableType(c, "read"));
  const auto& shape = c.input_info(0).handle_shape;
  return shape ? MergeShapes(*shape, c.input(1)).status() : absl::OkStatus();
}

absl::Status ReadVariableShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckVariableType(c, "read"));
  if (const auto& shape = c.input_info(0).handle_shape) c.set_output(0, *shape);
  return absl::OkStatus();
}

absl::Status VariableShapeShape(InferenceContext& c) {
  const auto& shape = c.input_info(0).handle_shape;
  c.set_output(0, Vector(shape && shape->known_rank() ? shape->rank() : kUnknownDim));
  if (shape && shape->known_rank())
    SetValue(c, 0, Dims(shape->dims().begin(), shape->dims().end()));
  return absl::OkStatus();
}

// Rows of a variable.
absl::Status ResourceGatherShape(InferenceContext& c) {
  const auto& shape = c.input_info(0).handle_shape;
  TENON_ASSIGN_OR_RETURN(const int64_t batch_dims, c.AttrInt("batch_dims"));
  if (batch_dims < 0) return Invalid("batch_dims is negative (", batch_dims, ")");
  TENON_RETURN_IF_ERROR(
      c.WithRankAtLeast(c.input(1), static_cast<int>(std::min<int64_t>(batch_dims, INT_MAX)))
          .status());
  if (!shape || !shape->known_rank() || batch_dims != 0) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(*shape, 1).status());
  c.set_output(0, Concatenate(c.input(1), Subshape(*shape, 1)));
  return absl::OkStatus();
}

// The updates are rows of the variable; a scalar does for all of them.
absl::Status ScatterUpdateShape(InferenceContext& c) {
  const bool is_handle = c.input_type(0) == DataType::kResource;
  const auto& handle_shape = c.input_info(0).handle_shape;
  PartialShape variable;
  if (!is_handle) variable = c.input(0);
  if (is_handle && handle_shape) variable = *handle_shape;
  c.set_output(0, variable);
  if (c.input(2).known_rank() && c.input(2).rank() == 0) return absl::OkStatus();
  return MergeShapes(c.input(2), Concatenate(c.input(1), Subshape(variable, 1))).status();
}

// Assignments by reference give the variable, which takes the value's shape where that may change.
absl::Status AssignShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const bool validate, c.AttrBool("validate_shape"));
  if (!validate) {
    c.set_output(0, c.input(1));
    return absl::OkStatus();
  }
  return MergedInputsShape(c);
}

// Input 1's shape and 0's agree.
absl::Status AssignUpdateShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape merged, MergeShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(merged));
  return absl::OkStatus();
}

namespace {

// Input 0 is a vector of two elements.
absl::Status CheckPairHandle(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape handle, c.WithRank(c.input(0), 1));
  return c.WithSize(handle.dim(0), 2).status();
}

}  // namespace

absl::Status TensorArrayGatherShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckPairHandle(c));
  TENON_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(c.input(1), 1));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, -1, 0}));
  TENON_ASSIGN_OR_RETURN(const PartialShape element, c.AttrShape("element_shape"));
  c.set_output(0, Concatenate(Vector(indices.dim(0)), element));
  return absl::OkStatus();
}

absl::Status TensorArrayConcatShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckPairHandle(c));
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 0}));
  c.set_output(1, Vector(kUnknownDim));
  return absl::OkStatus();
}

// The popped list and the element, of the shape asked for.
absl::Status TensorListPopBackShape(InferenceContext& c) {
  c.set_output(0, Shape());
  if (c.input_value(1) == nullptr && !c.input_info(1).partial_value) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(PartialShape element, AtRunTime(c.input_as_any_shape(1)));
  c.set_output(1, std::move(element));
  return absl::OkStatus();
}

// Element i goes to list i.
absl::Status PushBackBatchShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape lists, c.WithRank(c.input(0), 1));
  TENON_ASSIGN_OR_RETURN(const PartialShape elements, c.WithRankAtLeast(c.input(1), 1));
  TENON_ASSIGN_OR_RETURN(lists, MergeShapes(lists, Subshape(elements, 0, 1)));
  c.set_output(0, std::move(lists));
  return absl::OkStatus();
}

// Input 2 is the element's shape.
absl::Status TensorListGetItemShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape element, c.input_as_any_shape(2));
  c.set_output(0, std::move(element));
  return absl::OkStatus();
}

absl::Status TensorListStackShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape element, c.input_as_any_shape(1));
  TENON_ASSIGN_OR_RETURN(const int64_t count, c.AttrInt("num_elements"));
  if (count < kUnknownDim)
    return AtRunTime(absl::InvalidArgumentError(absl::StrCat("num_elements is ", count)));
  c.set_output(0, Concatenate(Vector(count), element));
  return absl::OkStatus();
}

absl::Status TensorListGatherShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape element, c.input_as_any_shape(2));
  c.set_output(0, Concatenate(c.input(1), element));
  return absl::OkStatus();
}

absl::Status TensorListConcatShape(InferenceContext& c) {
  PartialShape rest;
  if (c.HasAttr("element_shape")) {
    TENON_ASSIGN_OR_RETURN(const PartialShape element, c.AttrShape("element_shape"));
    rest = Subshape(element, 1);
  } else {
    TENON_ASSIGN_OR_RETURN(const PartialShape element, c.input_as_any_shape(1));
    rest = Subshape(element, 1);
  }
  return SetOutputs(c, {Concatenate(Vector(kUnknownDim), rest), Vector(kUnknownDim)});
}

// Where an element's shape comes first, and a rank says no more of the other inputs.
absl::Status NewTensorListShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.input_as_any_shape(0).status());
  c.set_output(0, Shape());
  return absl::OkStatus();
}

absl::Status TensorListScatterShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.input_as_any_shape(2).status());
  c.set_output(0, Shape());
  return absl::OkStatus();
}

// The elements are the rows of the tensor.
absl::Status TensorListFromTensorShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape element, c.input_as_any_shape(1));
  TENON_RETURN_IF_ERROR(MergeShapes(Subshape(c.input(0), 1), element).status());
  c.set_output(0, Shape());
  return absl::OkStatus();
}

// The elements are groups of rows, as many as there are lengths.
absl::Status TensorListSplitShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRankAtLeast(c.input(0), 1).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape element, c.input_as_any_shape(1));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(2), 1).status());
  const PartialShape rows = ReplaceDim(c.input(0), 0, kUnknownDim);
  TENON_RETURN_IF_ERROR(MergeShapes(rows, element).status());
  c.set_output(0, Shape());
  return absl::OkStatus();
}

// What an iterator or an optional holds.
absl::Status ComponentsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {0}));
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf("output_shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, attr.AsShapeList());
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return Invalid("`output_shapes` must be the same length as `output_types` (", shapes.size(),
                   " vs. ", c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
  return absl::OkStatus();
}

// Functional branches and loops may state what comes out of them.
absl::Status OutputShapesShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf("output_shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, attr.AsShapeList());
  if (shapes.empty()) return absl::OkStatus();
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return absl::InvalidArgumentError(absl::StrCat("attr 'output_shapes' has ", shapes.size(),
                                                   " shapes for ", c.num_outputs(), " outputs"));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
  return absl::OkStatus();
}

absl::Status SwitchShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 0}));
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i) = c.input_info(0);
  return absl::OkStatus();
}

// What all inputs share. Inputs that come round a loop are unknown, and so is the output then.
absl::Status MergeShape(InferenceContext& c) {
  PartialShape out = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    const PartialShape& in = c.input(i);
    if (!out.known_rank() || !in.known_rank() || in.rank() != out.rank()) {
      out = PartialShape();
      break;
    }
    out = CommonShape(out, in);
  }
  return SetOutputs(c, {out, Shape()});
}

// A loop's constant is the same in every iteration, and so its value is known too. Other values are
// those of the first iteration: only their shape is passed on.
absl::Status EnterShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const bool constant, c.AttrBool("is_constant"));
  if (constant) return IdentityShape(c);
  return UnchangedShape(c);
}

// A file, then a name for each tensor, perhaps the slices that the tensors are, then the tensors.
absl::Status SaveShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> tensors,
                         c.AttrTypeList(c.HasAttr("T") ? "T" : "dtypes"));
  const auto n = static_cast<int>(tensors.size());
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), 0).status());
  for (int i = 1; i < c.num_inputs() - n; ++i) {
    TENON_ASSIGN_OR_RETURN(const PartialShape texts, c.WithRank(c.input(i), 1));
    TENON_RETURN_IF_ERROR(c.WithSize(texts.dim(0), n).status());
  }
  return absl::OkStatus();
}

// A data set, the size of a batch, shapes and fill values, and whether the last batch may be short.
absl::Status PaddedBatchShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(1), 0).status());
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(c.num_inputs() - 1), 0).status());
  return ScalarShape(c);
}

}  // namespace tenon::ops
