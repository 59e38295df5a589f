// A function that computes the gradient of another one: the body, and its gradient behind it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/functions/library_merge.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon {
namespace gradients {
namespace {

// Adds an argument for what flows into each result, and the gradients of all arguments.
absl::StatusOr<std::vector<Output>> Extend(FunctionGraph& body, std::string_view function) {
  GradientRequest request;
  const size_t old_args = body.args.size();
  for (size_t i = 0; i < body.results.size(); ++i) {
    const DataType type = body.graph.output_type({body.results[i], 0});
    TENON_ASSIGN_OR_RETURN(const NodeId dy, body.AddArgument(absl::StrCat("d_result_", i), type));
    if (!CarriesGradient(type) || type == DataType::kResource) continue;
    request.ys.push_back({body.results[i], 0});
    request.grad_ys.push_back({dy, 0});
  }
  for (size_t i = 0; i < old_args; ++i) request.xs.push_back({body.args[i], 0});
  const ShapeOptions options;
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(body.graph, options));
  const Nesting nesting{nullptr, function, 1, absl::StrCat("gradients_of_", function)};
  TENON_ASSIGN_OR_RETURN(
      const std::vector<Gradient> gradients,
      Differentiate(body.graph, shapes, options, request, /*dense=*/true, &nesting));
  GraphBuilder b(body.graph, shapes, options, &nesting);
  b.EnterScope("gradients");
  std::vector<Output> results;
  for (size_t i = 0; i < old_args; ++i) {
    const Value x = b.At(request.xs[i]);
    const bool is_number = IsFloating(x.dtype()) || IsComplex(x.dtype());
    if (gradients[i].none()) {
      results.push_back((is_number ? ZeroGradientOf(x) : ZerosLike(x)).output());
    } else {
      results.push_back(gradients[i].values);
    }
  }
  if (!b.ok()) return b.status();
  return results;
}

}  // namespace
}  // namespace gradients

absl::StatusOr<std::string> AddGradientFunction(Graph& graph, std::string_view function) {
  if (const std::string_view given = GradientOf(graph, function); !given.empty())
    return std::string(given);
  const FunctionEntry* const entry = graph.FindFunction(function);
  if (entry == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("there is no function '", function, "'"));
  const std::string where = absl::StrCat("the gradient of function '", function, "': ");
  absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph, *entry);
  if (!body.ok()) return Annotate(body.status(), where);
  const absl::StatusOr<std::vector<Output>> results = gradients::Extend(*body, function);
  if (!results.ok()) return Annotate(results.status(), where);
  for (NodeId& result : body->results) result = kNoNode;
  for (size_t i = 0; i < results->size(); ++i)
    TENON_RETURN_IF_ERROR(body->AddResult(absl::StrCat("d_argument_", i), (*results)[i]));
  std::vector<std::string> wires;
  for (const FunctionEntry& made : body->graph.functions()) wires.emplace_back(made.wire);
  PutFunctions(graph, wires);
  return gradients::AddFunction(graph, absl::StrCat(function, "_gradient"), *body);
}

}  // namespace tenon
