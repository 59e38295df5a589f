// Branches and loops by values of tensors: nodes of a trace, plain C++ outside of one.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/function.h"
#include "tenon/gradients.h"

namespace tenon::inline v0 {
namespace internal {

// A branch or a body, traced into a graph of its own.
struct Branch {
  std::shared_ptr<TraceGraph> graph;
  std::vector<TF_Output> outputs;
};

// Gives every branch the same captures in the same order, and returns them.
inline std::vector<Tensor> ShareCaptures(std::vector<Branch>& branches, Where where) {
  std::vector<Tensor> all;
  const auto number = [&](const Tensor& tensor) {
    size_t i = 0;
    while (i < all.size() && all[i].get() != tensor.get()) ++i;
    if (i == all.size()) all.push_back(tensor);
    return i;
  };
  for (const Branch& branch : branches) {
    for (const Tensor& capture : branch.graph->captures()) number(capture);
  }
  for (Branch& branch : branches) branch.graph->OrderCaptures(all, where);
  return all;
}

inline FunctionName FinishBranch(const Branch& branch, const std::string& name, Where where) {
  const std::shared_ptr<FunctionRep> rep = FunctionRep::Finish(
      name + "_" + std::to_string(NextNumber()), branch.graph, branch.outputs, where);
  return FunctionName(rep->name(), rep);
}

// What the node does that runs one of the functions.
inline void SetEffect(Op& op, const std::vector<Branch>& branches) {
  Effect effect = Effect::kNone;
  bool world = false;
  for (const Branch& branch : branches) {
    effect = std::max(effect, branch.graph->effect());
    world = world || branch.graph->touches_world();
  }
  op.options().effect = effect;
  op.options().effect_is_known = true;
  op.options().touches_world = world;
}

inline std::vector<DType> TypesOf(const std::vector<Tensor>& tensors) {
  std::vector<DType> types;
  for (const Tensor& tensor : tensors) types.push_back(tensor.dtype());
  return types;
}

// Makes the branches' results alike, or says how they differ.
inline std::vector<DType> ResultTypes(const std::vector<Branch>& branches,
                                      std::vector<Shape>* shapes, Where where) {
  std::vector<DType> types;
  for (size_t b = 0; b < branches.size(); ++b) {
    const Branch& branch = branches[b];
    if (b != 0 && branch.outputs.size() != types.size()) {
      Throw(TF_INVALID_ARGUMENT,
            "Branch " + std::to_string(b) + " gives " + std::to_string(branch.outputs.size()) +
                " tensors, branch 0 gives " + std::to_string(types.size()),
            where);
    }
    for (size_t i = 0; i < branch.outputs.size(); ++i) {
      const Tensor symbol = branch.graph->Symbol(branch.outputs[i], where);
      const Shape shape = symbol.shape();
      if (b == 0) {
        types.push_back(symbol.dtype());
        shapes->push_back(shape);
        continue;
      }
      if (symbol.dtype() != types[i]) {
        Throw(TF_INVALID_ARGUMENT,
              "Result " + std::to_string(i) + " of branch " + std::to_string(b) + " is of type " +
                  Name(symbol.dtype()) + ", that of branch 0 of type " + Name(types[i]),
              where);
      }
      (*shapes)[i] = Common((*shapes)[i], shape);
    }
  }
  return types;
}

// Traces a callable of no arguments.
template <typename Result, typename F>
Branch TraceBranch(const F& callable, std::shared_ptr<Result>* result, Where where) {
  Branch branch;
  branch.graph = std::make_shared<TraceGraph>(scopes.trace);
  const TraceScope scope(branch.graph.get(), scopes.device);
  CollectOutputs collect(*branch.graph, where);
  *result = std::make_shared<Result>(callable());
  Walk(**result, collect);
  branch.outputs = std::move(collect.outputs);
  return branch;
}

// What a result has beside the values of tensors: lengths, C++ values and variables, as bytes.
class FormReader {
 public:
  void OnTensor(const Tensor&) { form += 'T'; }
  void OnSpec(const TensorSpec&) {}
  void OnVariable(const Variable& variable) {
    PutNumber(form, reinterpret_cast<intptr_t>(variable.handle().get()));
  }
  void OnMark(size_t number) { PutNumber(form, static_cast<int64_t>(number)); }
  void OnConstant(std::string_view bytes) { form += bytes; }

