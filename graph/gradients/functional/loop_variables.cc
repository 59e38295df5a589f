// Sweeps over the body until no further variable is found.
#include "graph/gradients/functional/loop_variables.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/gradients.h"

namespace tenon::gradients {
namespace {

class VariableFlow {
 public:
  explicit VariableFlow(const FunctionGraph& body)
      : body_(body), graph_(body.graph), fanouts_(graph_), size_(body.args.size()) {}

  // Adds to `from` the variables that these reach.
  void Forward(std::vector<bool>& from) const;
  // Adds to `to` the variables that reach these.
  void Backward(std::vector<bool>& to) const;
  bool IsInvariant(size_t i) const;

 private:
  const FunctionGraph& body_;
  const Graph& graph_;
  const Fanouts fanouts_;
  const size_t size_;
};

void VariableFlow::Forward(std::vector<bool>& from) const {
  std::vector<bool> seen(graph_.num_node_ids());
  std::vector<NodeId> todo;
  const auto enter = [&] {
    for (size_t i = 0; i < size_; ++i) {
      if (from[i] && !seen[body_.args[i]]) todo.push_back(body_.args[i]);
      if (!from[i] && seen[body_.results[i]]) {
        from[i] = true;
        todo.push_back(body_.args[i]);
      }
    }
  };
  for (enter(); !todo.empty(); enter()) {
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      if (seen[n]) continue;
      seen[n] = true;
      for (const Fanouts::Use& use : fanouts_.of(n)) {
        if (use.port != kControlPort && CarriesGradient(graph_.output_type({n, use.port})))
          todo.push_back(use.node);
      }
    }
  }
}

void VariableFlow::Backward(std::vector<bool>& to) const {
  std::vector<bool> seen(graph_.num_node_ids());
  std::vector<NodeId> todo;
  const auto enter = [&] {
    for (size_t i = 0; i < size_; ++i) {
      to[i] = to[i] || seen[body_.args[i]];
      if (to[i] && !seen[body_.results[i]]) todo.push_back(body_.results[i]);
    }
  };
  for (enter(); !todo.empty(); enter()) {
    while (!todo.empty()) {
      const NodeId n = todo.back();
      todo.pop_back();
      if (seen[n]) continue;
      seen[n] = true;
      for (const Output& in : graph_.data_inputs(n)) todo.push_back(in.node);
    }
  }
}

bool VariableFlow::IsInvariant(size_t i) const {
  Output from = graph_.data_inputs(body_.results[i])[0];
  // A body may hold a cycle of Identities: nothing has sorted it yet.
  for (int left = graph_.num_node_ids(); left > 0 && graph_.op_name(from.node) == "Identity";
       --left)
    from = graph_.data_inputs(from.node)[0];
  return from == Output{body_.args[i], 0};
}

}  // namespace

absl::StatusOr<LoopVariables> FindLoopVariables(const Graph& graph, std::string_view body,
                                                std::vector<bool> wanted,
                                                std::vector<bool> reached) {
  const FunctionEntry* const entry = graph.FindFunction(body);
  if (entry == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("there is no function '", body, "'"));
  const absl::StatusOr<FunctionGraph> made = FunctionGraph::Make(graph, *entry);
  if (!made.ok()) return Annotate(made.status(), absl::StrCat("function '", body, "': "));
  const size_t size = wanted.size();
  if (made->args.size() != size || made->results.size() != size)
    return absl::InvalidArgumentError(
        absl::StrCat("function '", body, "' takes ", made->args.size(), " arguments and gives ",
                     made->results.size(), " results for ", size, " variables"));
  return FindLoopVariables(*made, std::move(wanted), std::move(reached));
}

LoopVariables FindLoopVariables(const FunctionGraph& body, std::vector<bool> wanted,
                                std::vector<bool> reached) {
  const VariableFlow flow(body);
  flow.Forward(wanted);
  flow.Backward(reached);
  LoopVariables variables;
  for (size_t i = 0; i < wanted.size(); ++i) {
    variables.is_invariant.push_back(flow.IsInvariant(i));
    variables.carries_gradient.push_back(
        wanted[i] && reached[i] && CarriesGradient(body.graph.output_type({body.args[i], 0})));
  }
  return variables;
}

}  // namespace tenon::gradients
