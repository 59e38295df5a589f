// Step graphs made at random, with branches and loops, and a machine that runs them on a layout and
// sees whether each step finds what it reads.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/layout.h"

namespace tenon::testing {

struct RandomSteps {
  StepGraph graph;
  absl::flat_hash_map<int32_t, std::pair<int32_t, int32_t>> merges;  // flags of inputs, by step
};

// With `blocks` random steps, branches or loops, nested up to `depth` deep. All are of `node`.
RandomSteps MakeRandomSteps(std::mt19937& random, NodeId node, int blocks, int depth);

// What is written carries a number of its own; a storage must hold the last number written to it
// when it is read.
class StepMachine {
 public:
  StepMachine(const RandomSteps& steps, const StepSchedule& schedule, const Layout& layout,
              std::mt19937& random);

  // One run, with branches and passes at random; with tasks, their entries are mixed at random as
  // far as the order of tasks allows it. Returns what was wrong: empty for nothing.
  std::string Run();

 private:
  void RunTasks();
  void RunRow(int32_t r);
  void RunEntry(int32_t entry);
  void RunStep(int32_t k);
  void Compute(int32_t k);
  void RunLoop(int32_t k, const PlanLoop& loop);
  void Advance(const PlanLoop& loop);
  bool Alive(int32_t flag) const { return alive_[flag] != 0; }
  void Release(const std::vector<int32_t>& slots);
  absl::Span<int64_t> Bytes(int32_t storage);
  void Read(int32_t storage);
  void Hold(int32_t storage, int64_t number);
  void Write(int32_t storage) { Hold(storage, ++last_number_); }
  void Copy(int32_t from, int32_t to) { Hold(to, held_[from]); }
  void Fill(absl::Span<int64_t> bytes, int64_t number);

  const RandomSteps& steps_;
  const StepGraph& graph_;
  const StepSchedule& schedule_;
  const Layout& layout_;
  std::mt19937& random_;
  const Releases releases_;
  std::vector<int32_t> loop_rows_, loops_opened_;  // row by loop; loop by step, or -1
  std::vector<char> alive_;                        // by flag
  std::vector<int64_t> arena_;
  std::vector<std::vector<int64_t>> fetches_, slots_;
  std::vector<int64_t> held_;  // by storage: the number that it holds
  int64_t last_number_ = 0;
  int32_t now_ = -1;  // the step that runs
  int passes_left_ = 0;
  std::string wrong_;
};

}  // namespace tenon::testing