  std::string form;
};
template <typename T>
std::string FormOf(const T& result) {
  FormReader reader;
  Walk(result, reader);
  return std::move(reader.form);
}

template <typename Result, typename Callables>
Result Select(const char* type, const Tensor& selector, const Callables& callables, Where where) {
  const std::lock_guard lock(TraceMutex());
  std::vector<Branch> branches;
  std::shared_ptr<Result> result, other;
  size_t odd = 0;  // a branch whose result has another form than that of the first
  for (const auto& callable : callables) {
    branches.push_back(TraceBranch<Result>(callable, branches.empty() ? &result : &other, where));
    if (odd == 0 && other != nullptr && FormOf(*other) != FormOf(*result))
      odd = branches.size() - 1;
  }
  std::vector<Shape> shapes;
  const std::vector<DType> types = ResultTypes(branches, &shapes, where);
  if (odd != 0) {
    Throw(TF_INVALID_ARGUMENT,
          "Branch " + std::to_string(odd) +
              " gives other C++ values, keys or variables than branch 0: only the values of tensors"
              " can differ. Write Tensor(1.5f) for 1.5f",
          where);
  }
  const std::vector<Tensor> captures = ShareCaptures(branches, where);
  const bool is_if = std::string_view(type) == "If";
  Effect effect = Effect::kNone;
  for (const Branch& branch : branches) effect = std::max(effect, branch.graph->effect());
  Op op((effect == Effect::kNone ? "Stateless" : "") + std::string(type), where);
  op.Name(is_if ? "cond" : "case").Input(selector).Input(captures);
  op.Attr("Tin", TypesOf(captures)).Attr("Tout", types).Attr("output_shapes", shapes);
  std::vector<FunctionName> functions;
  for (size_t i = 0; i < branches.size(); ++i) {
    const std::string name =
        is_if ? (i == 0 ? "cond_true" : "cond_false") : "case_branch" + std::to_string(i);
    functions.push_back(FinishBranch(branches[i], name, where));
  }
  if (is_if) {
    op.Attr("then_branch", functions[0]).Attr("else_branch", functions[1]);
  } else {
    op.Attr("branches", functions);
  }
  SetEffect(op, branches);
  std::vector<Tensor> outputs = op.Run();
  ReplaceTensors replace(outputs);
  Walk(*result, replace);
  return *result;
}

// The tensor as an operand of Cond: a symbol of this trace, also of a captured value.
inline bool Decide(const Tensor& tensor) { return static_cast<bool>(tensor); }

// A callable that gives nothing, as one that gives a structure without tensors.
template <typename F>
auto GivingNothing(const F& callable) {
  return [&callable] {
    callable();
    return std::tuple<>();
  };
}

}  // namespace internal

// The result of `then_branch` where `pred`, a scalar, is true, else that of `else_branch`. Both
// take nothing and give the same types: a Tensor, a structure as Function has it, or nothing
// (void). In a trace both are traced and one of them runs, with its side effects; outside, or for a
// `pred` that is a value, one is called.
template <typename Then, typename Else>
auto Cond(const Tensor& pred, const Then& then_branch, const Else& else_branch,
          Where where = Where::current()) {
  using Result = std::decay_t<std::invoke_result_t<const Then&>>;
  static_assert(std::is_same_v<Result, std::decay_t<std::invoke_result_t<const Else&>>>,
                "The branches of Cond give different C++ types");
  if constexpr (std::is_void_v<Result>) {
    Cond(pred, internal::GivingNothing(then_branch), internal::GivingNothing(else_branch), where);
  } else {
    pred.rep(where);
    if (!pred.IsSymbolic()) {
      if (internal::Decide(pred)) return Result(then_branch());
      return Result(else_branch());
    }
    const std::array<std::function<Result()>, 2> branches = {then_branch, else_branch};
    return internal::Select<Result>("If", pred, branches, where);
  }
}

// The result of branch number `index`, a scalar of type kInt32; of the last for a number that there
// is not. Otherwise as Cond.
template <typename Result>
Result Case(const Tensor& index, const std::vector<std::function<Result()>>& branches,
            Where where = Where::current()) {
  if (branches.empty()) internal::Throw(TF_INVALID_ARGUMENT, "Case without a branch", where);
  if constexpr (std::is_void_v<Result>) {
    std::vector<std::function<std::tuple<>()>> given;
    for (const auto& branch : branches) given.push_back(internal::GivingNothing(branch));
    Case(index, given, where);
  } else {
    if (index.IsSymbolic()) return internal::Select<Result>("Case", index, branches, where);
    const int32_t i = index.item<int32_t>(where);
    const auto count = static_cast<int32_t>(branches.size());
    return branches[static_cast<size_t>(i < 0 || i >= count ? count - 1 : i)]();
  }
}
template <typename F>
auto Case(const Tensor& index, const std::vector<F>& branches, Where where = Where::current()) {
  using Result = std::decay_t<std::invoke_result_t<const F&>>;
  return Case<Result>(index, std::vector<std::function<Result()>>(branches.begin(), branches.end()),
                      where);
}
// Branches that stand in braces and give a Tensor each: Case(i, {[&] { return x; }, [&] { return
// -x; }}).
inline Tensor Case(const Tensor& index, std::initializer_list<std::function<Tensor()>> branches,
                   Where where = Where::current()) {
  return Case<Tensor>(index, std::vector<std::function<Tensor()>>(branches), where);
}

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
    const std::function<Tensor(const std::vector<Tensor>&)>& cond,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body,
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
      Branch part;
      part.graph = std::make_shared<TraceGraph>(&graph);
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
  Effect effect = Effect::kNone;
  for (const Branch& part : parts) effect = std::max(effect, part.graph->effect());
  Op op(effect == Effect::kNone ? "StatelessWhile" : "While", where);
  op.Name("while").Input(inputs).Attr("T", TypesOf(inputs)).Attr("output_shapes", shapes);
  op.Attr("cond", FinishBranch(parts[0], "while_cond", where));
  op.Attr("body", FinishBranch(parts[1], "while_body", where));
  SetEffect(op, parts);
  std::vector<Tensor> outputs = op.Run();
  for (size_t i = 0; i < outputs.size(); ++i) graph.CopyHandleData(inputs[i], outputs[i].output());
  outputs.resize(variables.size());
  return outputs;
}

