#include "graph/shapes/shapes.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon::ops {
namespace {

// Shapes and axes are integers; of other types a few elements are enough (limits, fill values).
constexpr int64_t kMaxOtherElements = 16;

}  // namespace

// The shape that the function notes of the argument, if it does.
absl::Status ArgShape(InferenceContext& c) {
  const AttrValue* noted = c.attrs().Find("_output_shapes");
  if (noted == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, noted->AsShapeList());
  if (!shapes.empty()) c.set_output(0, std::move(shapes[0]));
  return absl::OkStatus();
}

absl::Status ConstShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, c.AttrOf("value"));
  TENON_ASSIGN_OR_RETURN(const std::string_view wire, attr.AsTensorWire());
  TENON_ASSIGN_OR_RETURN(const TensorProtoHeader header, TensorHeaderFromWire(wire));
  c.set_output(0, header.shape);
  const int64_t most = IsInteger(header.dtype) ? kMaxShapeValueElements : kMaxOtherElements;
  if (header.shape.num_elements() > most || !IsMemcpyable(header.dtype)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(Tensor value, TensorFromWire(wire, c.attr_owner()));
  c.output(0).value = std::make_shared<const Tensor>(std::move(value));
  return absl::OkStatus();
}

// The default may be less general than what is fed instead.
absl::Status PlaceholderWithDefaultShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape shape, c.AttrShape("shape"));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), shape).status());
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

absl::Status EnsureShapeShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, c.AttrShape("shape"));
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), shape.rank()).status());
  TENON_ASSIGN_OR_RETURN(PartialShape merged, MergeShapes(shape, c.input(0)));
  c.set_output(0, std::move(merged));
  return absl::OkStatus();
}

}  // namespace tenon::ops
