// Branches by values of tensors: nodes of a trace, plain C++ outside of one.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/function.h"
#include "tenon/internal/function_ref.h"

namespace tenon::inline v0 {
namespace internal {

// A branch or a body, traced into a graph of its own.
struct Branch {
  explicit Branch(TraceGraph* outer)
      : graph(std::make_shared<TraceGraph>(outer)), use_of_graph(graph) {}

  std::shared_ptr<TraceGraph> graph;
  TraceUse use_of_graph;
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

// An op that runs functions of the branches: `type`, or "Stateless" and `type` where no branch has
// an effect.
inline Op OpOfBranches(const char* type, const std::vector<Branch>& branches, Where where) {
  Effect effect = Effect::kNone;
  bool touches_world = false;
  for (const Branch& branch : branches) {
    effect = std::max(effect, branch.graph->effect());
    touches_world = touches_world || branch.graph->touches_world();
  }
  Op op((effect == Effect::kNone ? "Stateless" : "") + std::string(type), where);
  op.options().SetEffect(effect, touches_world);
  return op;
}

inline std::vector<DType> TypesOf(const std::vector<Tensor>& tensors) {
  std::vector<DType> types;
  for (const Tensor& tensor : tensors) types.push_back(tensor.dtype());
  return types;
}

// Returns the types of the branches' results, and sets *shapes to shapes that admit those of all
// branches. INVALID_ARGUMENT if the branches differ in number or types of their results.
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
  Branch branch(scopes.trace);
  const TraceScope scope(branch.graph.get(), scopes.device);
  CollectOutputs collect(*branch.graph, where);
  *result = std::make_shared<Result>(callable());
  Walk(**result, collect);
  branch.outputs = std::move(collect.outputs);
  return branch;
}

// What a result has beside the values of tensors: lengths, C++ values and variables, as bytes.
class FormReader : public Visitor {
 public:
  void OnTensor(const Tensor&) { form += 'T'; }
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
  Op op = OpOfBranches(type, branches, where);
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
  std::vector<Tensor> outputs = op.Run();
  ReplaceTensors replace(outputs);
  Walk(*result, replace);
  return *result;
}

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
// (void). If `pred` is a symbol, both are traced, and one of them runs with its side effects. If
// `pred` is a value, one is called. INVALID_ARGUMENT if a value has not one element, and if traced
// branches differ in the number or types of their tensors, or in other C++ values of their results.
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
      if (pred) return Result(then_branch());
      return Result(else_branch());
    }
    const auto when_true = [&] { return Result(then_branch()); };
    const auto when_false = [&] { return Result(else_branch()); };
    const std::array<internal::FunctionRef<Result()>, 2> branches = {when_true, when_false};
    return internal::Select<Result>("If", pred, branches, where);
  }
}

// The result of branch number `index`, a scalar of type kInt32; of the last for a number that there
// is not. INVALID_ARGUMENT without a branch. Otherwise as Cond.
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
// -x; }}). Those that give something else in braces say what: Case<std::pair<Tensor, Tensor>>(i,
// {...}).
inline Tensor Case(const Tensor& index, std::initializer_list<std::function<Tensor()>> branches,
                   Where where = Where::current()) {
  return Case<Tensor>(index, std::vector<std::function<Tensor()>>(branches), where);
}

}  // namespace tenon::inline v0
