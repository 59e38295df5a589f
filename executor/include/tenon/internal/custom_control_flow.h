// How gradients go back through branches and loops in which a function has a CustomGradient: the
// branch, or each step of the loop, runs again and goes back by itself. Used by the library's own
// headers.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/branches.h"
#include "tenon/internal/custom_call.h"
#include "tenon/loops.h"

namespace tenon::inline v0::internal {

// Zeros for the gradient of a tensor; of a handle those of its variable, which has type `dtype`.
inline Tensor NoGradient(const Tensor& of, DType dtype, Where where) {
  Tensor value = of;
  if (of.dtype() == DType::kResource)
    value = Op("ReadVariableOp", where).Input(of).Attr("dtype", dtype).RunOne();
  return Op("ZerosLike", where).Input(value).RunOne();
}

// Notes the types of the gradients that a function gives for what it takes; kInvalid stays where it
// gives none.
inline void NoteTypes(const std::shared_ptr<FunctionRep>& function, std::vector<DType>& types,
                      Where where) {
  const std::shared_ptr<const Backward> way =
      BackwardOf(function, std::string(types.size(), 1), where);
  for (size_t i = 0; way->function != nullptr && i < types.size(); ++i) {
    if (way->results[i] < 0) continue;
    const TF_Output gradient = way->function->outputs()[static_cast<size_t>(way->results[i])];
    types[i] = static_cast<DType>(TF_OperationOutputType(gradient));
  }
}

// The gradients of what an If or a Case takes: one for each of `inputs`, of which the first decides
// and has none. `type` is "If" or "Case".
inline std::vector<Tensor> GoBackThroughBranches(
    const char* type, const std::vector<std::shared_ptr<FunctionRep>>& branches,
    const std::vector<Tensor>& inputs, const std::vector<Tensor>& gradients, Where where) {
  const std::lock_guard lock(TraceMutex());
  const std::vector<Tensor> taken(inputs.begin() + 1, inputs.end());
  std::vector<DType> types(taken.size(), DType::kInvalid);
  std::vector<std::function<std::vector<Tensor>()>> ways;
  for (const std::shared_ptr<FunctionRep>& branch : branches) {
    CheckMayRunAgain(*scopes.trace, *branch, taken, "gradient of a branch", where);
    const auto go_back = [&taken, &gradients, branch, where] {
      return GoBackAgain(branch, taken, gradients, where);
    };
    NoteTypes(branch, types, where);
    ways.emplace_back([&types, &taken, go_back, where] {
      const std::vector<Tensor> found = go_back();
      std::vector<Tensor> given;
      for (size_t i = 0; i < types.size(); ++i) {
        if (types[i] == DType::kInvalid) continue;
        given.push_back(found[i].defined() ? found[i] : NoGradient(taken[i], types[i], where));
      }
      return given;
    });
  }
  std::vector<Tensor> results(inputs.size());
  if (std::all_of(types.begin(), types.end(), [](DType t) { return t == DType::kInvalid; }))
    return results;
  const auto found = Select<std::vector<Tensor>>(type, inputs[0], ways, where);
  size_t next = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != DType::kInvalid) results[i + 1] = found[next++];
  }
  return results;
}

// A loop whose steps are to be gone back through.
class LoopBack {
 public:
  LoopBack(std::shared_ptr<FunctionRep> cond, std::shared_ptr<FunctionRep> body, Where where)
      : cond_(std::move(cond)), body_(std::move(body)), where_(where) {
    takes_ = body_->graph()->inputs();
    const std::vector<TF_Output>& captures = body_->graph()->capture_inputs();
    takes_.insert(takes_.end(), captures.begin(), captures.end());
  }

