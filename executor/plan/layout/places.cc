// Lets storages share memory: a union-find forest with path halving. A share is made only where the
// old value has no reader behind the step that writes the new one.

#include "executor/plan/layout/places.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon {
namespace {

class Sharing {
 public:
  Sharing(const StepGraph& graph, Lifetimes& lifetimes)
      : graph_(graph), lifetimes_(lifetimes), places_(graph.storages.size()) {}

  Places Run() {
    if (!graph_.loops.empty()) ShareLoopVariables();
    ShareInPlace();
    return std::move(places_);
  }

 private:
  using Candidates = absl::Span<const InPlace>;  // of one step

  // How the steps of one loop use a storage.
  struct Use {
    int32_t loop = -1;    // of StepGraph::loops
    int32_t last = -1;    // the last step that uses the storage
    int32_t writer = -1;  // the last step that writes it
    int32_t writes = 0;   // the number of writes
  };

  // Lets the next value of a variable be computed right over the variable, if no step reads the old
  // value later in the pass. Comes before ShareInPlace: a storage that shares a place already
  // cannot move to the variable's place.
  void ShareLoopVariables() {
    uses_.resize(graph_.storages.size());
    for (int32_t l = 0; l < static_cast<int32_t>(graph_.loops.size()); ++l) {
      FindUses(l);
      for (const LoopVariable& v : graph_.loops[l].variables) {
        if (MayGoOver(l, v.follow.storage, v.storage)) places_.Share(v.follow.storage, v.storage);
      }
    }
  }

  // Nothing is cleared between loops, so that a loop costs no more than its arguments. A loop
  // within another one starts from what was found for that one: each entry names its loop.
  void FindUses(int32_t l) {
    const PlanLoop& loop = graph_.loops[l];
    for (int32_t k = loop.open_step + 1; k < loop.close_step; ++k) {
      const GraphStep& step = graph_.steps[k];
      const absl::Span<const int32_t> args = graph_.Args(step);
      for (uint32_t a = 0; a < args.size(); ++a) {
        const int32_t s = args[a];
        if (s < 0) continue;
        Use& use = uses_[s];
        if (use.loop != l) use = {.loop = l};
        use.last = k;
        if (a < step.num_inputs) continue;
        use.writer = k;
        ++use.writes;
      }
    }
  }

  Use UseIn(int32_t loop, int32_t storage) const {
    return uses_[storage].loop == loop ? uses_[storage] : Use();
  }

  // Whether storage `next`, the next value of a variable of loop l, may lie in the variable's
  // storage.
  bool MayGoOver(int32_t l, int32_t next, int32_t variable) const {
    const PlanLoop& loop = graph_.loops[l];
    const Storage &from = graph_.storages[next], &to = graph_.storages[variable];
    const bool fits = next != variable && from.where == Where::kArena &&
                      to.where == Where::kArena && from.bytes == to.bytes && to.bytes > 0 &&
                      !places_.IsShared(next) && lifetimes_.first[next] > loop.open_step &&
                      lifetimes_.last[next] <= loop.close_step && UseIn(l, next).writes == 1;
    if (!fits) return false;
    const int32_t k = UseIn(l, next).writer;
    const GraphStep& step = graph_.steps[k];
    // The step that computes it must run in every pass that has a next pass: else the variable
    // would keep a value that another step left there.
    if (step.loop != graph_.steps[loop.close_step].loop ||
        !graph_.flags.Implies(step.guard, loop.again))
      return false;
    const int32_t last = UseIn(l, variable).last;
    if (last != k) return last < k;
    return OnlyReadBy(step, CandidatesOf(k), variable, next);
  }

  Candidates CandidatesOf(int32_t k) const {
    const std::vector<InPlace>& all = graph_.in_place;
    const auto [first, last] =
        std::equal_range(all.begin(), all.end(), InPlace{k, 0, 0},
                         [](const InPlace& a, const InPlace& b) { return a.step < b.step; });
    return absl::MakeConstSpan(all).subspan(first - all.begin(), last - first);
  }

  void ShareInPlace() {
    const std::vector<InPlace>& all = graph_.in_place;
    for (size_t first = 0, last; first < all.size(); first = last) {
      last = first;
      while (last < all.size() && all[last].step == all[first].step) ++last;
      const Candidates candidates(&all[first], last - first);
      for (const InPlace& c : candidates) ShareInPlace(c, candidates);
    }
  }

  void ShareInPlace(const InPlace& c, Candidates candidates) {
    const GraphStep& step = graph_.steps[c.step];
    const int32_t source = graph_.Inputs(step)[c.in], target = graph_.Outputs(step)[c.out];
    if (source < 0 || target < 0 || places_.IsShared(target)) return;
    const int32_t place = places_.Find(source);
    const Storage &from = graph_.storages[place], &to = graph_.storages[target];
    // The step must be the last user of the place, and not the first one too.
    const bool fits = from.bytes == to.bytes && to.bytes > 0 && from.where == Where::kArena &&
                      lifetimes_.last[place] == c.step && lifetimes_.first[place] != c.step;
    if (!fits || !OnlyReadBy(step, candidates, place, target)) return;
    places_.Share(target, place);
    lifetimes_.last[place] = lifetimes_.last[target];
  }

  // Whether the step reads `place` only as inputs over which its kernel may write output `target`,
  // and does not write it as another output.
  bool OnlyReadBy(const GraphStep& step, Candidates candidates, int32_t place,
                  int32_t target) const {
    const absl::Span<const int32_t> inputs = graph_.Inputs(step), outputs = graph_.Outputs(step);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] < 0 || places_.Find(inputs[i]) != place) continue;
      const bool declared =
          std::any_of(candidates.begin(), candidates.end(), [&](const InPlace& c) {
            return c.in == static_cast<int16_t>(i) && outputs[c.out] == target;
          });
      if (!declared) return false;
    }
    return std::none_of(outputs.begin(), outputs.end(),
                        [&](int32_t s) { return s >= 0 && places_.Find(s) == place; });
  }

  const StepGraph& graph_;
  Lifetimes& lifetimes_;
  std::vector<Use> uses_;  // by storage, while loop variables are shared
  Places places_;
};

}  // namespace

Places::Places(size_t storages) : with_(storages) { std::iota(with_.begin(), with_.end(), 0); }

int32_t Places::Find(int32_t storage) const {
  while (with_[storage] != storage) {
    with_[storage] = with_[with_[storage]];
    storage = with_[storage];
  }
  return storage;
}

Places SharePlaces(const StepGraph& graph, Lifetimes& lifetimes) {
  return Sharing(graph, lifetimes).Run();
}

}  // namespace tenon
