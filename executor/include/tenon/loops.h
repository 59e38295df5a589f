// Loops by values of tensors: nodes of a trace, plain C++ outside of one.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/branches.h"
#include "tenon/internal/function_ref.h"

namespace tenon::inline v0 {
namespace internal {

// What a body of While gives, as a tuple.
template <typename T>
auto AsTuple(T value) {
  if constexpr (IsTuple<T>::value) {
    return value;
  } else if constexpr (std::is_convertible_v<T, Tensor>) {
    return std::make_tuple(Tensor(value));
  } else {
    static_assert(kNever<T>,
                  "The body of While gives a Tensor, or a std::tuple of as many tensors "
                  "as the loop has variables");
  }
}

// The place of the call that made the output, if there is one, else `where`.
inline Where PlaceIn(TraceGraph& graph, TF_Output output, Where where) {
  const Where place = graph.PlaceOf(TF_OperationName(output.oper));
  return place.line() != 0 ? place : where;
}

inline void CheckLoopCount(size_t given, size_t variables, Where where) {
  if (given == variables) return;
  Throw(Error(TF_INVALID_ARGUMENT,
              "The body gives " + std::to_string(given) + (given == 1 ? " tensor" : " tensors") +
                  " for " + std::to_string(variables) +
                  (variables == 1 ? " variable" : " variables"),
              "While", {}, where));
}

// A loop as a node. The callables take the variables as a vector.
inline std::vector<Tensor> LoopInTrace(
    FunctionRef<Tensor(const std::vector<Tensor>&)> cond,
    FunctionRef<std::vector<Tensor>(const std::vector<Tensor>&)> body,
    const std::vector<Tensor>& variables, Where where) {
  TraceGraph& graph = *scopes.trace;
  const std::lock_guard lock(TraceMutex());
  std::vector<Shape> shapes;
  for (const Tensor& variable : variables) shapes.push_back(variable.shape());
  std::vector<Branch> parts;
  // A shape that the body does not keep is unknown where it differs, and the loop is traced again.
  for (;;) {
    parts.clear();
    const auto trace = [&](const auto& callable, const char* prefix) {
      Branch part(&graph);
      const TraceScope scope(part.graph.get(), scopes.device);
      std::vector<Tensor> symbols;
      for (size_t i = 0; i < variables.size(); ++i) {
        symbols.push_back(part.graph->AddInput(variables[i].dtype(), shapes[i],
                                               prefix + std::to_string(i), where));
        part.graph->CopyHandleData(variables[i], symbols.back().output());
      }
      for (const Tensor& result : callable(symbols))
        part.outputs.push_back(part.graph->Resolve(result, where));
      parts.push_back(std::move(part));
    };
    trace([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{cond(in)}; }, "var_");
    trace(body, "var_");
    const Branch& traced = parts[1];
    CheckLoopCount(traced.outputs.size(), variables.size(), where);
    bool kept = true;
    for (size_t i = 0; i < variables.size(); ++i) {
      const Tensor result = traced.graph->Symbol(traced.outputs[i], where);
      if (result.dtype() != variables[i].dtype()) {
        Throw(TF_INVALID_ARGUMENT,
              "Variable " + std::to_string(i) + " of While is of type " +
                  Name(variables[i].dtype()) + ", the body gives it " + Name(result.dtype()),
              PlaceIn(*traced.graph, traced.outputs[i], where));
      }
      // A condition over a tensor of any rank could not be told from one over a scalar.
      if (shapes[i].has_rank() && result.shape().has_rank() &&
          shapes[i].rank() != result.shape().rank()) {
        Throw(TF_INVALID_ARGUMENT,
              "Variable " + std::to_string(i) + " of While has shape " + shapes[i].ToString() +
                  ", the body gives it another rank: " + result.shape().ToString(),
              PlaceIn(*traced.graph, traced.outputs[i], where));
      }
      const Shape common = Common(shapes[i], result.shape());
      kept = kept && common == shapes[i];
      shapes[i] = common;
    }
    if (kept) break;
  }
  const Tensor decides = parts[0].graph->Symbol(parts[0].outputs[0], where);
  if (decides.dtype() != DType::kBool) {
    Throw(TF_INVALID_ARGUMENT,
          std::string("The condition of While is of type ") + Name(decides.dtype()) + ", not bool",
          PlaceIn(*parts[0].graph, parts[0].outputs[0], where));
  }
  const std::vector<Tensor> captures = ShareCaptures(parts, where);
  // The body hands the captures on.
  for (const TF_Output& capture : parts[1].graph->capture_inputs())
    parts[1].outputs.push_back(capture);
  std::vector<Tensor> inputs = variables;
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  for (const Tensor& capture : captures) shapes.push_back(capture.shape());
  Op op = OpOfBranches("While", parts, where);
  op.Name("while").Input(inputs).Attr("T", TypesOf(inputs)).Attr("output_shapes", shapes);
  op.Attr("cond", FinishBranch(parts[0], "while_cond", where));
  op.Attr("body", FinishBranch(parts[1], "while_body", where));
  std::vector<Tensor> outputs = op.Run();
  for (size_t i = 0; i < outputs.size(); ++i) graph.CopyHandleData(inputs[i], outputs[i].output());
  outputs.resize(variables.size());
  return outputs;
}

// A loop: LoopInTrace in a trace, plain C++ outside of one.
inline std::vector<Tensor> Loop(FunctionRef<Tensor(const std::vector<Tensor>&)> cond,
                                FunctionRef<std::vector<Tensor>(const std::vector<Tensor>&)> body,
                                std::vector<Tensor> variables, Where where) {
  if (scopes.trace != nullptr) return LoopInTrace(cond, body, variables, where);
  const size_t count = variables.size();
  while (cond(variables)) {
    variables = body(variables);
    CheckLoopCount(variables.size(), count, where);
  }
  return variables;
}

template <typename F, size_t... i>
auto CallWith(const F& callable, const std::vector<Tensor>& tensors, std::index_sequence<i...>) {
  return callable(tensors[i]...);
}

template <typename Condition, typename Body, typename... Variables>
auto WhileAt(Where where, const Condition& cond, const Body& body, const Variables&... variables) {
  constexpr auto kNumbers = std::index_sequence_for<Variables...>();
  const std::vector<Tensor> results =
      Loop([&](const std::vector<Tensor>& in) -> Tensor { return CallWith(cond, in, kNumbers); },
           [&](const std::vector<Tensor>& in) {
             const auto tuple = AsTuple(CallWith(body, in, kNumbers));
             return std::apply(
                 [](const auto&... part) { return std::vector<Tensor>{Tensor(part)...}; }, tuple);
           },
           {Tensor(variables)...}, where);
  if constexpr (sizeof...(Variables) == 1) {
    return results[0];
  } else {
    return [&]<size_t... i>(std::index_sequence<i...>) { return std::make_tuple(results[i]...); }
    (kNumbers);
  }
}

}  // namespace internal

// Runs `body` on the variables while `cond` of them is true, and gives what they are then: a Tensor
// for one variable, else a std::tuple. Both callables take the variables as tensors; `cond` gives a
// scalar of type kBool, `body` a Tensor or a std::tuple of as many tensors as there are variables.
// In a trace the loop is one node. The body must keep types and known ranks there, and lengths that
// it changes are unknown in the loop; both callables may be traced several times. INVALID_ARGUMENT
// for another number of tensors, and in a trace for other types or ranks. Loops of up to six
// variables know the place of the call.
template <typename Condition, typename Body, internal::AsTensor A>
auto While(const Condition& cond, const Body& body, const A& a, Where where = Where::current()) {
  return internal::WhileAt(where, cond, body, a);
}
template <typename Condition, typename Body, internal::AsTensor A, internal::AsTensor B>
auto While(const Condition& cond, const Body& body, const A& a, const B& b,
           Where where = Where::current()) {
  return internal::WhileAt(where, cond, body, a, b);
}
template <typename Condition, typename Body, internal::AsTensor A, internal::AsTensor B,
          internal::AsTensor C>
auto While(const Condition& cond, const Body& body, const A& a, const B& b, const C& c,
           Where where = Where::current()) {
  return internal::WhileAt(where, cond, body, a, b, c);
}
template <typename Condition, typename Body, internal::AsTensor A, internal::AsTensor B,
          internal::AsTensor C, internal::AsTensor D>
auto While(const Condition& cond, const Body& body, const A& a, const B& b, const C& c, const D& d,
           Where where = Where::current()) {
  return internal::WhileAt(where, cond, body, a, b, c, d);
}
template <typename Condition, typename Body, internal::AsTensor A, internal::AsTensor B,
          internal::AsTensor C, internal::AsTensor D, internal::AsTensor E>
auto While(const Condition& cond, const Body& body, const A& a, const B& b, const C& c, const D& d,
           const E& e, Where where = Where::current()) {
  return internal::WhileAt(where, cond, body, a, b, c, d, e);
}
template <typename Condition, typename Body, internal::AsTensor A, internal::AsTensor B,
          internal::AsTensor C, internal::AsTensor D, internal::AsTensor E, internal::AsTensor G>
auto While(const Condition& cond, const Body& body, const A& a, const B& b, const C& c, const D& d,
           const E& e, const G& g, Where where = Where::current()) {
  return internal::WhileAt(where, cond, body, a, b, c, d, e, g);
}
template <typename Condition, typename Body, internal::AsTensor... Variables>
requires(sizeof...(Variables) > 6) auto While(const Condition& cond, const Body& body,
                                              const Variables&... variables) {
  return internal::WhileAt(Where(), cond, body, variables...);
}

}  // namespace tenon::inline v0
