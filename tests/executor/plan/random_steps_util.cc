#include "tests/executor/plan/random_steps_util.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tenon::testing {
namespace {

constexpr int64_t kScratch = -1;

class Maker {
 public:
  Maker(std::mt19937& random, NodeId node, RandomSteps& made)
      : random_(random), node_(node), made_(made), graph_(made.graph) {}

  // `readable` are the storages that hold something whenever `guard` lives.
  void Block(int blocks, int depth, int32_t guard, std::vector<int32_t>& readable) {
    for (int i = 0; i < blocks; ++i) {
      const int kind = depth > 0 ? Random(6) : 0;
      if (kind < 4) AddStep(guard, readable);
      if (kind == 4) AddBranch(depth, guard, readable);
      if (kind == 5) AddLoop(depth, guard, readable);
    }
  }

  void Fetch(const std::vector<int32_t>& storages) {
    for (int32_t s : storages) {
      if (Random(6) > 0) continue;
      PlanValue& v = graph_.values.emplace_back();
      v.dtype = DataType::kInt8;
      v.storage = s;
      v.shape = &*graph_.shapes.insert(Shape({static_cast<int64_t>(Of(s).bytes)})).first;
      v.output = {node_, 0};
      graph_.fetch_values.push_back(static_cast<int32_t>(graph_.values.size()) - 1);
      graph_.fetches.emplace_back();
    }
  }

