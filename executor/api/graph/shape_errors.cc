#include "executor/api/graph/shape_errors.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
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
std::string ValuesReadText(const InferenceContext& context, const InferenceContext& bare) {
  std::vector<std::string> values, shapes;
  for (int i = 0; i < context.num_inputs(); ++i) {
    // Called without values a function may go on, and read what it does not reach with them.
    const bool as_shape = context.reads_as_shape(i) || bare.reads_as_shape(i);
    const bool as_value = context.reads_value(i) || bare.reads_value(i);
    const absl::StatusOr<PartialShape> shape =
        as_shape ? context.input_as_shape(i) : absl::StatusOr<PartialShape>(PartialShape());
    const Tensor* value = context.input_info(i).value.get();
    if (shape.ok() && shape->known_rank()) {
      shapes.push_back(absl::StrCat("input[", i, "] = ", ShapeText(*shape)));
    } else if (as_value && value != nullptr) {
      values.push_back(absl::StrCat("input[", i, "] = ", ValueText(*value)));
    }
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

// What is known of the inputs, but for their values.
std::vector<TensorInfo> WithoutValues(const InferenceContext& context) {
  std::vector<TensorInfo> infos;
  for (int i = 0; i < context.num_inputs(); ++i) {
    infos.push_back(context.input_info(i));
    infos.back().value.reset();
    infos.back().partial_value.reset();
  }
  return infos;
}

InferenceContext::Infos PointersTo(const std::vector<TensorInfo>& infos) {
  InferenceContext::Infos pointers(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) pointers[i] = &infos[i];
  return pointers;
}

}  // namespace

absl::Status DescribeShapeError(const Graph& graph, NodeId n, const InferenceContext& context,
                                const absl::Status& status) {
  // TensorFlow calls the function so first.
  const std::vector<TensorInfo> infos = WithoutValues(context);
  InferenceContext bare(context.op(), context.attrs(), context.types(), PointersTo(infos),
                        context.attr_owner());
  const absl::Status first = CallShapeFn(bare);
  const absl::Status& error = first.ok() ? status : first;
  for (const std::string_view bare_text :
       {InferenceContext::kInvalidShapeValue, InferenceContext::kInvalidShapeScalar}) {
    if (absl::StartsWith(error.message(), bare_text)) return error;
  }
  std::vector<std::string> shapes;
  for (int i = 0; i < context.num_inputs(); ++i) shapes.push_back(InputShapeText(context.input(i)));
  return Annotate(error, "",
                  absl::StrCat(" for '", NodeText(graph, n),
                               "' with input shapes: ", absl::StrJoin(shapes, ", "),
                               first.ok() ? ValuesReadText(context, bare) : "", "."));
}

absl::Status DescribeShapeError(const TF_Graph& graph, NodeId n, const absl::Status& status) {
  const Graph& nodes = graph.graph;
  InferenceContext::Infos infos;
  for (const Output& from : nodes.data_inputs(n)) infos.push_back(&graph.shapes.info(from));
  return DescribeShapeError(
      nodes, n, InferenceContext(*nodes.op(n), nodes.attrs(n), nodes.kind(n).types, infos), status);
}

}  // namespace tenon::api
