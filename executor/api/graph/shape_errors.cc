#include "executor/api/graph/shape_errors.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/base/op_text.h"
#include "graph/base/annotate.h"
#include "plugin/cpu/base/tensor_summary.h"

namespace tenon::api {
namespace {

// An unknown rank is "?" in errors of shape functions.
std::string InputShapeText(const PartialShape& shape) {
  return shape.known_rank() ? ShapeText(shape) : "?";
}

std::string ValueText(const Tensor& t) {
  return absl::StrCat("<", cpu::SummarizeTensor(t.dtype(), t.shape(), t.data(), 256), ">");
}

// What the shape function has seen of its inputs besides their shapes.
std::string ValuesReadText(const InferenceContext& context) {
  std::vector<std::string> values, shapes;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Tensor* value = context.input_info(i).value.get();
    if (context.reads_value(i) && value != nullptr)
      values.push_back(absl::StrCat("input[", i, "] = ", ValueText(*value)));
    if (!context.reads_as_shape(i)) continue;
    const absl::StatusOr<PartialShape> shape = context.input_as_shape(i);
    if (shape.ok() && shape->known_rank())
      shapes.push_back(absl::StrCat("input[", i, "] = ", ShapeText(*shape)));
  }
  std::string out;
  if (!values.empty())
    absl::StrAppend(&out, " and with computed input tensors: ", absl::StrJoin(values, ", "));
  if (!shapes.empty()) {
    absl::StrAppend(
        &out, " and with input tensors computed as partial shapes: ", absl::StrJoin(shapes, ","));
  }
  return out;
}

// What the function says where it sees the shapes of the inputs only. TensorFlow calls it so first.
absl::Status ErrorWithoutValues(const InferenceContext& context) {
  std::vector<TensorInfo> infos;
  for (int i = 0; i < context.num_inputs(); ++i) {
    infos.push_back(context.input_info(i));
    infos.back().value.reset();
    infos.back().partial_value.reset();
  }
  InferenceContext::Infos inputs;
  for (const TensorInfo& info : infos) inputs.push_back(&info);
  InferenceContext bare(context.op(), context.attrs(), context.types(), std::move(inputs),
                        context.attr_owner());
  return CallShapeFn(bare);
}

}  // namespace

absl::Status DescribeShapeError(const Graph& graph, NodeId n, const InferenceContext& context,
                                const absl::Status& status) {
  std::vector<std::string> shapes;
  for (int i = 0; i < context.num_inputs(); ++i) shapes.push_back(InputShapeText(context.input(i)));
  const absl::Status first = ErrorWithoutValues(context);
  return Annotate(first.ok() ? status : first, "",
                  absl::StrCat(" for '", NodeText(graph, n),
                               "' with input shapes: ", absl::StrJoin(shapes, ", "),
                               first.ok() ? ValuesReadText(context) : "", "."));
}

}  // namespace tenon::api
