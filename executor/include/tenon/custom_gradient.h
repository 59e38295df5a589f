// Functions whose gradient the program gives.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/gradients.h"
#include "tenon/internal/custom_call.h"
#include "tenon/internal/custom_control_flow.h"
#include "tenon/internal/tape.h"

namespace tenon::inline v0 {
namespace internal {

// Adds the node of `call`, which names a function that has a CustomGradient in it, to the trace of
// this thread. A PartitionedCall goes back as CallWithCustomGradient does, and so do branches and
// loops. The gradient of any other op throws UNIMPLEMENTED: a graph has no place for the C++
// function of the CustomGradient.
inline std::vector<Tensor> RunWithCustomGradient(OpCall& call, const NodeOptions& options) {
  TraceGraph& graph = *scopes.trace;
  if (call.type == "PartitionedCall" || call.type == "StatefulPartitionedCall") {
    for (const NamedAttr& attr : call.attrs) {
      if (attr.name != "f") continue;
      const std::shared_ptr<FunctionRep> function = WithCustomGradient(attr.functions[0]);
      std::vector<TF_Output> takes = function->graph()->inputs();
      const std::vector<TF_Output>& captures = function->graph()->capture_inputs();
      takes.insert(takes.end(), captures.begin(), captures.end());
      const bool is_right =
          std::equal(takes.begin(), takes.end(), call.tensors.begin(), call.tensors.end(),
                     [&](TF_Output input, const Tensor& tensor) {
                       return static_cast<DType>(TF_OperationOutputType(input)) ==
                              tensor.rep(call.where).dtype;
                     });
      if (!is_right) return RunAsNode(call, options);  // which says what is wrong
      return CallWithCustomGradient(graph, function, call.tensors, call.where, options.name);
    }
  }
  CustomBackward way = WayBackThrough(call);
  if (!way) {
    way = [type = call.type, where = call.where](
              const std::vector<Tensor>&, const std::vector<Tensor>&,
              const std::vector<Tensor>&) -> std::vector<Tensor> {
      Throw(Error(TF_UNIMPLEMENTED, "The gradient of a CustomGradient within this op is not built",
                  type, {}, where));
    };
  }
  std::vector<Tensor> outputs = RunAsNode(call, options);
  GiveGradient(graph, call.tensors, outputs, std::move(way), call.where);
  return outputs;
}

template <typename T>
std::vector<Tensor> AsTensors(const T& value) {
  if constexpr (std::is_convertible_v<const T&, Tensor>) {
    return {value};
  } else if constexpr (IsTuple<T>::value) {
    return std::apply([](const auto&... parts) { return std::vector<Tensor>{parts...}; }, value);
  } else {
    return std::vector<Tensor>(value.begin(), value.end());
  }
}

template <typename Backward, size_t... i>
std::vector<Tensor> CallBackward(const Backward& backward, const std::vector<Tensor>& inputs,
                                 const std::vector<Tensor>& outputs,
                                 const std::vector<Tensor>& gradients, std::index_sequence<i...>) {
  using List = const std::vector<Tensor>&;
  if constexpr (std::is_invocable_v<const Backward&, List, List, List>) {
    return AsTensors(backward(inputs, outputs, gradients));
  } else if constexpr (std::is_invocable_v<const Backward&, const Tensor&,
                                           decltype((void)i, std::declval<const Tensor&>())...>) {
    return AsTensors(backward(gradients[0], inputs[i]...));
  } else {
    static_assert(
        std::is_invocable_v<const Backward&, const Tensor&>,
        "The backward function of a CustomGradient takes the gradient of the result, or it "
        "and the inputs, or three std::vector<Tensor>: inputs, outputs, gradients");
    return AsTensors(backward(gradients[0]));
  }
}

// While it lives, this thread runs the forward function of a CustomGradient, and no tape records.
struct VariableWatch {
  VariableWatch(const std::vector<Tensor>& given, Where made)
      : inputs(given), where(made), outer(std::exchange(scopes.watch, this)), tape(scopes.tape) {}
  VariableWatch(const VariableWatch&) = delete;
  VariableWatch& operator=(const VariableWatch&) = delete;
  ~VariableWatch() { scopes.watch = outer; }

