// Finds the last reader of each tensor in a slot, so that kernels may take it and slots are
// released early. row_ holds the innermost row with all uses: a last use in a row below may be
// skipped or come again.

#include "executor/plan/layout/last_uses.h"

#include <algorithm>

namespace tenon {

LastUses::LastUses(const StepGraph& graph, const StepSchedule& schedule, const Lifetimes& lifetimes,
                   const TaskGraph& tasks)
    : graph_(graph),
      schedule_(schedule),
      last_(graph.storages.size(), -1),
      row_(graph.storages.size(), -1) {
  const int32_t end = graph.num_steps();
  for (int32_t k = 0; k < end; ++k) {
    const int32_t row = schedule.row_of[k];
    for (int32_t s : graph.Args(graph.steps[k])) {
      if (s < 0) continue;
      row_[s] = row_[s] < 0 ? row : schedule.CommonRow(row_[s], row);
      last_[s] = k;
    }
  }
  for (size_t s = 0; s < last_.size(); ++s) {
    // Fetched and held values outlive the last step: no step takes or releases them.
    if (lifetimes.last[s] >= end) last_[s] = end;
  }
  if (!tasks.empty()) KeepUnordered(tasks);
  FindVariableReaders();
}

// Slots whose last user may run before another user live to the end of the run.
void LastUses::KeepUnordered(const TaskGraph& tasks) {
  const int32_t end = graph_.num_steps();
  std::vector<int32_t> last_task(last_.size(), -1);
  for (size_t s = 0; s < last_.size(); ++s) {
    if (last_[s] >= 0 && last_[s] < end) last_task[s] = tasks.task_of[last_[s]];
  }
  for (int32_t k = 0; k < end; ++k) {
    const int32_t task = tasks.task_of[k];
    for (const int32_t s : graph_.Args(graph_.steps[k])) {
      if (s < 0 || last_task[s] < 0 || last_task[s] == task) continue;
      if (!tasks.Precedes(task, last_task[s])) last_[s] = end;
    }
  }
}

// Finds, for each loop variable in a slot, the step that reads it last in a pass. The step that
// closes the loop counts as a reader: a variable that becomes the next value of another variable
// must not be taken before.
void LastUses::FindVariableReaders() {
  for (size_t l = 0; l < graph_.loops.size(); ++l) {
    const PlanLoop& loop = graph_.loops[l];
    absl::flat_hash_map<int32_t, int32_t> last;
    for (const LoopVariable& v : loop.variables) {
      if (graph_.storages[v.storage].where == Where::kSlot) last[v.storage] = -1;
    }
    // A copy to a device may read the value until the pass ends: no step may take it before.
    for (int32_t s : graph_.held) last.erase(s);
    if (last.empty()) continue;
    for (int32_t k = loop.open_step + 1; k <= loop.close_step; ++k) {
      for (int32_t s : graph_.Inputs(graph_.steps[k])) {
        const auto it = last.find(s);
        if (it != last.end()) it->second = k;
      }
    }
    for (const auto& [storage, step] : last)
      variable_readers_[storage] = {static_cast<int32_t>(l), step};
  }
}

bool LastUses::IsLastReader(int32_t step, int32_t storage) const {
  if (const auto it = variable_readers_.find(storage); it != variable_readers_.end()) {
    // A reader in the body that runs only if there is a next pass: the variable gets its next value
    // before any step reads it again. A reader that also runs in the last pass does not qualify,
    // since a step behind the loop may read the variable.
    const VariableReader& reader = it->second;
    if (reader.last == step && graph_.steps[step].loop == reader.loop &&
        graph_.flags.Implies(graph_.steps[step].guard, graph_.loops[reader.loop].again))
      return true;
  }
  if (last_[storage] != step) return false;
  // If a loop lies between the step and the innermost row of all uses, the next pass reads again.
  for (int32_t r = schedule_.row_of[step]; r != row_[storage]; r = schedule_.rows[r].parent) {
    if (schedule_.rows[r].loop >= 0) return false;
  }
  return true;
}

bool LastUses::IsLast(int32_t step, size_t i) const {
  const absl::Span<const int32_t> inputs = graph_.Inputs(graph_.steps[step]);
  const int32_t storage = inputs[i];
  // A tensor that one step reads as two inputs cannot be taken as one of them: the other input
  // would be empty.
  return storage >= 0 && graph_.storages[storage].where == Where::kSlot &&
         IsLastReader(step, storage) && std::count(inputs.begin(), inputs.end(), storage) == 1;
}

Releases LastUses::FindReleases() const {
  Releases releases;
  if (graph_.num_slots == 0) return releases;
  const int32_t end = graph_.num_steps();
  releases.behind_step.resize(end);
  releases.behind_row.resize(schedule_.rows.size());
  for (size_t s = 0; s < last_.size(); ++s) {
    const Storage& storage = graph_.storages[s];
    if (storage.where != Where::kSlot || last_[s] < 0 || last_[s] == end) continue;
    int32_t row = schedule_.row_of[last_[s]];
    // A branch may be skipped and a loop comes back: a release within it would come too rarely or
    // too early for a slot that is used outside.
    if (row == row_[s]) {
      releases.behind_step[last_[s]].push_back(storage.index);
      continue;
    }
    while (schedule_.rows[row].parent != row_[s]) row = schedule_.rows[row].parent;
    releases.behind_row[row].push_back(storage.index);
  }
  return releases;
}

}  // namespace tenon
