// Entries of the row become units; accesses and edges become arcs between units; units join into
// tasks along chains. Each arc leads from an earlier unit to a later one, and a unit joins a task
// only if it waits for nothing outside of the task, so that tasks form no cycle.

#include "executor/plan/tasks/task_graph.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/types/span.h"
#include "executor/plan/base/effects.h"
#include "executor/plan/base/free_order.h"
#include "executor/plan/tasks/step_cost.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/cpu/base/workers.h"

namespace tenon {
namespace {

constexpr double kGrainUs = 3;       // less work is not worth a hand-over to another thread
constexpr double kHandOverUs = 0.3;  // what a task costs beside its steps
// A shorter run stays in one thread: an update of a small network, 15 us in one thread, takes 16 to
// 28 in two.
constexpr double kWorthUs = 25;
constexpr double kMostOfSerial = 0.9;  // tasks must save at least a tenth
constexpr double kAssumedPasses = 10;  // of a loop
constexpr size_t kMaxTasks = 4096;     // Precedes takes a bit for each pair

using Units = std::vector<int32_t>;

// What stands in one place of the graph's row: a step, a branch, or a loop with the step that opens
// it.
struct Unit {
  bool waits = false;  // for a device: no other unit's work may stand behind it without need
  Units after;  // the units that it waits for; ascending, without repetition once Seal was called
  double cost_us = 0;
};

void Seal(Units& units) {
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
}

class UnitGraph {
 public:
  UnitGraph(const PlanInput& input, const StepGraph& graph, const StepSchedule& schedule,
            absl::Span<const int32_t> place_of)
      : in_(input), graph_(graph), schedule_(schedule), place_of_(place_of) {}

  // Finds the units and what they cost.
  void FindUnits() {
    PlaceEntries();
    AddCosts();
  }
  // What all units cost together.
  double CostUs() const {
    double us = 0;
    for (const Unit& unit : units_) us += unit.cost_us;
    return us;
  }
  // Finds what the units wait for. False if the edges between nodes are too many to follow.
  bool FindWaits() {
    AddAccesses();
    if (!AddEdges()) return false;
    for (Unit& unit : units_) Seal(unit.after);
    return true;
  }

  const std::vector<Unit>& units() const { return units_; }
  int32_t unit_of_entry(size_t entry) const { return unit_of_entry_[entry]; }
  int32_t unit_of_step(int32_t step) const { return unit_of_step_[step]; }

 private:
  void PlaceEntries() {
    const std::vector<int32_t>& entries = schedule_.rows[0].entries;
    std::vector<int32_t> of_row(schedule_.rows.size(), -1);
    unit_of_step_.assign(graph_.steps.size(), -1);
    for (const int32_t entry : entries) {
      const bool is_loop = entry < 0 && schedule_.rows[-1 - entry].loop >= 0;
      // The step that opens a loop stands right before the loop.
      if (!is_loop) units_.emplace_back();
      const auto unit = static_cast<int32_t>(units_.size()) - 1;
      unit_of_entry_.push_back(unit);
      if (entry >= 0) {
        unit_of_step_[entry] = unit;
      } else {
        of_row[-1 - entry] = unit;
      }
    }
    for (size_t r = 1; r < schedule_.rows.size(); ++r) {
      if (schedule_.rows[r].parent != 0) of_row[r] = of_row[schedule_.rows[r].parent];
    }
    for (int32_t k = 0; k < graph_.num_steps(); ++k) {
      if (schedule_.row_of[k] != 0) unit_of_step_[k] = of_row[schedule_.row_of[k]];
    }
  }

  void AddCosts() {
    for (int32_t k = 0; k < graph_.num_steps(); ++k) {
      double cost = StepCostUs(in_.graph, graph_, k);
      for (int32_t l = graph_.steps[k].loop; l >= 0; l = graph_.loops[l].parent)
        cost *= kAssumedPasses;
      units_[unit_of_step_[k]].cost_us += cost;
      units_[unit_of_step_[k]].waits |= Waits(graph_.steps[k]);
    }
  }

  static bool Waits(const GraphStep& step) {
    return step.fn == RunSlowStep && static_cast<const SlowStep*>(step.state)->Waits();
  }

