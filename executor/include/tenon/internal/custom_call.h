// Calls, in a trace, of functions in which the program gives a gradient: the call keeps what the
// way back through the function needs. Used by the library's own headers.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/internal/backward.h"

namespace tenon::inline v0::internal {

// A call that keeps what the way back needs.
struct KeptCall {
  std::shared_ptr<const Backward> way;
  // Of the forward function of the way; of the function if the way has none.
  std::vector<Tensor> outputs;
};

// Whether a node of the graph that writes takes a variable that is among `tensors`: its value may
// have changed since the function was called.
inline bool MayReadOtherValues(TraceGraph& graph, const std::vector<Tensor>& tensors, Where where) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != DType::kResource) continue;
    const TF_Output resource = graph.Resolve(tensor, where);
    for (TF_Operation* const node : graph.must_run()) {
      bool takes = false;
      BackwardSplit::ForInputs(node,
                               [&](TF_Output input) { takes |= KeyOf(input) == KeyOf(resource); });
      if (takes) return true;
    }
  }
  return false;
}

// Throws UNIMPLEMENTED unless the function, called with these tensors in the trace of the graph,
// gives what it gave when it was called there before. `what` asks for that.
inline void CheckMayRunAgain(TraceGraph& graph, const FunctionRep& function,
                             const std::vector<Tensor>& tensors, const char* what, Where where) {
  const StateUse& use = function.use();
  if (use.effect < Effect::kWrite && !use.draws &&
      (use.effect != Effect::kRead || !MayReadOtherValues(graph, tensors, where)))
    return;
  Throw(
      TF_UNIMPLEMENTED,
      std::string("The ") + what +
          " that has a CustomGradient needs a value from within it, and it has side effects, draws"
          " random numbers or reads a variable that is assigned. Take these out of it",
      where);
}

inline std::vector<Tensor> CallWithCustomGradient(TraceGraph& graph,
                                                  const std::shared_ptr<FunctionRep>& function,
                                                  const std::vector<Tensor>& tensors, Where where,
                                                  const std::string& name);
inline std::vector<Tensor> GoBackAgain(const std::shared_ptr<FunctionRep>& function,
                                       const std::vector<Tensor>& taken,
                                       const std::vector<Tensor>& gradients, Where where);

// A call whose way back is built when a gradient is asked for: then the function runs again. If
// building fails, that request gets the error, and the next one builds anew.
inline std::vector<Tensor> CallAndAskLater(TraceGraph& graph,
                                           const std::shared_ptr<FunctionRep>& function,
                                           const std::vector<Tensor>& tensors, Where where,
                                           const std::string& name) {
  std::vector<Tensor> outputs = CallInTrace(graph, function, tensors, where, name);
  const auto again = [function, where](const std::vector<Tensor>& in, const std::vector<Tensor>&,
                                       const std::vector<Tensor>& gradients) {
    BackwardOf(function, std::string(in.size(), 1), where);
    CheckMayRunAgain(*scopes.trace, *function, in, "gradient of a called function", where);
    return GoBackAgain(function, in, gradients, where);
  };
  GiveGradient(graph, tensors, outputs, again, where);
  return outputs;
}

// A call in this trace of a function that was traced before, of which derivatives are less likely
// to be asked for. `taken` has the captures of the function behind its inputs. The way back is
// built later where it can be: else each derivative would make the next one.
inline std::vector<Tensor> CallAgain(const std::shared_ptr<FunctionRep>& function,
                                     const std::vector<Tensor>& taken, Where where) {
  TraceGraph& graph = *scopes.trace;
  if (function->custom_nodes().empty()) return CallInTrace(graph, function, taken, where);
  if (function->use().effect < Effect::kWrite && !function->use().draws)
    return CallAndAskLater(graph, function, taken, where, {});
  return CallWithCustomGradient(graph, function, taken, where, {});
}

// Returns the gradients of `inputs`, which a function takes. `outputs` are those of the forward
// function of `way`; `gradients` are those of the outputs that `way.dys` lists. way.function must
// not be null.
inline std::vector<Tensor> GoBackBy(const Backward& way, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& outputs,
                                    const std::vector<Tensor>& gradients, Where where) {
  std::vector<Tensor> takes, gives;
  for (const Backward::Need& need : way.needs)
    takes.push_back((need.kind == Backward::Need::Kind::kInput ? inputs : outputs)[need.index]);
  takes.insert(takes.end(), gradients.begin(), gradients.end());
  const std::vector<Tensor> found =
      CallAgain(way.function, WithCaptures(*way.function, std::move(takes)), where);
  for (const int number : way.results)
    gives.push_back(number < 0 ? Tensor() : found[static_cast<size_t>(number)]);
  return gives;
}

