// Constant folding within shape inference: a node whose inputs are all known and small is computed,
// and its output's value and shape are then known to the shape functions behind it.

#include "optimizer_api/aggressive_shapes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// The number of elements that a computed tensor may have: TensorFlow's bound, for shapes and small
// matrices.
constexpr int64_t kMostElements = 17;

// Attributes that TensorFlow's profiles leave at a node: all runs had the same shapes, and the
// shapes.
constexpr std::string_view kSameShapes = "_same_output_for_iterations";
constexpr std::string_view kNotedShapes = "_output_shape_vector";

void UseNotedShapes(const Graph& graph, NodeId n, InferenceContext& context) {
  const AttrValue* same = graph.attrs(n).Find(kSameShapes);
  const AttrValue* noted = graph.attrs(n).Find(kNotedShapes);
  if (same == nullptr || noted == nullptr || !same->AsBool().value_or(false)) return;
  const absl::StatusOr<std::vector<PartialShape>> shapes = noted->AsShapeList();
  for (int i = 0; shapes.ok() && i < context.num_outputs(); ++i) {
    // Both outputs of a Switch have one shape: the first note serves both.
    const size_t at = IsSwitch(graph.facts(n)) ? 0 : static_cast<size_t>(i);
    if (at >= shapes->size()) return;
    const PartialShape& shape = (*shapes)[at];
    PartialShape& output = context.output(i).shape;
    const bool says_nothing = !shape.known_rank() || shape.rank() == 0;
    if (!says_nothing && !output.fully_defined() && output.CompatibleWith(shape)) output = shape;
  }
}

bool IsSmall(const TensorInfo& info, DataType type) {
  const int64_t elements = info.shape.num_elements();
  return elements != kUnknownDim && elements <= kMostElements &&
         (IsFloating(type) || IsInteger(type) || type == DataType::kBool);
}

// The value as a tensor, where all of it is known.
std::optional<Tensor> ValueOf(const TensorInfo& info, DataType type) {
  if (info.value != nullptr) return *info.value;
  const std::optional<Shape> shape = info.shape.ToShape();
  if (!info.partial_value.has_value() || !shape.has_value()) return std::nullopt;
  const Dims& elements = *info.partial_value;
  const bool all_known =
      std::find(elements.begin(), elements.end(), kUnknownDim) == elements.end() &&
      shape->num_elements() == static_cast<int64_t>(elements.size());
  if (!all_known) return std::nullopt;
  // Partial values are sizes, which TensorFlow's ops take as int32 or int64.
  if (type == DataType::kInt64) return Tensor::Of<int64_t>(type, elements, *shape);
  if (type != DataType::kInt32) return std::nullopt;
  return Tensor::Of<int32_t>(type, std::vector<int32_t>(elements.begin(), elements.end()), *shape);
}

// The values of all inputs, if it is worth while to compute the outputs.
std::optional<std::vector<Tensor>> InputsToCompute(InferenceContext& context) {
  if (context.num_inputs() == 0 || context.num_outputs() == 0) return std::nullopt;
  bool all_known = true;
  for (int i = 0; i < context.num_outputs(); ++i) {
    const TensorInfo& output = context.output(i);
    if (!IsSmall(output, context.output_type(i))) return std::nullopt;
    all_known &= ValueOf(output, context.output_type(i)).has_value();
  }
  if (all_known) return std::nullopt;
  std::vector<Tensor> inputs;
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (!IsSmall(context.input_info(i), context.input_type(i))) return std::nullopt;
    std::optional<Tensor> value = ValueOf(context.input_info(i), context.input_type(i));
    if (!value.has_value()) return std::nullopt;
    inputs.push_back(*std::move(value));
  }
  return inputs;
}

}  // namespace

void RefineAggressively(const Graph& graph, NodeId n, NodeEvaluator* evaluator,
                        InferenceContext& context) {
  UseNotedShapes(graph, n, context);
  // A node that waits for others may fail or be dead: its value is not known.
  if (evaluator == nullptr || !graph.control_inputs(n).empty()) return;
  const std::optional<std::vector<Tensor>> inputs = InputsToCompute(context);
  if (!inputs.has_value()) return;
  constexpr size_t kMaxBytes = 4096;
  // A plug-in may ask from threads of its own, and an evaluator serves one thread at a time.
  static absl::Mutex mutex(absl::kConstInit);
  absl::MutexLock lock(&mutex);
  absl::StatusOr<std::vector<Tensor>> outputs = evaluator->Evaluate(graph, n, *inputs, kMaxBytes);
  if (!outputs.ok()) return;  // the run reports the error
  for (int i = 0; i < context.num_outputs(); ++i) {
    TensorInfo& info = context.output(i);
    info.shape = PartialShape((*outputs)[i].shape());
    info.value = std::make_shared<const Tensor>(std::move((*outputs)[i]));
  }
}

}  // namespace tenon