  // Who touched something last.
  struct Touched {
    int32_t writer = -1;
    Units readers;  // since then
  };
  void Read(Touched& touched, int32_t unit) {
    if (touched.writer >= 0 && touched.writer != unit) units_[unit].after.push_back(touched.writer);
    if (touched.readers.empty() || touched.readers.back() != unit) touched.readers.push_back(unit);
  }
  void Write(Touched& touched, int32_t unit) {
    Units& after = units_[unit].after;
    if (touched.writer >= 0 && touched.writer != unit) after.push_back(touched.writer);
    for (const int32_t reader : touched.readers) {
      if (reader != unit) after.push_back(reader);
    }
    touched = {unit, {}};
  }

  void AddAccesses() {
    std::vector<Touched> storages(graph_.storages.size());
    Touched flags, others;
    for (int32_t k = 0; k < graph_.num_steps(); ++k) {
      const GraphStep& step = graph_.steps[k];
      const int32_t unit = unit_of_step_[k];
      const absl::Span<const int32_t> args = graph_.Args(step);
      for (size_t a = 0; a < args.size(); ++a) {
        if (args[a] < 0) continue;
        const Where where = graph_.storages[args[a]].where;
        if (where == Where::kConst || where == Where::kFeed) continue;
        Touched& storage = storages[place_of_[args[a]]];
        a < step.num_inputs ? Read(storage, unit) : Write(storage, unit);
      }
      if (step.num_flags > 0 || (step.node != kNoNode && IsControlFlow(in_.graph.facts(step.node))))
        Write(flags, unit);
      if (step.guard != 0) Read(flags, unit);
      if (TouchesMore(step)) Write(others, unit);
    }
  }

  // Whether the step touches something beside its arguments and flags: state, a device, an event.
  bool TouchesMore(const GraphStep& step) const {
    if (step.plugin != nullptr) return true;
    if (step.node != kNoNode && (HasEffects(in_.graph, step.node) || ReadsReference(step.node)))
      return true;
    if (graph_.devices.empty() || step.fn != RunSlowStep) return false;
    // What is queued on a stream keeps its order. A value may lie in the memory of a device.
    return static_cast<const SlowStep*>(step.state)->Queues().device != nullptr ||
           (step.kernel != nullptr && in_.devices[step.node] != in_.host);
  }
  bool ReadsReference(NodeId n) const {
    if (GivesReference(in_.graph, n)) return true;
    for (const Output& from : in_.graph.data_inputs(n)) {
      if (graph_.first_value[from.node] >= 0 && graph_.values[graph_.ValueOf(from)].reference)
        return true;
    }
    return false;
  }

  // Edges between nodes: control edges, and values that no kernel looks at, such as the flow of a
  // TensorArray. A node without steps hands on what it waits for.
  bool AddEdges() {
    std::vector<Units> of_node(in_.graph.num_node_ids());
    for (int32_t k = 0; k < graph_.num_steps(); ++k) {
      const NodeId n = graph_.steps[k].node;
      if (n != kNoNode) of_node[n].push_back(unit_of_step_[k]);
    }
    size_t handed_on = 0;
    for (const NodeId n : in_.schedule.order) {
      if (in_.fed_only[n]) continue;
      const bool has_steps = !of_node[n].empty();
      Units after;
      for (const Output& from : in_.graph.inputs(n)) {
        if (from.node == kNoNode) continue;
        after.insert(after.end(), of_node[from.node].begin(), of_node[from.node].end());
      }
      if (!has_steps) {
        Seal(after);
        handed_on += after.size();
        if (handed_on > 8 * in_.schedule.order.size() + 4096) return false;
        of_node[n] = std::move(after);
        continue;
      }
      Seal(of_node[n]);
      for (const int32_t unit : of_node[n]) {
        for (const int32_t before : after) {
          // An edge to a later unit closes a loop, within which both lie.
          if (before < unit) units_[unit].after.push_back(before);
        }
      }
    }
    return true;
  }