// The same outside of a trace.
inline std::vector<Tensor> Loop(
    const std::function<Tensor(const std::vector<Tensor>&)>& cond,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body,
    std::vector<Tensor> variables, Where where) {
  if (scopes.trace != nullptr) return LoopInTrace(cond, body, variables, where);
  const size_t count = variables.size();
  while (Decide(cond(variables))) {
    variables = body(variables);
    CheckLoopCount(variables.size(), count, where);
  }
  return variables;
}

template <typename F, size_t... i>
auto CallWith(const F& callable, const std::vector<Tensor>& tensors, std::index_sequence<i...>) {
  return callable(tensors[i]...);
}

}  // namespace internal

namespace internal {

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
// scalar of type kBool, `body` a Tensor or a std::tuple. The types stay; a shape that the body
// changes is unknown in the loop. In a trace the loop is one node. Loops of up to six variables
// know the place of the call.
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

namespace internal {

// A scalar of type kInt32: the length of the first dimension.
inline Tensor LengthOf(const Tensor& tensor, Where where) {
  return SliceOf(Op("Shape", where).Input(tensor).RunOne(), std::vector<Index>{Index(0)}, where);
}

// Calls `step(i, carries)` for each i below `count`, which gives the next carries and what is
// stacked: `element_shape` is that of one such. In a trace what is stacked lies in a TensorList, so
// that gradients go through it.
struct Stepped {
  std::vector<Tensor> carries, stacked;
};
inline Stepped RunSteps(const Tensor& count, std::vector<Tensor> carries,
                        const std::function<std::pair<std::vector<Tensor>, std::vector<Tensor>>(
                            const Tensor&, const std::vector<Tensor>&)>& step,
                        const std::vector<std::pair<DType, Shape>>& elements, Where where) {
  Stepped result;
  if (scopes.trace == nullptr) {
    const int32_t n = count.item<int32_t>(where);
    std::vector<std::vector<Tensor>> parts(elements.size());
    for (int32_t i = 0; i < n; ++i) {
      auto [next, outputs] = step(Tensor(i), carries);
      carries = std::move(next);
      for (size_t k = 0; k < parts.size(); ++k) parts[k].push_back(outputs[k]);
    }
    result.carries = std::move(carries);
    for (size_t k = 0; k < parts.size(); ++k) {
      if (n > 0) {
        result.stacked.push_back(Op("Pack", where).Input(parts[k]).RunOne());
        continue;
      }
      std::vector<int64_t> dims = elements[k].second.dims();
      for (int64_t& dim : dims) dim = std::max<int64_t>(dim, 0);
      dims.insert(dims.begin(), 0);
      result.stacked.push_back(Tensor::FromHost(
          AllocateTensor(elements[k].first, dims.data(), static_cast<int>(dims.size()))));
    }
    return result;
  }
  std::vector<Tensor> variables = {Tensor(int32_t{0})};
  const size_t carry_count = carries.size();
  variables.insert(variables.end(), carries.begin(), carries.end());
  std::vector<Tensor> shapes;
  for (const auto& [dtype, shape] : elements) {
    // A shape with unknown lengths is an element_shape as well; of unknown rank it is -1.
    std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
    shapes.push_back(shape.has_rank()
                         ? Tensor::Of<int32_t>(Shape{static_cast<int64_t>(dims.size())}, dims)
                         : Tensor(int32_t{-1}));
    variables.push_back(Op("TensorListReserve", where)
                            .Input(shapes.back())
                            .Input(count)
                            .Attr("element_dtype", dtype)
                            .RunOne());
  }
  const std::vector<Tensor> end = LoopInTrace(
      [&](const std::vector<Tensor>& in) {
        return Op("Less", where).Input(in[0]).Input(count).RunOne();
      },
      [&](const std::vector<Tensor>& in) {
        const std::vector<Tensor> now(in.begin() + 1,
                                      in.begin() + 1 + static_cast<ptrdiff_t>(carry_count));
        auto [next, outputs] = step(in[0], now);
        std::vector<Tensor> after = {Op("AddV2", where).Input(in[0]).Input(Tensor(1)).RunOne()};
        after.insert(after.end(), next.begin(), next.end());
        for (size_t k = 0; k < outputs.size(); ++k) {
          after.push_back(Op("TensorListSetItem", where)
                              .Input(in[1 + carry_count + k])
                              .Input(in[0])
                              .Input(outputs[k])
                              .Attr("element_dtype", elements[k].first)
                              .RunOne());
        }
        return after;
      },
      variables, where);
  result.carries.assign(end.begin() + 1, end.begin() + 1 + static_cast<ptrdiff_t>(carry_count));
  for (size_t k = 0; k < elements.size(); ++k) {
    result.stacked.push_back(Op("TensorListStack", where)
                                 .Input(end[1 + carry_count + k])
                                 .Input(shapes[k])
                                 .Attr("element_dtype", elements[k].first)
                                 .RunOne());
  }
  return result;
}

// Types and shapes of what one step gives, found by a trace that is thrown away.
template <typename Step>
std::vector<std::pair<DType, Shape>> ElementsOf(const Step& step, Where where) {
  const std::lock_guard lock(TraceMutex());
  const auto graph = std::make_shared<TraceGraph>(scopes.trace);
  const TraceScope scope(graph.get(), scopes.device);
  const Tensor i = graph->AddInput(DType::kInt32, Shape{}, "i", where);
  std::vector<std::pair<DType, Shape>> elements;
  for (const Tensor& output : step(i)) elements.emplace_back(output.dtype(), output.shape());
  return elements;
}

inline Tensor ElementOf(const Tensor& tensor, const Tensor& i, Where where) {
  return Op("GatherV2", where).Input(tensor).Input(i).Input(Tensor(int32_t{0})).RunOne();
}

template <typename T>
T ElementsAt(T structure, const Tensor& i, Where where) {
  struct Take {
    const Tensor& i;
    Where where;
    void OnTensor(Tensor& tensor) { tensor = ElementOf(tensor, i, where); }
    void OnSpec(const TensorSpec&) {}
    void OnVariable(const Variable&) {}
    void OnMark(size_t) {}
    void OnConstant(std::string_view) {}
  } take{i, where};
  Walk(structure, take);
  return structure;
}

// The tensors of a structure in order.
struct Gather {
  std::vector<Tensor> tensors;
  void OnTensor(const Tensor& tensor) { tensors.push_back(tensor); }
  void OnSpec(const TensorSpec&) {}
  void OnVariable(const Variable&) {}
  void OnMark(size_t) {}
  void OnConstant(std::string_view) {}
};
template <typename T>
std::vector<Tensor> TensorsOf(const T& structure) {
  Gather gather;
  Walk(structure, gather);
  return std::move(gather.tensors);
}
template <typename T>
T WithTensors(T structure, const std::vector<Tensor>& tensors) {
  ReplaceTensors replace(tensors);
  Walk(structure, replace);
  return structure;
}

template <typename T>
using AsStructure = std::conditional_t<std::is_convertible_v<T, Tensor>, Tensor, std::decay_t<T>>;

template <typename Xs>
Tensor CommonLength(const Xs& xs, Where where) {
  const std::vector<Tensor> tensors = TensorsOf(xs);
  if (tensors.empty()) Throw(TF_INVALID_ARGUMENT, "There is no tensor to go through", where);
  return LengthOf(tensors[0], where);
}

}  // namespace internal

// Goes through the first dimension of `xs`, a tensor or a structure of tensors of equal lengths:
// carry = f(carry, x), from `init` on. Gives all carries, stacked along a new first dimension. A
// carry is a tensor or a structure of tensors, whose types and shapes stay. In a trace it is one
// loop, through which gradients go.
template <typename F, typename Init, typename Xs>
auto Scan(const F& f, const Init& init, const Xs& xs, Where where = Where::current()) {
  using Carry = internal::AsStructure<Init>;
  using X = internal::AsStructure<Xs>;
  const Carry first = init;
  const X all = xs;
  std::vector<std::pair<DType, Shape>> elements;
  for (const Tensor& tensor : internal::TensorsOf(first))
    elements.emplace_back(tensor.dtype(), tensor.shape());
  const internal::Stepped result = internal::RunSteps(
      internal::CommonLength(all, where), internal::TensorsOf(first),
      [&](const Tensor& i, const std::vector<Tensor>& carries) {
        const Carry next =
            f(internal::WithTensors(first, carries), internal::ElementsAt(all, i, where));
        const std::vector<Tensor> tensors = internal::TensorsOf(next);
        if (tensors.size() != carries.size()) {
          internal::Throw(TF_INVALID_ARGUMENT,
                          "Scan: the function gives " + std::to_string(tensors.size()) +
                              " tensors for a carry of " + std::to_string(carries.size()),
                          where);
        }
        for (size_t k = 0; k < tensors.size(); ++k) {
          if (tensors[k].rep(where).dtype == carries[k].dtype()) continue;
          internal::Throw(TF_INVALID_ARGUMENT,
                          "Scan: tensor " + std::to_string(k) + " of the carry is of type " +
                              Name(carries[k].dtype()) + ", the function gives it " +
                              Name(tensors[k].dtype()),
                          where);
        }
        return std::make_pair(tensors, tensors);
      },
      elements, where);
  return internal::WithTensors(first, result.stacked);
}

// f(x) for each x along the first dimension of `xs`, stacked. `xs` and what f gives are tensors or
// structures of tensors. In a trace it is one loop, through which gradients go.
template <typename F, typename Xs>
auto Map(const F& f, const Xs& xs, Where where = Where::current()) {
  using X = internal::AsStructure<Xs>;
  using Result = internal::AsStructure<std::invoke_result_t<const F&, X>>;
  const X all = xs;
  std::shared_ptr<Result> sample;
  const auto apply = [&](const Tensor& i) {
    const Result result = f(internal::ElementsAt(all, i, where));
    sample = std::make_shared<Result>(result);
    return internal::TensorsOf(result);
  };
  const std::vector<std::pair<DType, Shape>> elements = internal::ElementsOf(apply, where);
  const Result shape = *sample;
  const internal::Stepped result = internal::RunSteps(
      internal::CommonLength(all, where), {},
      [&](const Tensor& i, const std::vector<Tensor>&) {
        return std::make_pair(std::vector<Tensor>(), apply(i));
      },
      elements, where);
  return internal::WithTensors(shape, result.stacked);
}

}  // namespace tenon::inline v0
