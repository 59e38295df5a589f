// Gradients inside of a trace: nodes that compute derivatives, added to its graph.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/internal/function_rep.h"
#include "tenon/internal/own.h"
#include "tenon/internal/trace_graph.h"
#include "tenon/op.h"
#include "tenon/variable.h"

namespace tenon::inline v0 {

// What a derivative is taken by: a tensor, or a variable (not the value that it has now). For a
// tensor that a Variable became by conversion: the tensor if a gradient comes to it, else the
// variable. INVALID_ARGUMENT for a null pointer to a Variable.
class GradientSource {
 public:
  GradientSource(const Tensor& tensor) : tensor_(tensor) {  // NOLINT
    if (!tensor.defined() || tensor.get()->read_of == nullptr) return;
    tensor.get()->read_of->refs.fetch_add(1, std::memory_order_relaxed);
    variable_ = Tensor(tensor.get()->read_of);
  }
  GradientSource(const Variable& variable) : tensor_(variable.handle()) {}  // NOLINT
  GradientSource(const Variable* variable)                                  // NOLINT
      : tensor_(variable == nullptr ? ThrowNull() : variable->handle()) {}
  const Tensor& tensor() const { return tensor_; }
  // The handle of the variable that the tensor was read from, if it stands for one.
  const Tensor& variable() const { return variable_; }

 private:
  [[noreturn]] static const Tensor& ThrowNull() {
    internal::Throw(TF_INVALID_ARGUMENT, "A variable to differentiate by is null", Where());
  }