  const PlanInput& in_;
  const StepGraph& graph_;
  const StepSchedule& schedule_;
  const absl::Span<const int32_t> place_of_;
  std::vector<Unit> units_;
  std::vector<int32_t> unit_of_entry_, unit_of_step_;
};

// Joins units into tasks.
class TaskMaker {
 public:
  TaskMaker(const std::vector<Unit>& units, bool join)
      : units_(units), join_(join), uses_(units.size(), 0) {
    for (const Unit& unit : units) {
      for (const int32_t before : unit.after) ++uses_[before];
    }
  }

  // By unit: its task. Tasks are numbered in the order of their first units.
  std::vector<int32_t> Run() {
    std::vector<int32_t> task_of(units_.size());
    for (int32_t u = 0; u < static_cast<int32_t>(units_.size()); ++u) {
      const int32_t task = Join(u, task_of);
      if (task == static_cast<int32_t>(tasks_.size())) tasks_.emplace_back();
      Task& t = tasks_[task];
      t.has_source_only = units_[u].after.empty() && (t.cost_us == 0 || t.has_source_only);
      t.cost_us += units_[u].cost_us;
      t.tail = u;
      task_of[u] = task;
    }
    return task_of;
  }
  size_t size() const { return tasks_.size(); }

 private:
  struct Task {
    double cost_us = 0;
    int32_t tail = -1;  // its last unit
    bool has_source_only = false;
  };

  // The task of unit u: one that there is, or the next number.
  int32_t Join(int32_t u, const std::vector<int32_t>& task_of) {
    const auto fresh = static_cast<int32_t>(tasks_.size());
    if (!join_ || units_[u].waits) return fresh;
    const bool is_small = units_[u].cost_us < kGrainUs;
    const Units& after = units_[u].after;
    if (after.empty()) {
      const bool fits = is_small && sources_ >= 0 && tasks_[sources_].has_source_only &&
                        tasks_[sources_].cost_us < kGrainUs;
      return fits ? sources_ : sources_ = fresh;
    }
    const int32_t task = task_of[after.front()];
    for (const int32_t before : after) {
      if (task_of[before] != task) return fresh;
    }
    const int32_t tail = tasks_[task].tail;
    if (!std::binary_search(after.begin(), after.end(), tail)) return fresh;
    // Behind a fork a large unit gets a task of its own, so that all ways begin at once.
    return is_small || uses_[tail] == 1 ? task : fresh;
  }

  const std::vector<Unit>& units_;
  const bool join_;            // false: each unit is a task
  std::vector<int32_t> uses_;  // by unit: how many wait for it
  std::vector<Task> tasks_;
  int32_t sources_ = -1;  // the task that gathers small units which wait for nothing
};

// By task, in the order of TaskMaker: what it waits for, with what it costs.
std::vector<Unit> Condense(const std::vector<Unit>& units, const std::vector<int32_t>& task_of,
                           size_t tasks) {
  std::vector<Unit> condensed(tasks);
  for (size_t u = 0; u < units.size(); ++u) {
    Unit& task = condensed[task_of[u]];
    task.cost_us += units[u].cost_us;
    for (const int32_t before : units[u].after) {
      if (task_of[before] != task_of[u]) task.after.push_back(task_of[before]);
    }
  }
  for (Unit& task : condensed) {
    Seal(task.after);
    task.cost_us += kHandOverUs;
  }
  return condensed;
}

// By task: the cost of the longest path that begins with it. Only the first unit of a task waits
// for other tasks, whose first units stand before it: by their numbers, producers stand first.
std::vector<double> LongestPaths(const std::vector<Unit>& tasks) {
  std::vector<double> path(tasks.size());
  for (size_t t = 0; t < tasks.size(); ++t) path[t] = tasks[t].cost_us;
  for (size_t t = tasks.size(); t-- > 0;) {
    for (const int32_t before : tasks[t].after)
      path[before] = std::max(path[before], tasks[before].cost_us + path[t]);
  }
  return path;
}

// Whether the tasks save time, of a run that takes `serial` us in one thread.
bool IsWorthIt(const std::vector<Unit>& tasks, const std::vector<double>& paths, double serial,
               int threads) {
  if (tasks.size() < 2) return false;
  const double all = serial + kHandOverUs * static_cast<double>(tasks.size());
  const double longest = *std::max_element(paths.begin(), paths.end());
  return std::max(longest, all / threads) < kMostOfSerial * serial;
}

void FindFollowing(TaskGraph& graph) {
  const size_t words = (graph.tasks.size() + 63) / 64;
  graph.after.assign(graph.tasks.size(), std::vector<uint64_t>(words));
  for (size_t t = graph.tasks.size(); t-- > 0;) {
    std::vector<uint64_t>& bits = graph.after[t];
    for (const int32_t follower : graph.tasks[t].followers) {
      bits[follower / 64] |= uint64_t{1} << (follower % 64);
      for (size_t w = 0; w < words; ++w) bits[w] |= graph.after[follower][w];
    }
  }
}

// Numbers of tasks in an order in which producers stand first.
std::vector<int32_t> OrderOfTasks(const PlanInput& input, const std::vector<Unit>& tasks,
                                  const std::vector<double>& paths) {
  if (input.order == NodeOrder::kSeed) {
    std::vector<std::vector<int32_t>> after(tasks.size());
    std::vector<int32_t> waits;
    for (size_t t = 0; t < tasks.size(); ++t) {
      waits.push_back(static_cast<int32_t>(tasks[t].after.size()));
      for (const int32_t before : tasks[t].after) after[before].push_back(static_cast<int32_t>(t));
    }
    return DrawOrder(after, std::move(waits), input.order_seed);
  }
  // The order of first units is one.
  std::vector<int32_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0);
  // A path is longer than those of the tasks behind it, so falling paths are one, too.
  if (input.order != NodeOrder::kFile)
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return paths[a] > paths[b]; });
  return order;
}

}  // namespace