 private:
  int Random(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  int32_t Pick(const std::vector<int32_t>& from) {
    return from[Random(static_cast<int>(from.size()))];
  }
  const Storage& Of(int32_t s) const { return graph_.storages[s]; }
  bool Alike(int32_t a, int32_t b) const {
    return Of(a).where == Of(b).where && Of(a).bytes == Of(b).bytes;
  }

  int32_t NewStorage(Where where, uint64_t bytes) {
    const bool slot = where == Where::kSlot;
    graph_.storages.push_back({where, slot ? graph_.num_slots++ : 0, slot ? 0 : bytes, 0, nullptr});
    return static_cast<int32_t>(graph_.storages.size()) - 1;
  }
  int32_t NewStorage() {
    constexpr uint64_t kSizes[] = {1, 8, 64, 200};
    return NewStorage(Random(4) == 0 ? Where::kSlot : Where::kArena, kSizes[Random(4)]);
  }

  GraphStep& Add(int32_t guard, const std::vector<int32_t>& reads,
                 const std::vector<int32_t>& writes) {
    GraphStep& step = graph_.steps.emplace_back();
    step.node = node_;
    static const ReleaseStep* const slow = new ReleaseStep({});
    step.fn = RunSlowStep;
    step.state = static_cast<const SlowStep*>(slow);
    step.guard = guard;
    step.loop = graph_.open_loop;
    step.first_arg = static_cast<uint32_t>(graph_.args.size());
    step.num_inputs = static_cast<uint32_t>(reads.size());
    step.num_outputs = static_cast<uint32_t>(writes.size());
    graph_.args.insert(graph_.args.end(), reads.begin(), reads.end());
    graph_.args.insert(graph_.args.end(), writes.begin(), writes.end());
    return step;
  }

  void AddStep(int32_t guard, std::vector<int32_t>& readable) {
    std::vector<int32_t> reads, writes;
    for (int i = readable.empty() ? 0 : Random(4); i > 0; --i) reads.push_back(Pick(readable));
    for (int i = 1 + Random(2); i > 0; --i) writes.push_back(NewStorage());
    const int32_t k = graph_.num_steps();
    for (size_t out = 0; out < writes.size(); ++out) {
      for (size_t in = 0; in < reads.size(); ++in) {
        if (Of(writes[out]).where == Where::kArena && Random(3) > 0)
          graph_.in_place.push_back({k, static_cast<int16_t>(out), static_cast<int16_t>(in)});
      }
    }
    GraphStep& step = Add(guard, reads, writes);
    if (Random(4) == 0) step.scratch_bytes = 1 + Random(300);
    readable.insert(readable.end(), writes.begin(), writes.end());
  }

  int32_t AddSwitch(int32_t guard) {
    const int32_t first = graph_.flags.AddFamily(2, guard, {nullptr, -1});
    Add(guard, {}, {}).SetsFlags(first, 2, guard);
    return first;
  }

  void AddBranch(int depth, int32_t guard, std::vector<int32_t>& readable) {
    const int32_t first = AddSwitch(guard);
    std::vector<int32_t> results;
    for (int32_t flag : {first, first + 1}) {
      std::vector<int32_t> inner = readable;
      AddStep(flag, inner);
      Block(Random(4), depth - 1, flag, inner);
      results.push_back(inner.back());
    }
    const int32_t out = NewStorage();
    made_.merges[graph_.num_steps()] = {first, first + 1};
    Add(guard, results, {out});
    readable.push_back(out);
  }

  void AddLoop(int depth, int32_t guard, std::vector<int32_t>& readable) {
    AddStep(guard, readable);
    PlanLoop loop;
    loop.parent = graph_.open_loop;
    loop.guard = guard;
    std::vector<int32_t> firsts, variables;
    for (int i = 1 + Random(2); i > 0; --i) {
      const int32_t first = Pick(readable);
      const int32_t variable = NewStorage(Of(first).where, Of(first).bytes);
      firsts.push_back(first);
      variables.push_back(variable);
      loop.variables.push_back({kNoNode, kNoNode, variable, {first, DataType::kInt8, {}}, {}});
    }
    loop.open_step = graph_.num_steps();
    Add(guard, firsts, variables);
    const auto index = static_cast<int32_t>(graph_.loops.size());
    graph_.loops.push_back(loop);
    graph_.open_loop = index;
    std::vector<int32_t> inner = readable;
    inner.insert(inner.end(), variables.begin(), variables.end());
    Block(Random(4), depth - 1, FlagTree::kAlways, inner);
    CloseLoop(graph_.loops[index], variables, depth, inner);
    readable.insert(readable.end(), variables.begin(), variables.end());
    readable.push_back(inner.back());  // a result that is no variable
  }

  void CloseLoop(PlanLoop& loop, const std::vector<int32_t>& variables, int depth,
                 std::vector<int32_t> inner) {
    const auto index = static_cast<size_t>(&loop - graph_.loops.data());
    const int32_t again = AddSwitch(FlagTree::kAlways) + 1;
    Block(1 + Random(3), depth - 1, again, inner);
    std::vector<int32_t> nexts;
    for (int32_t variable : variables) {
      std::vector<int32_t> fitting;
      for (int32_t s : inner) {
        if (Alike(s, variable)) fitting.push_back(s);
      }
      // Mostly one that was made last, which may go over the variable.
      const int32_t next = Random(3) > 0 ? fitting.back() : Pick(fitting);
      nexts.push_back(Aside(next, variable, variables, again));
    }
    PlanLoop& closing = graph_.loops[index];  // loops within may have moved it
    closing.again = again;
    for (size_t i = 0; i < nexts.size(); ++i)
      closing.variables[i].follow = {nexts[i], DataType::kInt8, {}};
    closing.close_step = graph_.num_steps();
    Add(FlagTree::kAlways, nexts, variables).fn = nullptr;
    graph_.open_loop = closing.parent;
  }

  // Planned memory of another variable is copied before that changes.
  int32_t Aside(int32_t next, int32_t variable, const std::vector<int32_t>& variables,
                int32_t again) {
    const bool of_another =
        next != variable && std::find(variables.begin(), variables.end(), next) != variables.end();
    if (!of_another || Of(variable).where != Where::kArena) return next;
    const int32_t copy = NewStorage(Where::kArena, Of(variable).bytes);
    Add(again, {next}, {copy});
    return copy;
  }

  std::mt19937& random_;
  const NodeId node_;
  RandomSteps& made_;
  StepGraph& graph_;
};

}  // namespace

RandomSteps MakeRandomSteps(std::mt19937& random, NodeId node, int blocks, int depth) {
  RandomSteps made;
  Maker maker(random, node, made);
  std::vector<int32_t> readable;
  maker.Block(blocks, depth, FlagTree::kAlways, readable);
  maker.Fetch(readable);
  return made;
}

StepMachine::StepMachine(const RandomSteps& steps, const StepSchedule& schedule,
                         const Layout& layout, std::mt19937& random)
    : steps_(steps),
      graph_(steps.graph),
      schedule_(schedule),
      layout_(layout),
      random_(random),
      releases_(layout.last_uses.FindReleases()),
      loop_rows_(graph_.loops.size(), -1),
      loops_opened_(graph_.steps.size(), -1),
      alive_(graph_.flags.size(), 0),
      arena_(layout.arena_bytes, 0),
      slots_(graph_.num_slots),
      held_(graph_.storages.size(), 0) {
  alive_[FlagTree::kAlways] = 1;
  for (const FetchBuffer& buffer : layout.fetch_buffers)
    fetches_.emplace_back(buffer.spec.shape.num_elements(), 0);
  for (size_t r = 0; r < schedule.rows.size(); ++r) {
    if (schedule.rows[r].loop >= 0) loop_rows_[schedule.rows[r].loop] = static_cast<int32_t>(r);
  }
  for (size_t l = 0; l < graph_.loops.size(); ++l)
    loops_opened_[graph_.loops[l].open_step] = static_cast<int32_t>(l);
}

std::string StepMachine::Run() {
  layout_.tasks.empty() ? RunRow(0) : RunTasks();
  for (int32_t id : graph_.fetch_values) Read(graph_.values[id].storage);
  return std::move(wrong_);
}

void StepMachine::RunTasks() {
  const std::vector<PlannedTask>& tasks = layout_.tasks.tasks;
  std::vector<size_t> next(tasks.size(), 0), running;
  std::vector<int32_t> waits;
  for (size_t t = 0; t < tasks.size(); ++t) {
    waits.push_back(tasks[t].waits_for);
    if (waits[t] == 0) running.push_back(t);
  }
  size_t ended = 0;
  while (!running.empty()) {
    const size_t i = random_() % running.size();
    const PlannedTask& task = tasks[running[i]];
    RunEntry(schedule_.rows[0].entries[task.entries[next[running[i]]++]]);
    if (next[running[i]] < task.entries.size()) continue;
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    ++ended;
    for (const int32_t follower : task.followers) {
      if (--waits[follower] == 0) running.push_back(follower);
    }
  }
  if (ended < tasks.size() && wrong_.empty()) wrong_ = "tasks wait for each other";
}

void StepMachine::RunRow(int32_t r) {
  for (int32_t entry : schedule_.rows[r].entries) RunEntry(entry);
}

void StepMachine::RunEntry(int32_t entry) {
  if (entry >= 0) {
    RunStep(entry);
    if (!releases_.behind_step.empty()) Release(releases_.behind_step[entry]);
    return;
  }
  const StepRow& inner = schedule_.rows[-1 - entry];
  if (inner.loop < 0 && Alive(inner.guard)) RunRow(-1 - entry);
  if (inner.loop < 0 && !Alive(inner.guard))
    std::fill(alive_.begin() + inner.first_flag, alive_.begin() + inner.end_flag, 0);
  if (!releases_.behind_row.empty()) Release(releases_.behind_row[-1 - entry]);
}

void StepMachine::RunStep(int32_t k) {
  const GraphStep& step = graph_.steps[k];
  for (int32_t f = step.first_flag; f < step.first_flag + step.num_flags; ++f) alive_[f] = 0;
  if (!Alive(step.guard)) return;
  if (loops_opened_[k] >= 0) return RunLoop(k, graph_.loops[loops_opened_[k]]);
  if (step.num_flags > 0) {
    // That of a loop decides whether there is a next pass.
    const bool of_loop = step.loop >= 0 && graph_.loops[step.loop].again == step.first_flag + 1;
    alive_[step.first_flag + (of_loop ? passes_left_ > 0 : random_() % 2)] = 1;
    return;
  }
  Compute(k);
}

void StepMachine::Compute(int32_t k) {
  const GraphStep& step = graph_.steps[k];
  const absl::Span<const int32_t> inputs = graph_.Inputs(step), outputs = graph_.Outputs(step);
  const absl::Span<int64_t> scratch =
      absl::MakeSpan(arena_).subspan(layout_.scratch_line[k] * 64, step.scratch_bytes);
  now_ = k;
  Fill(scratch, kScratch);
  const auto merge = steps_.merges.find(k);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (merge != steps_.merges.end() && !Alive(i == 0 ? merge->second.first : merge->second.second))
      continue;
    Read(inputs[i]);
    if (merge == steps_.merges.end() && layout_.last_uses.IsLast(k, i))
      slots_[graph_.storages[inputs[i]].index].clear();
  }
  for (int32_t s : outputs) Write(s);
  Fill(scratch, kScratch);
  for (int32_t s : outputs) Read(s);
}

