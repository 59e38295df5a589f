// Condition and body of the backward loop, and the While that calls them.
#include "graph/gradients/functional/backward_loop.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/control_flow/sides.h"
#include "graph/gradients/functional/function_rules.h"

namespace tenon::gradients {

Value ListShape(GraphBuilder& b, const PartialShape& shape) {
  if (!shape.known_rank()) return b.Scalar(DataType::kInt32, -1);
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i)
    dims.push_back(shape.dim(i) == kUnknownDim ? -1 : shape.dim(i));
  return b.Ints(dims);
}

namespace {

// An iteration waits for all nodes with state, and so for none that is dead in it.
absl::Status CheckEffects(const Graph& graph) {
  if (!HasSwitch(graph)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Sides sides, Sides::Find(graph));
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || graph.op(n) == nullptr || !graph.op(n)->is_stateful) continue;
    if (sides.Of(graph, {n, kControlPort}) != Sides::kNone)
      return absl::UnimplementedError(
          absl::StrCat("it has the node '", graph.name(n), "' (", graph.op_name(n),
                       "), which has state, in a branch of version 1 in a loop"));
  }
  return absl::OkStatus();
}

}  // namespace

BackwardLoop::BackwardLoop(GraphBuilder& b, std::string_view name, std::vector<Value> first,
                           LoopVariables facts, std::unique_ptr<DifferentiatedBody> body)
    : b_(b),
      name_(name),
      first_(std::move(first)),
      facts_(std::move(facts)),
      body_(std::move(body)) {
  for (size_t i = 0; i < first_.size(); ++i) {
    if (facts_.carries_gradient[i]) carried_.push_back(static_cast<int>(i));
  }
}

absl::Status BackwardLoop::Differentiate(absl::FunctionRef<Value(int)> incoming) {
  std::vector<DifferentiatedBody::Seed> seeds;
  for (const int i : carried_) {
    const bool is_handle = first_[i].dtype() == DataType::kResource;
    if (is_handle && !facts_.is_invariant[i])
      return absl::UnimplementedError(
          absl::StrCat("handles of variables that iterations exchange (variable ", i, ")"));
    incoming_.push_back(incoming(i));
    shapes_.push_back(is_handle ? PartialShape() : body_->arg(i).shape());
    seeds.push_back({i, incoming_.back().dtype(), shapes_.back()});
  }
  TENON_RETURN_IF_ERROR(b_.status());
  TENON_RETURN_IF_ERROR(body_->Differentiate(seeds, carried_));
  for (size_t k = 0; k < carried_.size(); ++k) body_->FillZeros(k, seeds[k].type);
  TENON_RETURN_IF_ERROR(body_->Part());
  return Capture();
}

// Chooses how each value of the forward body reaches the backward body. A value that is the same in
// all iterations becomes one more variable of the backward loop, which costs no memory per
// iteration. Any other value must be that of the iteration which is differentiated: the forward
// loop pushes it on a list in each iteration, and the backward loop pops it.
absl::Status BackwardLoop::Capture() {
  const Graph& graph = body_->body().graph;
  for (const Output& captured : body_->captured()) {
    const Origin origin = body_->OriginOf(captured);
    if (origin.kind != Origin::kInside && facts_.is_invariant[origin.index]) {
      if (std::ranges::find(invariants_, origin.index) == invariants_.end())
        invariants_.push_back(origin.index);
      continue;
    }
    const DataType type = BaseType(graph.output_type(captured));
    if (type == DataType::kResource)
      return absl::UnimplementedError(absl::StrCat("body '", body_->name(), "' makes the handle '",
                                                   graph.name(captured.node),
                                                   "', which its gradient needs"));
    saved_.push_back({captured, type, body_->builder().shapes().shape(captured)});
  }
  return absl::OkStatus();
}

void BackwardLoop::ListVariables() {
  const PartialShape scalar = Shape();
  variables_.push_back({"iterations", kCountType, scalar});
  for (size_t k = 0; k < carried_.size(); ++k)
    variables_.push_back(
        {absl::StrCat("d_variable_", carried_[k]), incoming_[k].dtype(), shapes_[k]});
  for (size_t k = 0; k < saved_.size(); ++k)
    variables_.push_back({absl::StrCat("saved_", k), DataType::kVariant, scalar});
  for (const int i : invariants_)
    variables_.push_back({absl::StrCat("variable_", i), first_[i].dtype(), first_[i].shape()});
}

absl::StatusOr<std::vector<Output>> BackwardLoop::AddArguments(FunctionGraph& function) const {
  std::vector<Output> arguments;
  for (const Carried& variable : variables_) {
    TENON_ASSIGN_OR_RETURN(const NodeId n, function.AddArgument(variable.name, variable.type));
    arguments.push_back({n, 0});
  }
  return arguments;
}