// Returns the gradients of the first `input_count` tensors that the forward function of a way
// takes. `gradients` are those of its outputs `numbers`. `second` is the way back through this
// forward function; `taken` and `outputs` are those of the forward function of `second`.
inline std::vector<Tensor> GoBackFromExtra(const Backward& second, size_t input_count,
                                           const std::vector<size_t>& numbers,
                                           const std::vector<Tensor>& taken,
                                           const std::vector<Tensor>& outputs,
                                           const std::vector<Tensor>& gradients, Where where) {
  if (second.function == nullptr) return std::vector<Tensor>(input_count);
  std::vector<Tensor> dys;
  for (const size_t i : second.dys) {
    const auto found = std::find(numbers.begin(), numbers.end(), i);
    dys.push_back(found == numbers.end() ? Op("ZerosLike", where).Input(outputs[i]).RunOne()
                                         : gradients[static_cast<size_t>(found - numbers.begin())]);
  }
  std::vector<Tensor> gives = GoBackBy(second, taken, outputs, dys, where);
  gives.resize(input_count);
  return gives;
}

// The graph of the called function alone knows of the gradients that the program gives. So the call
// is a tensor with a given gradient too: the way back through the function. A function that does
// not give the same when it runs again keeps at once what a second derivative needs.
inline KeptCall CallKeeping(TraceGraph& graph, const std::shared_ptr<FunctionRep>& function,
                            const std::vector<Tensor>& tensors, std::shared_ptr<const Backward> way,
                            Where where, const std::string& name) {
  if (way->function == nullptr) {
    std::vector<Tensor> outputs = CallInTrace(graph, function, tensors, where, name);
    const auto none = [](const std::vector<Tensor>& in, const std::vector<Tensor>&,
                         const std::vector<Tensor>&) { return std::vector<Tensor>(in.size()); };
    GiveGradient(graph, tensors, outputs, none, where);
    return {std::move(way), std::move(outputs)};
  }
  std::vector<Tensor> taken = WithCaptures(*way->forward, tensors);
  std::shared_ptr<const Backward> second;
  if (function->use().effect == Effect::kWrite || function->use().draws) {
    std::exception_ptr error;
    second = TryBackwardOf(way->forward, std::string(taken.size(), 1), where, &error);
    if (second != nullptr && second->function == nullptr) second = nullptr;
    if (second != nullptr) taken = WithCaptures(*second->forward, std::move(taken));
  }
  CustomNode node, saved, beyond;
  for (const Tensor& tensor : tensors) node.inputs.push_back(graph.Resolve(tensor, where));
  saved.inputs = beyond.inputs = node.inputs;
  std::vector<Tensor> outputs =
      CallInTrace(graph, second == nullptr ? way->forward : second->forward, taken, where, name);
  const size_t count = function->outputs().size(), kept = way->forward->outputs().size();
  std::vector<size_t> saved_numbers;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (IsDifferentiable(output.dtype()) && output.dtype() != DType::kResource) {
      output = Op("StopGradient", where).Input(output).RunOne();
      (i < count ? node : i < kept ? saved : beyond).outputs.push_back(output.output());
      if (i >= count && i < kept) saved_numbers.push_back(i);
    }
    if (i < kept) node.extra.push_back(output.output());
    saved.extra.push_back(output.output());
  }
  node.backward = [way, where](const std::vector<Tensor>& in, const std::vector<Tensor>& out,
                               const std::vector<Tensor>& gradients) {
    // The extra outputs stand behind those that have gradients.
    const std::vector<Tensor> all(out.begin() + static_cast<ptrdiff_t>(gradients.size()),
                                  out.end());
    return GoBackBy(*way, in, all, gradients, where);
  };
  saved.backward = [way, second, saved_numbers, where](const std::vector<Tensor>& in,
                                                       const std::vector<Tensor>& out,
                                                       const std::vector<Tensor>& gradients) {
    const std::vector<Tensor> all = WithCaptures(*way->forward, in);
    if (second != nullptr) {
      return GoBackFromExtra(
          *second, in.size(), saved_numbers, all,
          std::vector<Tensor>(out.begin() + static_cast<ptrdiff_t>(gradients.size()), out.end()),
          gradients, where);
    }
    // The function is run again, and keeps what this way back needs.
    TraceGraph& trace = *scopes.trace;
    CheckMayRunAgain(trace, *way->forward, all, "second derivative of a called function", where);
    const KeptCall again =
        CallKeeping(trace, way->forward, all,
                    BackwardOf(way->forward, std::string(in.size(), 1), where), where, {});
    return GoBackFromExtra(*again.way, in.size(), saved_numbers, all, again.outputs, gradients,
                           where);
  };
  beyond.backward = [where](const std::vector<Tensor>&, const std::vector<Tensor>&,
                            const std::vector<Tensor>&) -> std::vector<Tensor> {
    Throw(TF_UNIMPLEMENTED,
          "The third derivative of a called function that has a CustomGradient and side effects,"
          " random numbers or variables is not built. Let the function be a plain C++ function",
          where);
  };
  for (CustomNode* const given : {&beyond, &saved, &node}) {
    if (given == &node || !given->outputs.empty())
      graph.custom_nodes().push_back(std::move(*given));
  }
  outputs.resize(kept);
  return {std::move(way), std::move(outputs)};
}

