// Tapes: derivatives of what eager ops and calls of functions have computed.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/gradients.h"
#include "tenon/internal/backward.h"
#include "tenon/internal/tape.h"
#include "tenon/internal/tape_backward.h"
#include "tenon/internal/trace_tape.h"

namespace tenon::inline v0 {
namespace internal {

// Whether the function may give something else when it runs again.
inline bool MayDiffer(const FunctionRep& function) {
  return function.use().effect != Effect::kNone || function.use().draws;
}

[[noreturn, gnu::cold]] inline void ThrowThirdDerivative(Where where) {
  Throw(TF_UNIMPLEMENTED,
        "A third derivative by one persistent GradientTape of a function with side effects, random"
        " numbers or variables: use nested tapes",
        where);
}

inline std::vector<Tensor> RunPlain(const std::shared_ptr<FunctionRep>& function,
                                    std::vector<Tensor> inputs, Where where) {
  function->Register();
  return RunEagerly(function->Call(std::move(inputs), where),
                    std::max<size_t>(function->outputs().size(), 1));
}

// Each tape that watches an input gets a way back of its own. That of an outer tape goes back
// through what the inner one keeps of the way forth too, for derivatives of derivatives.
inline std::vector<Tensor> RunWithTape(const std::shared_ptr<FunctionRep>& function,
                                       std::vector<Tensor> inputs, Where where) {
  const std::vector<Tensor> all = WithCaptures(*function, inputs);
  std::string wanted;
  if (!WantedBy(all, &wanted)) return RunPlain(function, std::move(inputs), where);
  struct Level {
    TapeRep* tape;
    std::shared_ptr<const Backward> way;
    size_t outputs;                          // of the function that the way goes back through
    std::vector<Tensor> given;               // to that function, with what it captures
    std::shared_ptr<const Backward> second;  // through the forward function of the way
  };
  std::vector<Level> levels;
  std::shared_ptr<FunctionRep> forth = function;
  std::vector<Tensor> to_forth = inputs;
  const auto go_through = [&](const std::shared_ptr<FunctionRep>& forward) {
    to_forth = WithCaptures(*forth, std::move(to_forth));
    forth = forward;
  };
  std::exception_ptr error;
  for (TapeRep* tape = scopes.tape; tape != nullptr; tape = tape->outer) {
    if (!tape->recording ||
        !std::any_of(all.begin(), all.end(), [&](const Tensor& t) { return tape->Watches(t); }))
      continue;
    std::shared_ptr<const Backward> way;
    if (error == nullptr) way = TryBackwardOf(forth, wanted, where, &error);
    if (way != nullptr && way->function == nullptr) break;
    levels.push_back({tape, way, forth->outputs().size(), WithCaptures(*forth, to_forth), nullptr});
    if (way == nullptr) continue;
    go_through(way->forward);
    // A tape that goes back through its own gradients runs the function again. Where that gives
    // something else, it keeps at once what a second derivative needs.
    if (!tape->persistent || !MayDiffer(*function)) continue;
    std::exception_ptr none;
    std::shared_ptr<const Backward> second = TryBackwardOf(forth, wanted, where, &none);
    if (second == nullptr || second->function == nullptr) continue;
    go_through(second->forward);
    levels.back().second = std::move(second);
  }
  if (levels.empty()) return RunPlain(function, std::move(inputs), where);
  const std::vector<Tensor> results = RunPlain(forth, std::move(to_forth), where);
  const auto at = [&](size_t i) { return results.begin() + static_cast<ptrdiff_t>(i); };
  for (const Level& level : levels) {
    auto record = std::make_shared<TapeRecord>();
    record->outputs.assign(at(0), at(level.outputs));
    if (level.way != nullptr) {
      const size_t kept = level.way->forward->outputs().size();
      record->extra.assign(at(level.outputs), at(kept));
      if (level.second != nullptr) {
        record->second = level.second;
        record->second_extra.assign(at(kept), at(level.second->forward->outputs().size()));
      }
    } else {
      record->custom = NoWayBack(error);
    }
    record->function = level.way;
    record->given = level.given;
    record->wanted = wanted;
    record->wanted.resize(level.given.size(), 0);
    record->where = where;
    level.tape->Keep(record);
    if (level.second == nullptr) continue;
    auto beyond = std::make_shared<TapeRecord>();
    beyond->outputs = record->second_extra;
    beyond->given = record->given;
    beyond->where = where;
    beyond->custom = [where](const std::vector<Tensor>&, const std::vector<Tensor>&,
                             const std::vector<Tensor>&) -> std::vector<Tensor> {
      ThrowThirdDerivative(where);
    };
    level.tape->Keep(beyond);
  }
  return {at(0), at(function->outputs().size())};
}

inline std::vector<Tensor> GoBack(const TapeRecord& record, std::vector<Tensor> gradients) {
  const auto zeros = [&](size_t i) {
    const bool is_extra = i >= record.outputs.size();
    return LikeOf("ZerosLike",
                  is_extra ? record.extra[i - record.outputs.size()] : record.outputs[i],
                  record.where);
  };
  if (record.custom) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) gradients[i] = zeros(i);
    }
    return record.custom(record.inputs(), record.outputs, gradients);
  }
  std::string reached;
  for (const Tensor& gradient : gradients) reached += gradient.defined() ? '\1' : '\0';
  std::shared_ptr<const Backward> way = record.function;
  if (way == nullptr)
    way = BackwardOf(record.call, record.wanted, {reached.begin(), reached.end()});
  std::vector<Tensor> results(record.inputs().size());
  if (way->function == nullptr) return results;
  // Zeros stand for gradients that there are not: what comes of them alone is none either.
  std::vector<bool> paths;
  if (way->forward != nullptr && way->forward->is_of_op && reached.find('\0') != std::string::npos)
    paths = PathsFrom(way->forward, reached, record.wanted, record.where);
  std::vector<Tensor> outputs = record.outputs, extra = record.extra, given = record.inputs();
  if (gradients.size() > outputs.size()) {
    // Something was derived by what the way back kept: the way goes back through that as well. Only
    // a tape that goes back through its own gradients comes here.
    const std::shared_ptr<FunctionRep>& forward = way->forward;
    given = WithCaptures(*forward, std::move(given));
    outputs.insert(outputs.end(), extra.begin(), extra.end());
    if (record.second != nullptr) {
      way = record.second;
      extra = record.second_extra;
    } else {
      if (MayDiffer(*forward)) ThrowThirdDerivative(record.where);
      way = BackwardOf(forward, record.wanted, record.where);
      if (way->function == nullptr) return results;
      // What the function gives now is recorded, for derivatives of this one.
      const std::vector<Tensor> again = way->forward->Run(given, record.where);
      extra.assign(again.begin() + static_cast<ptrdiff_t>(outputs.size()), again.end());
    }
  }
  std::vector<Tensor> inputs;
  for (const Backward::Need& need : way->needs) {
    switch (need.kind) {
      case Backward::Need::Kind::kInput:
        inputs.push_back(given[need.index]);
        break;
      case Backward::Need::Kind::kOutput:
        inputs.push_back(outputs[need.index]);
        break;
      case Backward::Need::Kind::kExtra:
        inputs.push_back(extra[need.index - outputs.size()]);
        break;
    }
  }
  for (const size_t i : way->dys)
    inputs.push_back(gradients[i].defined() ? gradients[i] : zeros(i));
  const std::vector<Tensor> found = way->function->Run(std::move(inputs), record.where);
  for (size_t i = 0; i < results.size(); ++i) {
    if (way->results[i] < 0 || (i < paths.size() && !paths[i])) continue;
    results[i] = found[static_cast<size_t>(way->results[i])];
  }
  return results;
}