  // The gradients of what the loop takes, from those of its differentiable results.
  std::vector<Tensor> Run(const std::vector<Tensor>& inputs, const std::vector<Tensor>& gradients) {
    const std::lock_guard lock(TraceMutex());
    for (const auto& part : {cond_, body_})
      CheckMayRunAgain(*scopes.trace, *part, inputs, "gradient of a loop", where_);
    const std::vector<Tensor> kept = RunForth(inputs);
    std::vector<size_t> numbers;  // of the variables that have gradients
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsDifferentiable(inputs[i].dtype()) && inputs[i].dtype() != DType::kResource)
        numbers.push_back(i);
    }
    // One step back: the gradients of what it takes.
    const auto step = [&](const std::vector<Tensor>& taken, const std::vector<Tensor>& dys) {
      return GoBackAgain(body_, taken, dys, where_);
    };
    // Variables of the program whose gradients sum up over the steps.
    std::vector<DType> types(inputs.size(), DType::kInvalid);
    NoteTypes(body_, types, where_);
    std::vector<size_t> sums;
    std::vector<Tensor> variables = {kept[0]};
    variables.insert(variables.end(), gradients.begin(), gradients.end());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype() != DType::kResource || types[i] == DType::kInvalid) continue;
      sums.push_back(i);
      variables.push_back(NoGradient(inputs[i], types[i], where_));
    }
    const std::vector<Tensor> end = LoopInTrace(
        [&](const std::vector<Tensor>& in) {
          return Op("Greater", where_).Input(in[0]).Input(Tensor(int32_t{0})).RunOne();
        },
        [&](const std::vector<Tensor>& in) {
          const Tensor i = Add(in[0], Tensor(int32_t{-1}));
          const std::vector<Tensor> taken = TakenAt(inputs, kept, i);
          const std::vector<Tensor> found =
              step(taken, std::vector<Tensor>(in.begin() + 1, At(in, 1 + numbers.size())));
          std::vector<Tensor> next = {i};
          for (const size_t number : numbers) {
            next.push_back(found[number].defined()
                               ? found[number]
                               : Op("ZerosLike", where_).Input(taken[number]).RunOne());
          }
          for (size_t k = 0; k < sums.size(); ++k) {
            const Tensor& sum = in[1 + numbers.size() + k];
            next.push_back(found[sums[k]].defined() ? Add(sum, found[sums[k]]) : sum);
          }
          return next;
        },
        variables, where_);
    std::vector<Tensor> results(inputs.size());
    for (size_t k = 0; k < numbers.size(); ++k) results[numbers[k]] = end[1 + k];
    for (size_t k = 0; k < sums.size(); ++k) results[sums[k]] = end[1 + numbers.size() + k];
    return results;
  }

 private:
  static std::vector<Tensor>::const_iterator At(const std::vector<Tensor>& list, size_t i) {
    return list.begin() + static_cast<ptrdiff_t>(i);
  }
  Tensor Add(const Tensor& a, const Tensor& b) const {
    return Op("AddV2", where_).Input(a).Input(b).RunOne();
  }
  // Whether the body hands its input on as it is.
  bool IsKept(size_t i) const {
    const TF_Output given = body_->outputs()[i];
    if (std::string_view(TF_OperationOpType(given.oper)) != "Identity") return false;
    const TF_Output from = TF_OperationInput({given.oper, 0});
    return from.oper == takes_[i].oper && from.index == takes_[i].index;
  }
  Tensor ElementShape(size_t i) const {
    const Shape shape = body_->graph()->Symbol(takes_[i], where_).shape();
    if (!shape.has_rank()) return Tensor(int32_t{-1});
    const std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
    return Tensor::Of<int32_t>(Shape{static_cast<int64_t>(dims.size())}, dims);
  }
  // Runs the loop again. Gives the number of its steps, then a list for each variable that steps
  // change, of its values at the beginning of each step.
  std::vector<Tensor> RunForth(const std::vector<Tensor>& inputs) const {
    const size_t count = inputs.size();
    std::vector<Tensor> variables = inputs;
    variables.emplace_back(int32_t{0});
    for (size_t i = 0; i < count; ++i) {
      if (IsKept(i)) continue;
      variables.push_back(Op("EmptyTensorList", where_)
                              .Input(ElementShape(i))
                              .Input(Tensor(int32_t{-1}))
                              .Attr("element_dtype", inputs[i].dtype())
                              .RunOne());
    }
    const auto first = [count](const std::vector<Tensor>& in) {
      return std::vector<Tensor>(in.begin(), At(in, count));
    };
    const std::vector<Tensor> end = LoopInTrace(
        [&](const std::vector<Tensor>& in) { return CallAgain(cond_, first(in), where_)[0]; },
        [&](const std::vector<Tensor>& in) {
          std::vector<Tensor> next = CallAgain(body_, first(in), where_);
          // What comes out of the call is another tensor, which would be kept at each step when
          // this loop is gone back through in its turn.
          for (size_t i = 0; i < count; ++i) {
            if (IsKept(i)) next[i] = in[i];
          }
          next.push_back(Add(in[count], Tensor(int32_t{1})));
          size_t list = count;
          for (size_t i = 0; i < count; ++i) {
            if (IsKept(i)) continue;
            next.push_back(Op("TensorListPushBack", where_)
                               .Input(in[++list])
                               .Input(in[i])
                               .Attr("element_dtype", inputs[i].dtype())
                               .RunOne());
          }
          return next;
        },
        variables, where_);
    return {At(end, count), end.end()};
  }
  // What step number `step` has taken.
  std::vector<Tensor> TakenAt(const std::vector<Tensor>& inputs, const std::vector<Tensor>& kept,
                              const Tensor& step) const {
    std::vector<Tensor> taken = inputs;
    size_t list = 0;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (IsKept(i)) continue;
      taken[i] = Op("TensorListGetItem", where_)
                     .Input(kept[++list])
                     .Input(step)
                     .Input(ElementShape(i))
                     .Attr("element_dtype", inputs[i].dtype())
                     .RunOne();
    }
    return taken;
  }

  const std::shared_ptr<FunctionRep> cond_, body_;
  const Where where_;
  std::vector<TF_Output> takes_;
};

