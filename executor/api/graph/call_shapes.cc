#include "executor/api/graph/call_shapes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/shape_errors.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_graph.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::api {
namespace {

using Infos = std::vector<TensorInfo>;

// The function that the attribute names; null if there is none.
const FunctionEntry* FunctionOf(const Graph& graph, NodeId n, std::string_view attr) {
  const AttrValue* const value = graph.attrs(n).Find(attr);
  if (value == nullptr) return nullptr;
  const absl::StatusOr<FuncAttr> function = value->AsFunc();
  return function.ok() ? graph.FindFunction(function->name) : nullptr;
}

const FunctionEntry* CalledBy(const Graph& graph, NodeId n) {
  if (const FunctionEntry* const named = graph.FindFunction(graph.op_name(n))) return named;
  return graph.facts(n).calls == CallKind::kFunction ? FunctionOf(graph, n, "f") : nullptr;
}

bool HasOutputShapes(const Graph& graph, NodeId n) {
  const AttrValue* const value = graph.attrs(n).Find("output_shapes");
  return value != nullptr && !value->AsShapeList().value_or(std::vector<PartialShape>()).empty();
}

absl::Status BadIndex(std::string_view what, size_t index, size_t count) {
  return absl::InternalError(absl::StrCat("Function instantiation included invalid ", what,
                                          " index: ", index, " not in [0, ", count, ")."));
}

bool TypesAnArgument(const OpDef& op, std::string_view attr) {
  const auto names = [attr](const ArgDef& arg) {
    return arg.type_attr == attr || arg.type_list_attr == attr || arg.number_attr == attr;
  };
  return std::any_of(op.inputs.begin(), op.inputs.end(), names) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), names);
}

// TensorFlow's error for a function whose body cannot become a graph, in its codes and, for
// results, in its words. OK for what TensorFlow may accept: `made` is then UNIMPLEMENTED.
absl::Status BodyFault(const Graph& owner, const FunctionEntry& function,
                       const absl::Status& made) {
  if (function.signature == nullptr) return absl::OkStatus();
  const FunctionBody body = ParseFunctionBody(owner, function);
  for (const BodyNode& node : body.nodes) {
    if (node.op() == nullptr) return OpNotRegistered(node.op_name());
    for (const AttrDef& attr : node.op()->attrs) {
      if (attr.has_default || !TypesAnArgument(*node.op(), attr.name) ||
          node.attrs().Find(attr.name) != nullptr)
        continue;
      return absl::NotFoundError(
          absl::StrCat("type attr not found: ", attr.name, "\n\tIn ", NodeNameText(node.name)));
    }
  }
  const auto sources = SourcesOfResults(body.returns);
  for (const ArgDef& output : function.signature->outputs) {
    const auto source = sources.find(output.name);
    if (source == sources.end()) {
      return absl::InvalidArgumentError(absl::StrCat("Return ", output.name,
                                                     " missing.\n\tIn function output ",
                                                     output.name, ":", TypeText(output.type)));
    }
    const std::string_view node = source->second.substr(0, source->second.find(':'));
    const auto is_node = [node](const auto& other) { return other.name == node; };
    const std::vector<ArgDef>& args = function.signature->inputs;
    if (std::any_of(body.nodes.begin(), body.nodes.end(), is_node) ||
        std::any_of(args.begin(), args.end(), is_node))
      continue;
    return absl::InvalidArgumentError(absl::StrCat("Return ", output.name, " -> ", source->second,
                                                   " is not found.\n\tIn function output ",
                                                   output.name, ":", TypeText(output.type)));
  }
  const bool refused = absl::IsInvalidArgument(made) || absl::IsAlreadyExists(made);
  return refused ? absl::InvalidArgumentError(made.message()) : absl::OkStatus();
}

// What is left of a shape when it may also be `other`.
PartialShape Common(const PartialShape& shape, const PartialShape& other) {
  if (!shape.known_rank() || shape.rank() != other.rank()) return PartialShape();
  PartialShape common = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) != other.dim(i)) common.set_dim(i, kUnknownDim);
  }
  return common;
}

// Whether the outputs of the node follow from the body of a function.
bool FollowsFromBody(const Graph& graph, NodeId n) {
  const CallKind calls = graph.facts(n).calls;
  if (calls == CallKind::kFunction || calls == CallKind::kWhile) return true;
  return graph.FindFunction(graph.op_name(n)) != nullptr;
}

