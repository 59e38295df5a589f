#include "executor/plan/layout/last_uses.h"

#include <algorithm>

namespace tenon {

LastUses::LastUses(const StepGraph& graph, const StepSchedule& schedule, const Lifetimes& lifetimes)
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
    if (lifetimes.last[s] >= end) last_[s] = end;
  }
  FindVariableReaders();
}

// Who reads the slots of loop variables last in a pass, unless they go on to be another variable.
void LastUses::FindVariableReaders() {
  for (size_t l = 0; l < graph_.loops.size(); ++l) {
    const PlanLoop& loop = graph_.loops[l];
    absl::flat_hash_map<int32_t, int32_t> last;
    for (const LoopVariable& v : loop.variables) {
      if (graph_.storages[v.storage].where == Where::kSlot) last[v.storage] = -1;
    }
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
    // The next value comes before the next pass, and a step of the body has a next pass.
    const VariableReader& reader = it->second;
    if (reader.last == step && graph_.steps[step].loop == reader.loop &&
        graph_.flags.Implies(graph_.steps[step].guard, graph_.loops[reader.loop].again))
      return true;
  }
  if (last_[storage] != step) return false;
  for (int32_t r = schedule_.row_of[step]; r != row_[storage]; r = schedule_.rows[r].parent) {
    if (schedule_.rows[r].loop >= 0) return false;
  }
  return true;
}

bool LastUses::IsLast(int32_t step, size_t i) const {
  const absl::Span<const int32_t> inputs = graph_.Inputs(graph_.steps[step]);
  const int32_t storage = inputs[i];
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