// How gradients go back through a call of If, Case or While. Empty for another op, and if one of
// its functions is known by its name alone and has no CustomGradient.
inline CustomBackward WayBackThrough(const OpCall& call) {
  const auto named = [&call](std::string_view attr) {
    std::vector<std::shared_ptr<FunctionRep>> reps;
    for (const NamedAttr& given : call.attrs) {
      if (given.name != attr) continue;
      for (const FunctionName& function : given.functions)
        reps.push_back(function.rep != nullptr ? function.rep : WithCustomGradient(function));
    }
    return reps;
  };
  const auto are_known = [](const std::vector<std::shared_ptr<FunctionRep>>& reps) {
    return !reps.empty() && std::find(reps.begin(), reps.end(), nullptr) == reps.end();
  };
  const Where where = call.where;
  const bool is_if = call.type.ends_with("If");
  if (is_if || call.type.ends_with("Case")) {
    std::vector<std::shared_ptr<FunctionRep>> branches = named(is_if ? "then_branch" : "branches");
    for (const auto& other : is_if ? named("else_branch") : branches) {
      if (is_if) branches.push_back(other);
    }
    if (!are_known(branches)) return {};
    return [=](const std::vector<Tensor>& in, const std::vector<Tensor>&,
               const std::vector<Tensor>& gradients) {
      return GoBackThroughBranches(is_if ? "If" : "Case", branches, in, gradients, where);
    };
  }
  if (!call.type.ends_with("While")) return {};
  const std::vector<std::shared_ptr<FunctionRep>> cond = named("cond"), body = named("body");
  if (!are_known(cond) || !are_known(body)) return {};
  return [=](const std::vector<Tensor>& in, const std::vector<Tensor>&,
             const std::vector<Tensor>& gradients) {
    return LoopBack(cond[0], body[0], where).Run(in, gradients);
  };
}

}  // namespace tenon::inline v0::internal