class CallShapes {
 public:
  // What is known of the node's outputs; empty: nothing.
  absl::StatusOr<Infos> Infer(const Graph& graph, NodeId n, Infos inputs) {
    const auto outputs = static_cast<size_t>(graph.num_outputs(n));
    if (const FunctionEntry* const function = CalledBy(graph, n))
      return InferBody(graph, *function, std::move(inputs), outputs);
    if (graph.facts(n).calls == CallKind::kWhile && !HasOutputShapes(graph, n))
      return InferLoop(graph, n, std::move(inputs));
    return Infos();
  }

 private:
  static constexpr int kMaxDepth = 16, kMaxPasses = 8;

  absl::StatusOr<Infos> InferBody(const Graph& owner, const FunctionEntry& function, Infos inputs,
                                  size_t outputs) {
    absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(owner, function);
    if (!body.ok()) {
      TENON_RETURN_IF_ERROR(BodyFault(owner, function, body.status()));
      return Infos();
    }
    if (body->args.size() > inputs.size()) return BadIndex("input", inputs.size(), inputs.size());
    if (body->results.size() > outputs) return BadIndex("output", outputs, outputs);
    nodes_left_ -= body->graph.num_nodes();
    if (nodes_left_ < 0) return Infos();
    ShapeOptions options;
    for (size_t i = 0; i < body->args.size(); ++i)
      options.feeds.emplace(Output{body->args[i], 0}, std::move(inputs[i]));
    options.describe = [&](NodeId node, const InferenceContext& context,
                           const absl::Status& status) {
      return DescribeShapeError(body->graph, node, context, status);
    };
    absl::Status inner;
    options.refine = [&](NodeId node, InferenceContext& context) {
      inner.Update(RefineCall(body->graph, node, context));
    };
    ++depth_;
    const absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(body->graph, options);
    --depth_;
    TENON_RETURN_IF_ERROR(inner);
    TENON_RETURN_IF_ERROR(shapes.status());
    Infos results;
    for (const NodeId result : body->results) results.push_back(ShapeOf(shapes->info({result, 0})));
    return results;
  }

  // A call in the body of a function.
  absl::Status RefineCall(const Graph& graph, NodeId n, InferenceContext& context) {
    if (depth_ >= kMaxDepth) return absl::OkStatus();
    Infos inputs;
    for (int i = 0; i < context.num_inputs(); ++i) inputs.push_back(context.input_info(i));
    TENON_ASSIGN_OR_RETURN(Infos results, Infer(graph, n, std::move(inputs)));
    for (size_t i = 0; i < results.size(); ++i)
      context.output(static_cast<int>(i)) = std::move(results[i]);
    return absl::OkStatus();
  }

  // Of a loop's variables is known what holds before the loop and after each pass.
  absl::StatusOr<Infos> InferLoop(const Graph& graph, NodeId n, Infos variables) {
    const FunctionEntry* const body = FunctionOf(graph, n, "body");
    if (body == nullptr || depth_ >= kMaxDepth) return Infos();
    for (TensorInfo& variable : variables) variable = ShapeOf(variable);
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const absl::StatusOr<Infos> after = InferBody(graph, *body, variables, variables.size());
      // TensorFlow does not look into the bodies of loops.
      if (!after.ok() || after->size() != variables.size()) return Infos();
      bool changed = false;
      for (size_t i = 0; i < variables.size(); ++i) {
        PartialShape common = Common(variables[i].shape, (*after)[i].shape);
        if (common == variables[i].shape) continue;
        variables[i] = TensorInfo();
        variables[i].shape = std::move(common);
        changed = true;
      }
      if (!changed) return variables;
    }
    return Infos();
  }

  // Without values, which hold for this call alone.
  static TensorInfo ShapeOf(const TensorInfo& info) {
    TensorInfo shape;
    shape.shape = info.shape;
    shape.handle_shape = info.handle_shape;
    shape.handle_type = info.handle_type;
    return shape;
  }

  int depth_ = 0;
  int64_t nodes_left_ = 100'000;
};

}  // namespace

absl::Status InferCall(TF_Graph& graph, NodeId n) {
  if (!FollowsFromBody(graph.graph, n)) return absl::OkStatus();
  Infos inputs;
  for (const Output& from : graph.graph.data_inputs(n))
    inputs.push_back(from.node == kNoNode ? TensorInfo() : graph.shapes.info(from));
  TENON_ASSIGN_OR_RETURN(Infos results, CallShapes().Infer(graph.graph, n, std::move(inputs)));
  for (size_t i = 0; i < results.size(); ++i)
    graph.shapes.Set({n, static_cast<int32_t>(i)}, std::move(results[i]));
  return absl::OkStatus();
}

}  // namespace tenon::api