void StepMachine::RunLoop(int32_t k, const PlanLoop& loop) {
  now_ = k;
  for (size_t i = 0; i < loop.variables.size(); ++i) {
    Read(loop.variables[i].first.storage);
    if (layout_.last_uses.IsLast(k, i))
      slots_[graph_.storages[loop.variables[i].first.storage].index].clear();
    Copy(loop.variables[i].first.storage, loop.variables[i].storage);
  }
  for (int left = static_cast<int>(random_() % 3); left >= 0; --left) {
    const int outer = std::exchange(passes_left_, left);
    RunRow(loop_rows_[loops_opened_[k]]);
    passes_left_ = outer;
    if (!Alive(loop.again)) return;
    Advance(loop);
  }
}

// As LoopStep does it: slots are read before anything is written.
void StepMachine::Advance(const PlanLoop& loop) {
  now_ = loop.close_step;
  const auto is_slot = [&](const LoopVariable& v) {
    return graph_.storages[v.storage].where == Where::kSlot;
  };
  std::vector<int64_t> slots(loop.variables.size());
  for (size_t i = 0; i < loop.variables.size(); ++i) {
    const LoopVariable& v = loop.variables[i];
    if (!is_slot(v)) continue;
    Read(v.follow.storage);
    slots[i] = held_[v.follow.storage];
    if (layout_.last_uses.IsLast(loop.close_step, i))
      slots_[graph_.storages[v.follow.storage].index].clear();
  }
  for (const LoopVariable& v : loop.variables) {
    if (is_slot(v)) continue;
    Read(v.follow.storage);
    Copy(v.follow.storage, v.storage);
  }
  for (size_t i = 0; i < loop.variables.size(); ++i) {
    if (is_slot(loop.variables[i])) Hold(loop.variables[i].storage, slots[i]);
  }
}