  Tensor tensor_, variable_;
};

namespace internal {

// Lets no gradient of the graph's own nodes come through `outputs`: `backward` says how it goes on
// to `inputs`. Outputs that are differentiable and no handles become other tensors.
inline void GiveGradient(TraceGraph& graph, const std::vector<Tensor>& inputs,
                         std::vector<Tensor>& outputs, CustomBackward backward, Where where) {
  CustomNode node;
  for (const Tensor& input : inputs) node.inputs.push_back(graph.Resolve(input, where));
  for (Tensor& output : outputs) {
    if (!IsDifferentiable(output.dtype()) || output.dtype() == DType::kResource) continue;
    output = Op("StopGradient", where).Input(output).RunOne();
    node.outputs.push_back(output.output());
  }
  node.backward = std::move(backward);
  if (!node.outputs.empty()) graph.custom_nodes().push_back(std::move(node));
}

// TensorFlow's library makes nodes for the gradients of calls that it cannot run. UNIMPLEMENTED if
// one is among those that begin with `prefix`.
inline void CheckNoSymbolicGradient(TraceGraph& graph, const std::string& prefix, Where where) {
  size_t position = 0;
  while (TF_Operation* const node = TF_GraphNextOperation(graph.graph(), &position)) {
    const std::string_view name = TF_OperationName(node);
    if (!name.starts_with(prefix) ||
        std::string_view(TF_OperationOpType(node)) != "SymbolicGradient")
      continue;
    Throw(Error(TF_UNIMPLEMENTED,
                "Gradients through the call of a function in a trace need Tenon's library; this "
                "program runs on another one. Let the callable be a plain C++ function there: its "
                "ops then join the trace",
                "Gradients", std::string(name), where));
  }
}

// The sum of two gradients, which may be lists of tensors.
inline Tensor SumOf(const Tensor& a, const Tensor& b, Where where) {
  if (a.dtype() == DType::kVariant)
    return Op("AddN", where).Input(std::vector<Tensor>{a, b}).RunOne();
  return Op("AddV2", where).Input(a).Input(b).RunOne();
}

// Nodes that count as constants when a derivative is taken.
using Stops = std::vector<TF_Operation*>;

// Adds the nodes to the graph. `xs`, `ys` and `dys` are outputs of the graph; `dys` has one for
// each of `ys`, or is empty for ones. {null, 0} in the result where an x has no gradient.
// TensorFlow's library fails if no path leads to one of `xs`: it is then asked for the others.
// UNIMPLEMENTED for `stops` on a library other than Tenon.
inline std::vector<TF_Output> AddGradientNodes(TraceGraph& graph, std::vector<TF_Output> ys,
                                               std::vector<TF_Output> xs,
                                               std::vector<TF_Output> dys, const Stops& stops,
                                               Where where) {
  if (!stops.empty())
    NeedTenon(TENON_AddGradients, "A gradient that leaves out a part of a graph", where);
  TF_Status* const status = ThreadStatus();
  std::vector<TF_Output> results(xs.size(), TF_Output{nullptr, 0});
  std::vector<size_t> places(xs.size());  // of the xs among the results
  std::iota(places.begin(), places.end(), size_t{0});
  std::vector<TF_Output> found(xs.size());
  std::string prefix;
  const auto add_nodes = [&] {
    prefix = graph.UniqueName("gradients");
    TF_SetStatus(status, TF_OK, "");  // TensorFlow keeps what there was
    const char* const name = prefix.c_str();
    TF_Output* const given = dys.empty() ? nullptr : dys.data();
    const int y_count = static_cast<int>(ys.size()), x_count = static_cast<int>(xs.size());
    if (TENON_AddGradients == nullptr) {  // TensorFlow's library
      TF_AddGradientsWithPrefix(graph.graph(), name, ys.data(), y_count, xs.data(), x_count, given,
                                status, found.data());
    } else {
      TENON_AddGradients(graph.graph(), name, ys.data(), y_count, xs.data(), x_count, given,
                         stops.data(), static_cast<int>(stops.size()), status, found.data());
    }
    if (TF_GetCode(status) == TF_OK) return true;
    const std::string message = TF_Message(status);
    const std::string_view out = Between(message, "for node '", "' as it's unreachable");
    for (size_t i = 0; !out.empty() && i < xs.size(); ++i) {
      if (out != TF_OperationName(xs[i].oper)) continue;
      xs.erase(xs.begin() + static_cast<ptrdiff_t>(i));
      places.erase(places.begin() + static_cast<ptrdiff_t>(i));
      return false;
    }
    return true;
  };
  while (!xs.empty() && !add_nodes()) {
  }
  if (!xs.empty() && TF_GetCode(status) != TF_OK) {
    // Where the message names a node, the place of that node.
    const std::string message = TF_Message(status);
    const std::string node(Between(message, "{{node ", "}}"));
    const Where place = node.empty() ? Where{} : graph.PlaceOf(node);
    Throw(Error(TF_GetCode(status), message, "Gradients", node, place.line() != 0 ? place : where));
  }
  if (TENON_SetNodePlace == nullptr) CheckNoSymbolicGradient(graph, prefix + "/", where);
  for (size_t i = 0; i < places.size(); ++i) results[places[i]] = found[i];
  return results;
}

// As AddGradientNodes, and also through tensors whose gradient the program gives. An empty Tensor
// where an x has no gradient.
inline std::vector<Tensor> GradientsInGraph(TraceGraph& graph, const std::vector<TF_Output>& ys,
                                            const std::vector<TF_Output>& xs,
                                            const std::vector<TF_Output>& dys, Where where,
                                            const Stops& stops = {}) {
  std::vector<Tensor> totals(xs.size());
  const auto add = [&](Tensor& total, TF_Output part) {
    if (part.oper == nullptr) return;
    const Tensor symbol = graph.Symbol(part, where);
    total = total.defined() ? SumOf(total, symbol, where) : symbol;
  };
  const std::vector<CustomNode> custom = graph.custom_nodes();
  const size_t custom_count = custom.size();
  std::vector<std::vector<Tensor>> custom_totals(custom_count);
  for (size_t i = 0; i < custom_count; ++i) custom_totals[i].resize(custom[i].outputs.size());

  // Gradients of some tensors by the xs and by the outputs of the first `count` custom nodes.
  const auto spread = [&](const std::vector<TF_Output>& from, const std::vector<TF_Output>& by,
                          size_t count) {
    std::vector<TF_Output> targets = xs;
    for (size_t i = 0; i < count; ++i)
      targets.insert(targets.end(), custom[i].outputs.begin(), custom[i].outputs.end());
    const std::vector<TF_Output> parts = AddGradientNodes(graph, from, targets, by, stops, where);
    size_t next = 0;
    for (; next < xs.size(); ++next) add(totals[next], parts[next]);
    for (size_t i = 0; i < count; ++i) {
      for (Tensor& total : custom_totals[i]) add(total, parts[next++]);
    }
  };
  spread(ys, dys, custom_count);
  for (size_t i = custom_count; i-- > 0;) {
    bool reached = false;
    for (const Tensor& total : custom_totals[i]) reached = reached || total.defined();
    if (!reached || std::find(stops.begin(), stops.end(), custom[i].outputs[0].oper) != stops.end())
      continue;
    std::vector<Tensor> gradients;
    for (size_t k = 0; k < custom_totals[i].size(); ++k) {
      gradients.push_back(
          custom_totals[i][k].defined()
              ? custom_totals[i][k]
              : Op("ZerosLike", where).Input(graph.Symbol(custom[i].outputs[k], where)).RunOne());
    }
    const auto symbols = [&](const std::vector<TF_Output>& outputs) {
      std::vector<Tensor> tensors;
      for (const TF_Output& output : outputs) tensors.push_back(graph.Symbol(output, where));
      return tensors;
    };
    const CustomNode& node = custom[i];
    std::vector<Tensor> outputs = symbols(node.outputs);
    for (const Tensor& tensor : symbols(node.extra)) outputs.push_back(tensor);
    const std::vector<Tensor> given = node.backward(symbols(node.inputs), outputs, gradients);
    if (given.size() != node.inputs.size()) {
      Throw(TF_INVALID_ARGUMENT,
            "The backward function of a CustomGradient gives " + std::to_string(given.size()) +
                " gradients for " + std::to_string(node.inputs.size()) + " inputs",
            where);
    }
    std::vector<TF_Output> from, by;
    for (size_t k = 0; k < given.size(); ++k) {
      if (!given[k].defined()) continue;
      if (TF_OperationOutputType(node.inputs[k]) == TF_RESOURCE) {
        // The gradient of a variable has the variable's shape, not that of the handle.
        const TF_Output part = graph.Resolve(given[k], where);
        for (size_t x = 0; x < xs.size(); ++x) {
          if (xs[x].oper == node.inputs[k].oper && xs[x].index == node.inputs[k].index)
            add(totals[x], part);
        }
        continue;
      }
      from.push_back(node.inputs[k]);
      by.push_back(graph.Resolve(given[k], where));
    }
    if (!from.empty()) spread(from, by, i);
  }
  return totals;
}

// The tensor by which a derivative by the source is taken: its value, or its variable if no node
// takes the value, which then has no gradient of its own.
inline const Tensor& SourceOf(const GradientSource& x) {
  const bool is_unused =
      x.variable().defined() && (x.tensor().output().oper == nullptr ||
                                 TF_OperationOutputNumConsumers(x.tensor().output()) == 0);
  return is_unused ? x.variable() : x.tensor();
}

// The derivatives of the sum of all `ys`, weighted by `grad_ys` as Gradients has them.
inline std::vector<Tensor> GradientsOf(TraceGraph& graph, const std::vector<Tensor>& ys,
                                       const std::vector<TF_Output>& xs,
                                       const std::vector<Tensor>& grad_ys, const Stops& stops,
                                       Where where) {
  std::vector<TF_Output> y_outputs, dy_outputs;
  for (const Tensor& y : ys) y_outputs.push_back(graph.Resolve(y, where));
  for (size_t i = 0; i < grad_ys.size(); ++i) {
    const Tensor& dy = grad_ys[i];
    dy_outputs.push_back(
        graph.Resolve(dy.defined() ? dy : Op("OnesLike", where).Input(ys[i]).RunOne(), where));
  }
  return GradientsInGraph(graph, y_outputs, xs, dy_outputs, where, stops);
}

}  // namespace internal

// The derivatives of the sum of all `ys` by each of `xs`, as symbols; an empty Tensor where no path
// of differentiable ops leads from an x to a y, but perhaps zeros where x goes into a call, a
// branch or a loop with another result on which y depends. `grad_ys` is empty, or has one entry for
// each of `ys`, which weighs the elements of this y in the sum; an empty Tensor stands for ones.
// Goes through functions, Cond, While and variables. FAILED_PRECONDITION outside a trace:
// GradientTape is for that. INVALID_ARGUMENT for another number of `grad_ys`, and for an empty y or
// x. NOT_FOUND where an op on the path has no gradient.
inline std::vector<Tensor> Gradients(const std::vector<Tensor>& ys,
                                     const std::vector<GradientSource>& xs,
                                     const std::vector<Tensor>& grad_ys = {},
                                     Where where = Where::current()) {
  internal::TraceGraph* const graph = internal::scopes.trace;
  if (graph == nullptr) {
    internal::Throw(TF_FAILED_PRECONDITION,
                    "Gradients adds nodes to a function that is traced; outside, use GradientTape",
                    where);
  }
  if (!grad_ys.empty() && grad_ys.size() != ys.size()) {
    internal::Throw(TF_INVALID_ARGUMENT,
                    "Gradients: " + std::to_string(grad_ys.size()) + " grad_ys for " +
                        std::to_string(ys.size()) + " ys",
                    where);
  }
  std::vector<TF_Output> x_outputs;
  for (const GradientSource& x : xs)
    x_outputs.push_back(graph->Resolve(internal::SourceOf(x), where));
  return internal::GradientsOf(*graph, ys, x_outputs, grad_ys, {}, where);
}

// The value of the tensor, through which no gradient goes back.
inline Tensor StopGradient(const Tensor& tensor, Where where = Where::current()) {
  return Op("StopGradient", where).Input(tensor).RunOne();
}

}  // namespace tenon::inline v0
