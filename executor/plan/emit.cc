// Writes the rows one behind the other into one array of steps, row 0 first. A run walks row 0; the
// steps for branches and loops run the ranges of the other rows. Then lists the entries of the
// pointer table that differ from run to run, by feed, fetch and slot.

#include "executor/plan/emit.h"

#include <utility>
#include <vector>

#include "executor/plan/settled_devices.h"
#include "executor/plan/tasks/step_cost.h"
#include "graph/c_api/abi_watch.h"

namespace tenon {
namespace {

// Writes the rows of steps one behind the other, and adds the steps that run branches and release
// tensors.
class RowEmitter {
 public:
  RowEmitter(const StepGraph& graph, const StepSchedule& schedule, const Layout& layout,
             const PlanInput& input, Plan& plan)
      : input_(input),
        graph_(graph),
        schedule_(schedule),
        places_(input.schedule.places),
        layout_(layout),
        plan_(plan),
        releases_(layout.last_uses.FindReleases()),
        ranges_(schedule.rows.size()),
        branches_(schedule.rows.size(), nullptr) {}

  void Run() {
    plan_.steps.reserve(graph_.steps.size());
    for (size_t r = 0; r < schedule_.rows.size(); ++r) {
      ranges_[r].begin = static_cast<uint32_t>(plan_.steps.size());
      if (r == 0 && !layout_.tasks.empty()) {
        for (const PlannedTask& task : layout_.tasks.tasks) AddTask(task);
      } else {
        for (const int32_t entry : schedule_.rows[r].entries) AddEntry(entry);
      }
      ranges_[r].end = static_cast<uint32_t>(plan_.steps.size());
    }
    // A row's range is known only now: the step that runs a row stands before the row.
    plan_.main_steps = ranges_[0].end;
    for (size_t r = 0; r < schedule_.rows.size(); ++r) {
      if (branches_[r] != nullptr) branches_[r]->SetSteps(ranges_[r]);
      if (const int32_t loop = schedule_.rows[r].loop; loop >= 0)
        FinishLoop(graph_.loops[loop], ranges_[r]);
    }
  }

 private:
  void AddEntry(int32_t entry) {
    if (entry >= 0) {
      AddStep(entry);
    } else {
      AddRow(-1 - entry);
    }
  }

  void AddTask(const PlannedTask& task) {
    PlanTask added = task;
    added.begin = static_cast<uint32_t>(plan_.steps.size());
    last_plugin_ = nullptr;  // another thread may have run the task before
    for (const int32_t entry : task.entries) {
      AddEntry(schedule_.rows[0].entries[entry]);
      while (plan_.step_places.size() < plan_.steps.size())
        plan_.step_places.push_back(PlaceOf(plan_.steps[plan_.step_places.size()], entry));
    }
    added.end = static_cast<uint32_t>(plan_.steps.size());
    plan_.tasks.push_back(std::move(added));
  }

  // The place of a step that stands at `entry` in the row. Where nodes run in another order than
  // that of the file, the place of its node; steps on which those of other nodes may rely run after
  // any error.
  uint32_t PlaceOf(const Step& step, int32_t entry) const {
    if (places_.empty()) return static_cast<uint32_t>(entry);
    return step.node == kNoNode || IsService(step) ? 0 : places_[step.node];
  }

  // Adds the step that runs row r, if it is a branch: a loop has its own step already, which stands
  // before this entry.
  void AddRow(int32_t r) {
    const StepRow& row = schedule_.rows[r];
    if (row.loop < 0) {
      auto branch =
          std::make_unique<BranchStep>(row.guard, row.first_flag, row.end_flag - row.first_flag);
      branches_[r] = branch.get();
      AddPlain(std::move(branch));
    }
    if (!releases_.behind_row.empty()) AddRelease(std::move(releases_.behind_row[r]));
  }

  void AddStep(int32_t k) {
    const GraphStep& b = graph_.steps[k];
    TellOfInputs(k);
    // A step of a plug-in prefetches what the next one reads: PluginStep::Run.
    if (last_plugin_ != nullptr && b.plugin != nullptr) last_plugin_->Precede(b.plugin);
    last_plugin_ = b.plugin;
    Step step{b.fn, b.state, b.first_arg, b.num_inputs, layout_.scratch_line[k], b.node};
    // A step in the row of its own flag runs only if the flag lives. A planned step in another row
    // gets a SlowStep around it that looks at the flag.
    const bool looks_itself = b.fn == RunSlowStep;
    if (b.guard != 0 && !looks_itself && RowOf(k).guard != b.guard) {
      auto guarded = std::make_unique<GuardedStep>(b.fn, b.state);
      guarded->guard = b.guard;
      step.fn = RunSlowStep;
      step.state = static_cast<const SlowStep*>(guarded.get());
      plan_.resources.slow_steps.push_back(std::move(guarded));
    }
    plan_.steps.push_back(step);
    plan_.args_end.push_back(b.first_arg + b.num_inputs + b.num_outputs);
    AddCost(input_.keep_costs ? StepCostUs(input_.graph, graph_, k) : 0);
    if (!releases_.behind_step.empty()) AddRelease(std::move(releases_.behind_step[k]));
  }

  // Tells a step that works on tensors where its inputs lie, and which of them it may take.
  void TellOfInputs(int32_t k) {
    const GraphStep& step = graph_.steps[k];
    if (step.plugin == nullptr && step.kernel == nullptr) return;
    const absl::Span<const int32_t> inputs = graph_.Inputs(step);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool last_use = layout_.last_uses.IsLast(k, i);
      if (last_use && step.kernel != nullptr) step.kernel->MayTake(i);
      if (inputs[i] < 0) continue;
      const Storage& storage = layout_.storages[inputs[i]];
      if (step.plugin != nullptr) step.plugin->Place(i, storage, last_use);
      // Both kinds of steps clear the slots that they may take. No release is needed behind a step
      // that runs whenever its row runs.
      if (last_use && step.guard == RowOf(k).guard)
        std::erase(releases_.behind_step[k], storage.index);
    }
  }