// Adds to the sums what comes to the inputs of the record from its outputs.
inline void GoBackByOne(const TapeRecord& record, GradientSums& sums, Where where) {
  std::vector<Tensor> gradients;
  bool reached = false;
  for (const Tensor& output : record.outputs) {
    gradients.push_back(sums.Find(output));
    reached = reached || gradients.back().defined();
  }
  std::vector<Tensor> of_extra;
  bool reached_extra = false;
  for (const Tensor& extra : record.extra) {
    of_extra.push_back(sums.Find(extra));
    reached_extra = reached_extra || of_extra.back().defined();
  }
  if (reached_extra) gradients.insert(gradients.end(), of_extra.begin(), of_extra.end());
  if (!reached && !reached_extra) return;
  const std::vector<Tensor> given = GoBack(record, std::move(gradients));
  for (size_t k = 0; k < given.size() && k < record.inputs().size(); ++k)
    sums.Add(record.inputs()[k], given[k], where);
}

}  // namespace internal

// How a GradientTape records.
struct GradientTapeOptions {
  // Gradient may be called more than once. The tape goes on after it, and records the ops of
  // Gradient too. So Gradient goes back op by op, which takes longer than one function for all ops.
  bool persistent = false;
};

// Records what this thread computes by eager ops and calls of functions from the tensors that the
// tape watches. Records as long as the tape lives; a tape that is not persistent stops at the call
// of Gradient. A tape watches all trainable variables without a call of Watch. Tapes may be nested,
// for derivatives of derivatives. Inside of a trace Gradient adds nodes, as Gradients (gradients.h)
// does, for the ops that the tape has recorded. In a trace in which the tape was not made, Gradient
// goes back through all ops of the trace; a tape that was made outside of traces gives the values
// that it would give there, if all ys are values. One thread makes, uses and destroys a tape.
class GradientTape {
 public:
  explicit GradientTape(GradientTapeOptions options = {}) : options_(options) {
    internal::record_on_tapes.store(internal::RecordOnTapes, std::memory_order_release);
    internal::run_with_tape.store(internal::RunWithTape, std::memory_order_release);
    rep_.outer = internal::scopes.tape;
    rep_.persistent = options.persistent;
    internal::scopes.tape = &rep_;
    trace_.graph = internal::scopes.trace;
    if (trace_.graph != nullptr) trace_.begin = trace_.graph->CountNodes();
  }
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;
  ~GradientTape() { Unlink(); }