// Calls the function again in this trace, and returns the gradients of `given`, which it takes.
// `gradients` has one for each output that may have a gradient.
inline std::vector<Tensor> GoBackAgain(const std::shared_ptr<FunctionRep>& function,
                                       const std::vector<Tensor>& given,
                                       const std::vector<Tensor>& gradients, Where where) {
  TraceGraph& graph = *scopes.trace;
  // Tensors of their own, beyond which no gradient goes: one that is given may depend on another
  // one, or on a variable that is given too.
  std::vector<Tensor> taken = given;
  Stops stops;
  bool takes_variable = false;
  for (Tensor& tensor : taken) {
    if (tensor.dtype() == DType::kResource) {
      takes_variable = true;
      continue;
    }
    tensor = Op("Identity", where).Input(tensor).RunOne();
    stops.push_back(tensor.output().oper);
  }
  if (!takes_variable && TENON_AddGradients == nullptr) stops.clear();  // TensorFlow's library
  std::vector<TF_Output> xs, ys, dys;
  std::vector<size_t> numbers;  // of the xs among what is taken
  const std::vector<Tensor> outputs =
      function->custom_nodes().empty() ? CallInTrace(graph, function, taken, where)
                                       : CallWithCustomGradient(graph, function, taken, where, {});
  for (const Tensor& output : outputs) {
    if (!IsDifferentiable(output.dtype()) || output.dtype() == DType::kResource) continue;
    dys.push_back(graph.Resolve(gradients[ys.size()], where));
    ys.push_back(output.output());
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!IsDifferentiable(taken[i].dtype())) continue;
    xs.push_back(graph.Resolve(taken[i], where));
    numbers.push_back(i);
  }
  std::vector<Tensor> results(taken.size());
  if (xs.empty() || ys.empty()) return results;
  std::vector<Tensor> found = GradientsInGraph(graph, ys, xs, dys, where, stops);
  for (size_t k = 0; k < numbers.size(); ++k) results[numbers[k]] = std::move(found[k]);
  return results;
}

// Adds a call of a function that has a CustomGradient in it to the trace, and returns the outputs
// of the function. An error of building the way back is thrown when a gradient comes, not here.
inline std::vector<Tensor> CallWithCustomGradient(TraceGraph& graph,
                                                  const std::shared_ptr<FunctionRep>& function,
                                                  const std::vector<Tensor>& tensors, Where where,
                                                  const std::string& name) {
  std::exception_ptr error;
  std::shared_ptr<const Backward> way =
      TryBackwardOf(function, std::string(tensors.size(), 1), where, &error);
  std::vector<Tensor> outputs;
  if (way == nullptr) {
    outputs = CallAndAskLater(graph, function, tensors, where, name);
  } else {
    outputs = CallKeeping(graph, function, tensors, std::move(way), where, name).outputs;
  }
  outputs.resize(function->outputs().size());
  return outputs;
}

}  // namespace tenon::inline v0::internal
