// Steps in the order of execution: those of the graph in one row, those of each loop and of each
// branch that can be jumped over in rows of their own behind it. And where tensors are let go.
#include <algorithm>

#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"

namespace tenon {
namespace {

constexpr int kMaxRegionDepth = 128;  // deeper branches are steps that each look at their flag

}  // namespace

int32_t PlanBuilder::OpenRegion(int32_t parent, bool loop) {
  const auto r = static_cast<int32_t>(regions_.size());
  Region& region = regions_.emplace_back();
  region.parent = parent;
  region.depth = parent < 0 ? 0 : regions_[parent].depth + 1;
  region.loop = loop;
  return r;
}

int32_t PlanBuilder::CommonRegion(int32_t a, int32_t b) const {
  while (a != b) {
    int32_t& deeper = regions_[a].depth >= regions_[b].depth ? a : b;
    deeper = regions_[deeper].parent;
  }
  return a;
}

void PlanBuilder::FindRegions() {
  const auto end = static_cast<int32_t>(steps_.size());
  std::vector<int32_t> opens(end + 1, -1);
  for (size_t i = 0; i < loop_scopes_.size(); ++i)
    opens[loop_scopes_[i].open_step] = static_cast<int32_t>(i);
  region_of_.resize(end);
  int32_t now = OpenRegion(-1, false);
  for (int32_t k = 0; k < end; ++k) {
    const BuildStep& step = steps_[k];
    if (step.fn == nullptr) {  // the end of a loop
      while (!regions_[now].loop) now = regions_[now].parent;
      region_of_[k] = now;
      now = regions_[now].parent;
      continue;
    }
    while (regions_[now].guard != 0 && !Implies(step.guard, regions_[now].guard))
      now = regions_[now].parent;
    // A single step looks at its flag itself.
    const bool alone = k + 1 == end || steps_[k + 1].fn == nullptr ||
                       steps_[k + 1].scope != step.scope ||
                       !Implies(steps_[k + 1].guard, step.guard);
    if (step.guard != 0 && step.guard != regions_[now].guard && !alone && opens[k] < 0 &&
        regions_[now].depth < kMaxRegionDepth) {
      const int32_t branch = OpenRegion(now, false);
      regions_[branch].guard = step.guard;
      regions_[now].entries.push_back(-1 - branch);
      now = branch;
    }
    region_of_[k] = now;
    regions_[now].entries.push_back(k);
    for (int32_t r = step.num_flags > 0 ? now : -1; r >= 0; r = regions_[r].parent) {
      if (regions_[r].end_flag == 0) regions_[r].first_flag = step.first_flag;
      regions_[r].end_flag = step.first_flag + step.num_flags;
    }
    if (opens[k] >= 0) {
      const int32_t loop = OpenRegion(now, true);
      regions_[loop].scope = opens[k];
      regions_[now].entries.push_back(-1 - loop);
      now = loop;
    }
  }
}

// A slot goes behind its last use, in the innermost row that has all its uses: behind a branch or
// loop that uses it last, not within it.
void PlanBuilder::FindReleases() {
  const auto end = static_cast<int32_t>(steps_.size());
  storage_region_.assign(storages_.size(), -1);
  last_use_.assign(storages_.size(), -1);
  for (int32_t k = 0; k < end; ++k) {
    const BuildStep& step = steps_[k];
    for (uint32_t a = 0; a < step.num_inputs + step.num_outputs; ++a) {
      const int32_t s = args_[step.first_arg + a];
      if (s < 0) continue;
      storage_region_[s] =
          storage_region_[s] < 0 ? region_of_[k] : CommonRegion(storage_region_[s], region_of_[k]);
      last_use_[s] = k;
    }
  }
  FindVariableReaders();
  releases_.resize(plan_->num_slots > 0 ? end : 0);
  for (size_t s = 0; s < storages_.size(); ++s) {
    if (storages_[s].where != Where::kSlot || last_use_[s] < 0 || last_[s] >= end) continue;
    int32_t region = region_of_[last_use_[s]];
    if (region == storage_region_[s]) {
      releases_[last_use_[s]].push_back(storages_[s].index);
      continue;
    }
    while (regions_[region].parent != storage_region_[s]) region = regions_[region].parent;
    regions_[region].releases.push_back(storages_[s].index);
  }
}

// Whether nobody uses the storage between this run of the step and the next time that it is
// written.
bool PlanBuilder::IsLastReader(int32_t step, int32_t storage) const {
  if (const auto it = variable_readers_.find(storage); it != variable_readers_.end()) {
    // The next value comes before the next pass, and a step of the body has a next pass.
    const LoopScope& scope = loop_scopes_[it->second.scope];
    if (it->second.last == step && steps_[step].scope == it->second.scope &&
        Implies(steps_[step].guard, scope.again))
      return true;
  }
  if (last_use_[storage] != step || last_[storage] >= static_cast<int32_t>(steps_.size()))
    return false;
  for (int32_t r = region_of_[step]; r != storage_region_[storage]; r = regions_[r].parent) {
    if (regions_[r].loop) return false;
  }
  return true;
}

// Who reads the slots of loop variables last in a pass, unless they go on to be another variable.
void PlanBuilder::FindVariableReaders() {
  for (size_t i = 0; i < loop_scopes_.size(); ++i) {
    const LoopScope& scope = loop_scopes_[i];
    absl::flat_hash_map<int32_t, int32_t> last;
    for (const LoopVariable& v : scope.variables) {
      if (storages_[v.storage].where == Where::kSlot) last[v.storage] = -1;
    }
    if (last.empty()) continue;
    for (int32_t k = scope.open_step + 1; k <= scope.close_step; ++k) {
      const BuildStep& step = steps_[k];
      for (uint32_t a = 0; a < step.num_inputs; ++a) {
        const auto it = last.find(args_[step.first_arg + a]);
        if (it != last.end()) it->second = k;
      }
    }
    for (const auto& [storage, step] : last)
      variable_readers_[storage] = {static_cast<int32_t>(i), step};
  }
}

// A step without arguments.
void PlanBuilder::EmitPlain(std::unique_ptr<SlowStep> step) {
  plan_->steps.push_back({RunSlowStep, static_cast<const SlowStep*>(step.get()), 0, 0, 0, kNoNode});
  plan_->args_end.push_back(0);
  plan_->slow_steps.push_back(std::move(step));
}

void PlanBuilder::EmitRelease(std::vector<int32_t> slots) {
  if (slots.empty()) return;
  auto release = std::make_unique<ReleaseStep>(std::move(slots));
  EmitPlain(std::move(release));
}

void PlanBuilder::EmitStep(int32_t k) {
  const BuildStep& b = steps_[k];
  for (uint32_t i = 0; (b.plugin != nullptr || b.kernel != nullptr) && i < b.num_inputs; ++i) {
    const bool last_use = IsLastUse(k, i);
    const int32_t storage = args_[b.first_arg + i];
    if (b.plugin != nullptr && storage >= 0)
      b.plugin->Place(i, storages_[Place(storage)], last_use);
    if (!last_use) continue;
    if (b.plugin != nullptr) {
      if (b.guard == regions_[region_of_[k]].guard) {  // it runs whenever this row does
        std::erase(releases_[k], storages_[storage].index);
      }
    }
    if (b.kernel != nullptr) b.kernel->MayTake(i);
  }
  if (last_plugin_step_ != nullptr && b.plugin != nullptr) last_plugin_step_->Precede(b.plugin);
  last_plugin_step_ = b.plugin;
  Step step{b.fn, b.state, b.first_arg, b.num_inputs, b.scratch_line, b.node};
  const bool looks_itself = b.fn == RunSlowStep;
  if (b.guard != 0 && !looks_itself && regions_[region_of_[k]].guard != b.guard) {
    auto guarded = std::make_unique<GuardedStep>(b.fn, b.state);
    guarded->guard = b.guard;
    step.fn = RunSlowStep;
    step.state = static_cast<const SlowStep*>(guarded.get());
    plan_->slow_steps.push_back(std::move(guarded));
  }
  plan_->steps.push_back(step);
  plan_->args_end.push_back(b.first_arg + b.num_inputs + b.num_outputs);
  if (!releases_.empty()) EmitRelease(std::move(releases_[k]));
}

void PlanBuilder::EmitSteps() {
  plan_->steps.reserve(steps_.size());
  std::vector<StepRange> ranges(regions_.size());
  for (size_t r = 0; r < regions_.size(); ++r) {
    ranges[r].begin = static_cast<uint32_t>(plan_->steps.size());
    for (int32_t entry : regions_[r].entries) {
      if (entry >= 0) {
        EmitStep(entry);
        continue;
      }
      Region& inner = regions_[-1 - entry];
      if (!inner.loop) {  // a loop's own step stands before it
        auto branch = std::make_unique<BranchStep>(inner.guard, inner.first_flag,
                                                   inner.end_flag - inner.first_flag);
        inner.branch = branch.get();
        EmitPlain(std::move(branch));
      }
      EmitRelease(std::move(inner.releases));
    }
    ranges[r].end = static_cast<uint32_t>(plan_->steps.size());
    if (r == 0) plan_->main_steps = ranges[r].end;
  }
  for (size_t r = 0; r < regions_.size(); ++r) {
    const Region& region = regions_[r];
    if (region.branch != nullptr) region.branch->SetSteps(ranges[r]);
    if (!region.loop) continue;
    LoopScope& scope = loop_scopes_[region.scope];
    const BuildStep& close = steps_[scope.close_step];
    scope.step->SetSteps(ranges[r]);
    scope.step->SetEnd(scope.again, close.first_arg, scope.uses_devices);
    for (size_t i = 0; i < scope.variables.size(); ++i) {
      LoopStep::Variable& variable = scope.step->variables()[i];
      variable.last_first = IsLastUse(scope.open_step, i);
      variable.last_read = IsLastUse(scope.close_step, i);
    }
  }
}

// Whether input i of the step is a slot that the step reads once, and last.
bool PlanBuilder::IsLastUse(int32_t step, size_t i) const {
  const auto inputs = args_.begin() + steps_[step].first_arg;
  const auto end = inputs + steps_[step].num_inputs;
  const int32_t storage = inputs[static_cast<int64_t>(i)];
  return storage >= 0 && storages_[storage].where == Where::kSlot && IsLastReader(step, storage) &&
         std::count(inputs, end, storage) == 1;
}

}  // namespace tenon