// The forward condition cannot say when to stop, since its variables have their last values by now.
// The backward loop counts down from the number of iterations that the forward loop has counted.
absl::Status BackwardLoop::AddCondition(std::string_view name) {
  FunctionGraph condition = FunctionGraph::New(b_.graph());
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> arguments, AddArguments(condition));
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(condition.graph));
  const ShapeOptions options;
  GraphBuilder b(condition.graph, shapes, options);
  b.EnterScope("count");
  const Value more = Compare("Greater", b.At(arguments[0]), b.Scalar(kCountType, 0));
  TENON_RETURN_IF_ERROR(b.status());
  TENON_RETURN_IF_ERROR(condition.AddResult("more", more.output()));
  condition_function_ = b_.AddFunction(absl::StrCat(name, "_backward"), condition);
  return absl::OkStatus();
}

// One iteration backward. Results are in the order of the arguments.
absl::Status BackwardLoop::FillBody(FunctionGraph& body, absl::Span<const Output> arguments) {
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(body.graph));
  const ShapeOptions options;
  GraphBuilder b(body.graph, shapes, options);
  b.EnterScope("saved");
  std::vector<Output> results = {(b.At(arguments[0]) - 1.0).output()};
  absl::flat_hash_map<Output, Output> as;
  for (size_t k = 0; k < carried_.size(); ++k) as[body_->seeds()[k]] = arguments[1 + k];
  const size_t lists = 1 + carried_.size();
  std::vector<Output> shorter;
  for (size_t k = 0; k < saved_.size(); ++k) {
    const NodeId pop =
        b.AddNode("TensorListPopBack", {b.At(arguments[lists + k]), ListShape(b, saved_[k].shape)},
                  {{"element_dtype", attr::Type(saved_[k].type)}});
    shorter.push_back({pop, 0});
    as[saved_[k].from] = {pop, 1};
  }
  TENON_RETURN_IF_ERROR(b.status());
  const absl::Span<const Output> constant = arguments.subspan(lists + saved_.size());
  for (const Output& captured : body_->captured()) {
    const Origin origin = body_->OriginOf(captured);
    const auto at = std::ranges::find(invariants_, origin.index);
    if (origin.kind != Origin::kInside && at != invariants_.end())
      as[captured] = constant[at - invariants_.begin()];
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> gradients,
                         body_->CopyBackward(body, std::move(as)));
  results.insert(results.end(), gradients.begin(), gradients.end());
  results.insert(results.end(), shorter.begin(), shorter.end());
  results.insert(results.end(), constant.begin(), constant.end());
  for (size_t i = 0; i < results.size(); ++i)
    TENON_RETURN_IF_ERROR(body.AddResult(variables_[i].name, results[i]));
  return absl::OkStatus();
}

absl::Status BackwardLoop::AddBody() {
  FunctionGraph body = FunctionGraph::New(b_.graph());
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> arguments, AddArguments(body));
  TENON_RETURN_IF_ERROR(FillBody(body, arguments));
  has_state_ = HasState(body.graph);
  if (has_state_) TENON_RETURN_IF_ERROR(CheckEffects(body.graph));
  body_function_ = b_.AddFunction(absl::StrCat(name_, "_backward"), body);
  return absl::OkStatus();
}

absl::Status BackwardLoop::AddFunctions(std::string_view condition) {
  ListVariables();
  TENON_RETURN_IF_ERROR(AddCondition(condition));
  TENON_RETURN_IF_ERROR(AddBody());
  body_->RemoveBackward();
  return absl::OkStatus();
}

std::vector<Value> BackwardLoop::Call(Output iterations, absl::Span<const Output> lists,
                                      NewAttrs attrs) {
  std::vector<Value> inputs = {b_.At(iterations)};
  inputs.insert(inputs.end(), incoming_.begin(), incoming_.end());
  for (const Output& list : lists) inputs.push_back(b_.At(list));
  for (const int i : invariants_) inputs.push_back(first_[i]);
  std::vector<PartialShape> shapes;
  for (const Carried& variable : variables_) shapes.push_back(variable.shape);
  attrs.push_back({"cond", attr::Func(condition_function_)});
  attrs.push_back({"body", attr::Func(body_function_)});
  attrs.push_back({"output_shapes", attr::ShapeList(shapes)});
  const NodeId loop = b_.AddNode(has_state_ ? "While" : "StatelessWhile", inputs, std::move(attrs));
  std::vector<Value> gradients;
  for (size_t k = 0; k < carried_.size(); ++k)
    gradients.push_back(b_.At(loop, static_cast<int>(1 + k)));
  return gradients;
}

}  // namespace tenon::gradients
