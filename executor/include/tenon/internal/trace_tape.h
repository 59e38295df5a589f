// What a GradientTape that is made in a trace has seen of the trace's graph. Used by the library's
// own headers.
#pragma once

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/gradients.h"
#include "tenon/internal/graph_copy.h"

namespace tenon::inline v0::internal {

// Where in a trace a tape began, and which tensors it was told to watch, each with the number of
// nodes that the graph had then.
struct TraceTape {
  TraceGraph* graph = nullptr;  // null for a tape that was made outside of a trace
  size_t begin = 0;
  std::vector<std::pair<Tensor, size_t>> watched;
};

// A tape records what is computed from watched tensors after it began to watch them, in a trace as
// in eager mode. What else the ys depend on counts as constant. Looks only at what the ys and xs
// depend on: a trace may have many tapes. Not to be used once the graph has changed.
class TraceRecording {
 public:
  TraceRecording(TraceGraph& graph, const TraceTape& tape, const std::vector<TF_Output>& ys,
                 const std::vector<TF_Output>& xs, Where where)
      : end_(graph.CountNodes()) {
    const std::vector<Tensor> captures = graph.captures();
    for (size_t i = 0; i < captures.size(); ++i) {
      if (captures[i].get()->is_trainable) Watch(graph.capture_inputs()[i], 0);
    }
    for (const auto& [tensor, since] : tape.watched) Watch(graph.Resolve(tensor, where), since);
    for (const CustomNode& node : graph.custom_nodes()) {
      for (const TF_Output& output : node.outputs) custom_[output.oper] = &node;
    }
    FindNodes(graph, ys, xs);
    for (const auto& [number, node] : nodes_) {
      if (number < tape.begin) continue;
      if (TakesAny(node, [&, i = number](TF_Output input) { return Watches(input, i); }))
        recorded_.insert(node);
    }
  }

  // Whether a derivative by the tensor, one of the xs or a variable, can be asked for.
  bool Watches(TF_Output output) const { return Watches(output, end_); }

  // The nodes that depend on one of the xs and are not recorded.
  Stops StopsFor(const std::vector<TF_Output>& xs) const {
    std::map<OutputKey, size_t> sources;
    for (const TF_Output& x : xs) sources.emplace(KeyOf(x), 0);
    std::unordered_set<TF_Operation*> depend;
    Stops stops;
    for (const auto& [number, node] : nodes_) {
      const bool depends = TakesAny(node, [&](TF_Output input) {
        return depend.contains(input.oper) || sources.contains(KeyOf(input));
      });
      if (!depends) continue;
      depend.insert(node);
      if (!recorded_.contains(node)) stops.push_back(node);
    }
    return stops;
  }

 private:
  // The nodes on which the outputs depend, in the order in which they were made.
  void FindNodes(TraceGraph& graph, const std::vector<TF_Output>& ys,
                 const std::vector<TF_Output>& xs) {
    std::vector<TF_Operation*> todo;
    for (const auto* const outputs : {&ys, &xs}) {
      for (const TF_Output& output : *outputs) todo.push_back(output.oper);
    }
    std::unordered_set<TF_Operation*> found;
    while (!todo.empty()) {
      TF_Operation* const node = todo.back();
      todo.pop_back();
      if (!found.insert(node).second) continue;
      nodes_.emplace_back(graph.NumberOf(node), node);
      TakesAny(node, [&](TF_Output input) {
        todo.push_back(input.oper);
        return false;
      });
    }
    std::sort(nodes_.begin(), nodes_.end());
  }
  void Watch(TF_Output output, size_t since) {
    const auto [found, is_new] = watched_.emplace(KeyOf(output), since);
    if (!is_new) found->second = std::min(found->second, since);
  }
  // Whether node number `node` records what it computes of the tensor.
  bool Watches(TF_Output output, size_t node) const {
    if (recorded_.contains(output.oper)) return true;
    const auto found = watched_.find(KeyOf(output));
    return found != watched_.end() && found->second <= node;
  }
  // Whether `has` holds of an input of the node, or of the CustomGradient whose result it is.
  template <typename Has>
  bool TakesAny(TF_Operation* node, const Has& has) const {
    if (const auto found = custom_.find(node); found != custom_.end()) {
      const std::vector<TF_Output>& inputs = found->second->inputs;
      return std::any_of(inputs.begin(), inputs.end(), has);
    }
    const int count = TF_OperationNumInputs(node);
    for (int i = 0; i < count; ++i) {
      if (has(TF_OperationInput({node, i}))) return true;
    }
    return false;
  }

  const size_t end_;
  std::vector<std::pair<size_t, TF_Operation*>> nodes_;  // each with its number
  std::map<OutputKey, size_t> watched_;
  std::unordered_map<const void*, const CustomNode*> custom_;
  std::unordered_set<TF_Operation*> recorded_;
};

// The derivatives of the ys by the xs through what the tape has recorded of the graph; an empty
// Tensor for an x that the tape does not watch or that has no gradient (GradientsInGraph).
inline std::vector<Tensor> GradientsOnTape(TraceGraph& graph, const TraceTape& tape,
                                           const std::vector<Tensor>& ys,
                                           const std::vector<GradientSource>& xs,
                                           const std::vector<Tensor>& grad_ys, Where where) {
  std::vector<TF_Output> y_outputs, x_outputs;
  for (const Tensor& y : ys) y_outputs.push_back(graph.Resolve(y, where));
  for (const GradientSource& x : xs) x_outputs.push_back(graph.Resolve(SourceOf(x), where));
  const TraceRecording recording(graph, tape, y_outputs, x_outputs, where);
  std::vector<TF_Output> watched;
  std::vector<size_t> numbers;  // of these xs
  for (size_t i = 0; i < xs.size(); ++i) {
    TF_Output x = x_outputs[i];
    if (!recording.Watches(x) && xs[i].variable().defined())
      x = graph.Resolve(xs[i].variable(), where);
    if (!recording.Watches(x)) continue;
    watched.push_back(x);
    numbers.push_back(i);
  }
  std::vector<Tensor> results(xs.size());
  if (watched.empty()) return results;
  std::vector<Tensor> found =
      GradientsOf(graph, ys, watched, grad_ys, recording.StopsFor(watched), where);
  for (size_t k = 0; k < numbers.size(); ++k) results[numbers[k]] = std::move(found[k]);
  return results;
}

}  // namespace tenon::inline v0::internal