  // Watches the tensor from now on: what was computed from it before is not recorded.
  // INVALID_ARGUMENT for an empty Tensor.
  void Watch(const Tensor& tensor, Where where = Where::current()) {
    tensor.rep(where);
    tensor.get()->is_watched.store(true, std::memory_order_relaxed);
    rep_.watched.Add(tensor.get(), 0);
    kept_.push_back(tensor);
    if (trace_.graph != nullptr && trace_.graph == internal::scopes.trace)
      trace_.watched.emplace_back(tensor, trace_.graph->CountNodes());
  }
  void Watch(const Variable& variable) { Watch(variable.handle()); }

  // Returns the derivatives of the sum of all elements of `y`, or of all `ys`, by each of `xs`: one
  // Tensor for each x, of its shape. The Tensor is empty (defined() is false) where no path of
  // differentiable ops leads from a watched x to a y; but that Tensor may be zeros where x goes
  // into a call, a branch or a loop with another result on which y depends. What was computed from
  // a watched tensor is watched too. Outside of a trace an x that is not watched has a derivative
  // as well where it is one of `ys`, and may have one where it is an argument of a CustomGradient.
  // `grad_y` weighs the elements of y in the sum; an empty Tensor stands for ones. `grad_ys` is
  // empty, or has one entry for each of `ys`. FAILED_PRECONDITION for a second call of a tape that
  // is not persistent, also after an error of the first. INVALID_ARGUMENT for another number of
  // `grad_ys`, and for an empty y or x. NOT_FOUND where an op on the path has no gradient.
  // UNIMPLEMENTED for a third derivative by one persistent tape of a function with side effects,
  // random numbers or variables. Other errors are those of the ops that compute the gradient and,
  // inside of a trace, of Gradients.
  std::vector<Tensor> Gradient(const Tensor& y, const std::vector<GradientSource>& xs,
                               const Tensor& grad_y = {}, Where where = Where::current()) {
    return Gradient(std::vector<Tensor>{y}, xs, {grad_y}, where);
  }
  std::vector<Tensor> Gradient(const std::vector<Tensor>& ys, const std::vector<GradientSource>& xs,
                               const std::vector<Tensor>& grad_ys = {},
                               Where where = Where::current()) {
    if (used_ && !options_.persistent) {
      internal::Throw(TF_FAILED_PRECONDITION,
                      "Gradient of a GradientTape may be called once: make it with {.persistent ="
                      " true} for more",
                      where);
    }
    used_ = true;
    if (!options_.persistent) {
      rep_.recording = false;
      Unlink();
    }
    if (!grad_ys.empty() && grad_ys.size() != ys.size()) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      "Gradient: " + std::to_string(grad_ys.size()) + " grad_ys for " +
                          std::to_string(ys.size()) + " ys",
                      where);
    }
    const auto is_value = [](const Tensor& y) { return y.defined() && !y.IsSymbolic(); };
    const bool is_outside =
        trace_.graph == nullptr && !ys.empty() && std::all_of(ys.begin(), ys.end(), is_value);
    if (internal::scopes.trace != nullptr && !is_outside) {
      bool any = false;
      for (const Tensor& dy : grad_ys) any = any || dy.defined();
      const std::vector<Tensor> given = any ? grad_ys : std::vector<Tensor>();
      if (trace_.graph != internal::scopes.trace) return Gradients(ys, xs, given, where);
      return internal::GradientsOnTape(*trace_.graph, trace_, ys, xs, given, where);
    }
    std::optional<internal::OutsideTraces> outside;
    if (internal::scopes.trace != nullptr) outside.emplace();
    for (const Tensor& y : ys) y.rep(where);
    for (const GradientSource& x : xs) x.tensor().rep(where);
    internal::GradientSums sums;
    for (size_t i = 0; i < ys.size(); ++i) {
      const Tensor dy = i < grad_ys.size() && grad_ys[i].defined()
                            ? grad_ys[i]
                            : internal::LikeOf("OnesLike", ys[i], where);
      sums.Add(ys[i], dy, where);
    }
    // A value may stand for its variable: both are asked for.
    std::vector<GradientSource> wanted = xs;
    for (const GradientSource& x : xs) {
      if (x.variable().defined()) wanted.emplace_back(x.variable());
    }
    // A persistent tape may record what follows; only what is there by now is gone through.
    const auto records = options_.persistent ? rep_.records : std::move(rep_.records);
    for (size_t end = records.size(); end > 0;) {
      size_t begin = end;
      // What a tape records goes op by op: the tape needs each op.
      if (internal::scopes.tape == nullptr) {
        while (begin > 0 && internal::IsPlainOp(*records[begin - 1])) --begin;
      }
      const bool is_run = end - begin > 1;
      if (is_run) {
        const internal::TapeRecords run(records.data() + begin, end - begin);
        if (internal::GoBackAtOnce(run, wanted, begin != 0, sums, where)) {
          end = begin;
          continue;
        }
      } else {
        begin = end - 1;
      }
      while (end > begin) internal::GoBackByOne(*records[--end], sums, where);
    }
    std::vector<Tensor> results;
    for (const GradientSource& x : xs) {
      results.push_back(sums.Find(x.tensor()));
      if (!results.back().defined() && x.variable().defined())
        results.back() = sums.Find(x.variable());
    }
    return results;
  }
  template <typename X>
  std::vector<Tensor> Gradient(const Tensor& y, const std::vector<X>& xs,
                               Where where = Where::current()) {
    return Gradient(y, std::vector<GradientSource>(xs.begin(), xs.end()), {}, where);
  }

 private:
  void Unlink() {
    internal::TapeRep** link = &internal::scopes.tape;
    while (*link != nullptr && *link != &rep_) link = &(*link)->outer;
    if (*link == &rep_) *link = rep_.outer;
  }

  const GradientTapeOptions options_;
  internal::TapeRep rep_;
  internal::TraceTape trace_;
  std::vector<Tensor> kept_;
  bool used_ = false;
};

}  // namespace tenon::inline v0