  const std::vector<Tensor>& inputs;
  const Where where;  // of the CustomGradient
  const VariableWatch* const outer;
  const TapeRep* const tape;
  const PauseTapes pause;
};

inline void CheckVariables(const VariableWatch& watch, const OpCall& call) {
  for (const char* const prefix :
       {"Assign", "ResourceApply", "ResourceScatter", "VarIsInitialized", "VariableShape"}) {
    if (call.type.starts_with(prefix)) return;
  }
  for (const Tensor& tensor : call.tensors) {
    if (!tensor.defined() || tensor.get()->variable == nullptr) continue;
    bool is_asked_for = tensor.get()->is_trainable;
    for (const VariableWatch* of = &watch; of != nullptr; of = of->outer) {
      for (const TapeRep* tape = of->tape; tape != nullptr; tape = tape->outer)
        is_asked_for = is_asked_for || (tape->recording && tape->Watches(tensor));
    }
    if (!is_asked_for || std::any_of(watch.inputs.begin(), watch.inputs.end(),
                                     [&](const Tensor& t) { return t.get() == tensor.get(); }))
      continue;
    const std::string& name = tensor.get()->variable->name;
    Throw(Error(TF_INVALID_ARGUMENT,
                "The forward function of a CustomGradient uses the variable \"" + name +
                    "\", to which its backward function gives no gradient. Hand the variable over"
                    " as an argument, CustomGradient(forward, backward)(x, " +
                    name + "), or make it with {.trainable = false}",
                "CustomGradient", {}, watch.where));
  }
}

inline void CheckGradientCount(size_t given, size_t inputs, Where where) {
  if (given == inputs) return;
  Throw(TF_INVALID_ARGUMENT,
        "The backward function of a CustomGradient gives " + std::to_string(given) +
            (given == 1 ? " gradient for " : " gradients for ") + std::to_string(inputs) +
            (inputs == 1 ? " input" : " inputs") +
            ": it gives one for each, an empty Tensor where there is none",
        where);
}

}  // namespace internal

// A function of tensors whose gradient the program gives: CustomGradient(forward, backward)(x, y).
// INVALID_ARGUMENT for an empty Tensor. `forward` takes tensors and gives one, or a std::vector or
// std::tuple of them. `backward` is called when a gradient comes to the result, and gives the
// gradients of the inputs, a Tensor or a std::vector or std::tuple of them; an empty Tensor for
// none. `backward` takes the gradient of the result; or the gradient and the inputs; or, for more
// results, three std::vector<Tensor>: inputs, outputs, gradients. A `backward` that can take three
// lists gets them, so a generic lambda of three parameters does. Of more results the first two
// forms get the gradient of the first alone, zeros if none comes to it; the others are lost. What
// `backward` does beside that, such as an assignment, it does when a gradient is computed. Both
// functions are copied, and `backward` lives as long as a tape or a trace that has recorded the
// call. INVALID_ARGUMENT if `forward` reads a variable that is trainable or that a tape watches,
// and that is not among the arguments: the variable would get no gradient. Other tensors that
// `forward` takes from outside get no gradient. INVALID_ARGUMENT, when a gradient is computed, if
// `backward` gives another number of gradients than there are inputs. Branches and loops of a trace
// that have a CustomGradient run again on the way back: the gradient is UNIMPLEMENTED if they write
// state, draw random numbers or read a variable that is assigned.
template <typename Forward, typename BackwardFunction>
auto CustomGradient(Forward forward, BackwardFunction backward, Where where = Where::current()) {
  return
      [forward = std::move(forward), backward = std::move(backward), where](const auto&... args) {
        internal::run_with_custom_gradient.store(internal::RunWithCustomGradient,
                                                 std::memory_order_release);
        internal::call_with_custom_gradient.store(internal::CallWithCustomGradient,
                                                  std::memory_order_release);
        internal::check_variables.store(internal::CheckVariables, std::memory_order_release);
        const std::vector<Tensor> inputs{Tensor(args)...};
        for (const Tensor& input : inputs) input.rep(where);
        internal::CustomBackward way = [backward, where](const std::vector<Tensor>& in,
                                                         const std::vector<Tensor>& out,
                                                         const std::vector<Tensor>& gradients) {
          std::vector<Tensor> given = internal::CallBackward(
              backward, in, out, gradients, std::index_sequence_for<decltype(args)...>());
          internal::CheckGradientCount(given.size(), in.size(), where);
          return given;
        };
        const auto run = [&]<size_t... i>(std::index_sequence<i...>) {
          return forward(inputs[i]...);
        };
        auto result = [&] {
          const internal::VariableWatch watch(inputs, where);
          return run(std::index_sequence_for<decltype(args)...>());
        }();
        if (internal::TraceGraph* const graph = internal::scopes.trace) {
          internal::CustomNode node;
          for (const Tensor& input : inputs) node.inputs.push_back(graph->Resolve(input, {}));
          std::vector<Tensor> outputs;
          for (const Tensor& output : internal::AsTensors(result)) {
            outputs.push_back(StopGradient(output));
            node.outputs.push_back(outputs.back().output());
          }
          node.backward = std::move(way);
          if (!node.outputs.empty()) graph->custom_nodes().push_back(std::move(node));
          internal::ReplaceTensors replace(outputs);
          internal::Walk(result, replace);
          return result;
        }
        if (internal::scopes.tape != nullptr) {
          auto record = std::make_shared<internal::TapeRecord>();
          record->custom = std::move(way);
          record->given = inputs;
          // Results of their own, so that an input that is given back is not taken for a result.
          for (const Tensor& output : internal::AsTensors(result)) {
            const internal::PauseTapes pause;
            record->outputs.push_back(Op("Identity").Input(output).RunOne());
          }
          internal::ReplaceTensors replace(record->outputs);
          internal::Walk(result, replace);
          internal::KeepOnTapes(record);
        }
        return result;
      };
}

}  // namespace tenon::inline v0