bool AllowsTasks(const PlanInput& input, const StepGraph& graph) {
  return input.inter_op != InterOp::kOff && input.order != NodeOrder::kMemory &&
         input.workers.threads() > 1 && graph.num_calls == 0 && graph.num_steps() > 1;
}

TaskGraph FindTasks(const PlanInput& input, const StepGraph& graph, const StepSchedule& schedule,
                    absl::Span<const int32_t> place_of) {
  TaskGraph result;
  if (!AllowsTasks(input, graph)) return result;
  UnitGraph units(input, graph, schedule, place_of);
  units.FindUnits();
  const bool always = input.inter_op == InterOp::kAlways;
  const double serial = units.CostUs();
  if (!always && serial < kWorthUs) return result;
  if (!units.FindWaits()) return result;
  TaskMaker maker(units.units(), !always);
  const std::vector<int32_t> task_of = maker.Run();
  const std::vector<Unit> tasks = Condense(units.units(), task_of, maker.size());
  const std::vector<double> paths = LongestPaths(tasks);
  if (maker.size() > kMaxTasks ||
      (!always && !IsWorthIt(tasks, paths, serial, input.workers.threads())))
    return result;

  const std::vector<int32_t> order = OrderOfTasks(input, tasks, paths);
  std::vector<int32_t> number(tasks.size());
  for (size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<int32_t>(i);
  result.tasks.resize(tasks.size());
  for (size_t t = 0; t < tasks.size(); ++t) {
    PlannedTask& task = result.tasks[number[t]];
    task.cost_us = static_cast<float>(tasks[t].cost_us);
    task.path_us = static_cast<float>(paths[t]);
    task.waits_for = static_cast<int32_t>(tasks[t].after.size());
    result.cost_us += task.cost_us;
    for (const int32_t before : tasks[t].after)
      result.tasks[number[before]].followers.push_back(number[t]);
  }
  for (PlannedTask& task : result.tasks) std::ranges::sort(task.followers);
  const std::vector<int32_t>& entries = schedule.rows[0].entries;
  for (size_t e = 0; e < entries.size(); ++e)
    result.tasks[number[task_of[units.unit_of_entry(e)]]].entries.push_back(
        static_cast<int32_t>(e));
  result.task_of.resize(graph.steps.size());
  for (int32_t k = 0; k < graph.num_steps(); ++k)
    result.task_of[k] = number[task_of[units.unit_of_step(k)]];
  FindFollowing(result);
  return result;
}

}  // namespace tenon