  void FinishLoop(const PlanLoop& loop, StepRange steps) {
    std::vector<LoopStep::Variable> variables;
    for (size_t i = 0; i < loop.variables.size(); ++i) {
      const LoopVariable& v = loop.variables[i];
      const Storage& storage = graph_.storages[v.storage];
      variables.push_back({.value = {v.merge, v.next == kNoNode ? 1 : 0},
                           .first = v.first,
                           .next = v.follow,
                           .slot = storage.where == Where::kSlot ? storage.index : -1,
                           .bytes = storage.bytes,
                           .in_place = layout_.places.Find(v.follow.storage) == v.storage,
                           .last_first = layout_.last_uses.IsLast(loop.open_step, i),
                           .last_read = layout_.last_uses.IsLast(loop.close_step, i)});
    }
    loop.step->SetVariables(std::move(variables));
    loop.step->SetSteps(steps);
    loop.step->SetEnd(loop.again, graph_.steps[loop.close_step].first_arg, loop.uses_devices);
  }

  void AddRelease(std::vector<int32_t> slots) {
    if (!slots.empty()) AddPlain(std::make_unique<ReleaseStep>(std::move(slots)));
  }

  // A step without arguments.
  void AddPlain(std::unique_ptr<SlowStep> step) {
    plan_.steps.push_back({RunSlowStep, step.get(), 0, 0, 0, kNoNode});
    plan_.args_end.push_back(0);
    AddCost(0);
    plan_.resources.slow_steps.push_back(std::move(step));
  }

  void AddCost(double us) {
    if (input_.keep_costs) plan_.step_costs_us.push_back(static_cast<float>(us));
  }

  const StepRow& RowOf(int32_t k) const { return schedule_.rows[schedule_.row_of[k]]; }

  const PlanInput& input_;
  const StepGraph& graph_;
  const StepSchedule& schedule_;
  const std::vector<uint32_t>& places_;  // Schedule::places
  const Layout& layout_;
  Plan& plan_;
  Releases releases_;
  std::vector<StepRange> ranges_;      // by row, in the plan
  std::vector<BranchStep*> branches_;  // by row
  PluginStep* last_plugin_ = nullptr;  // the last step, if it is one
};

// Sorts (row, argument) pairs by row, by counting.
void BuildRows(absl::Span<const std::pair<int32_t, uint32_t>> uses, size_t rows, PatchList& list) {
  list.begin.assign(rows + 1, 0);
  for (const auto& [row, arg] : uses) ++list.begin[row + 1];
  for (size_t i = 0; i < rows; ++i) list.begin[i + 1] += list.begin[i];
  std::vector<uint32_t> next(list.begin.begin(), list.begin.end() - 1);
  list.args.resize(uses.size());
  for (const auto& [row, arg] : uses) list.args[next[row]++] = arg;
}

// Finds the entries of the pointer table that change from run to run.
void EmitPatches(Plan& plan) {
  std::vector<std::pair<int32_t, uint32_t>> feeds, fetches, slots;
  for (size_t a = 0; a < plan.args.size(); ++a) {
    if (plan.args[a] < 0) continue;
    const Storage& s = plan.storages[plan.args[a]];
    const std::pair<int32_t, uint32_t> use(s.index, static_cast<uint32_t>(a));
    if (s.where == Where::kFeed) feeds.push_back(use);
    if (s.where == Where::kFetch) fetches.push_back(use);
    if (s.where == Where::kSlot) slots.push_back(use);
  }
  BuildRows(feeds, plan.feeds.size(), plan.feed_uses);
  BuildRows(fetches, plan.fetch_buffers.size(), plan.fetch_uses);
  BuildRows(slots, static_cast<size_t>(plan.num_slots), plan.slot_uses);
}

}  // namespace

std::unique_ptr<Plan> Emit(const PlanInput& input, const StepSchedule& schedule, Layout layout,
                           StepGraph& graph) {
  auto plan = std::make_unique<Plan>();
  plan->graph = &input.graph;
  plan->calls = &input.calls;
  plan->resources = std::move(graph.resources);
  RowEmitter(graph, schedule, layout, input, *plan).Run();
  // Storages that share a place become one storage only now: LastUses knows the storages of before.
  plan->args = std::move(graph.args);
  for (int32_t& storage : plan->args) {
    if (storage >= 0) storage = layout.places.Find(storage);
  }
  plan->storages = std::move(layout.storages);
  plan->arena_bytes = layout.arena_bytes;
  plan->arena_lower_bound = layout.arena_lower_bound;
  plan->arena_largest = layout.arena_largest;
  plan->feeds.assign(input.feed_specs.begin(), input.feed_specs.end());
  plan->fetches = std::move(layout.fetches);
  plan->fetch_names.assign(input.fetch_names.begin(), input.fetch_names.end());
  plan->fetch_buffers = std::move(layout.fetch_buffers);
  plan->num_slots = graph.num_slots;
  plan->num_alive = graph.flags.size();
  plan->num_events = graph.num_events;
  plan->num_calls = graph.num_calls;
  plan->num_late = graph.num_late;
  plan->late = &input.late;
  plan->places = input.schedule.places;
  plan->devices = std::move(graph.devices);
  plan->settled = SettledDevices(*plan);
  plan->is_watched = AbiWatch::Active() != nullptr;
  plan->copies = std::move(graph.copies);
  EmitPatches(*plan);
  return plan;
}

}  // namespace tenon