void StepMachine::Release(const std::vector<int32_t>& slots) {
  for (int32_t slot : slots) slots_[slot].clear();
}

absl::Span<int64_t> StepMachine::Bytes(int32_t storage) {
  const Storage& s = layout_.storages[storage];
  if (s.where == Where::kArena) return absl::MakeSpan(arena_).subspan(s.offset, s.bytes);
  return absl::MakeSpan(s.where == Where::kFetch ? fetches_[s.index] : slots_[s.index]);
}

void StepMachine::Read(int32_t storage) {
  const absl::Span<const int64_t> bytes = Bytes(storage);
  const bool there = !bytes.empty() && std::all_of(bytes.begin(), bytes.end(),
                                                   [&](int64_t b) { return b == held_[storage]; });
  if (!there && wrong_.empty())
    wrong_ = absl::StrCat("step ", now_, " finds storage ", storage, " overwritten or gone");
}

void StepMachine::Hold(int32_t storage, int64_t number) {
  held_[storage] = number;
  if (layout_.storages[storage].where == Where::kSlot)
    slots_[layout_.storages[storage].index].assign(1, 0);
  Fill(Bytes(storage), number);
}

void StepMachine::Fill(absl::Span<int64_t> bytes, int64_t number) {
  std::fill(bytes.begin(), bytes.end(), number);
}

}  // namespace tenon::testing
