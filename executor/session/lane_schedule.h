// Where and when the steps of a plan would run, by their estimated times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/run/plan.h"

namespace tenon {

// A thread of the host, or a stream of a device. Times are estimated microseconds from the
// beginning of the run.
struct Lane {
  std::string name;  // "host 0", "APU:0 compute"
  bool is_host = false;
  double work_us = 0;  // it works
  double wait_us = 0;  // it waits for a device within a task
};

struct LaneSpan {
  uint32_t step;  // of Plan::steps. A branch or a loop is one span, with all that it runs
  int32_t lane;   // of LaneSchedule::lanes
  double start_us, stop_us;
  bool waits = false;  // the lane does nothing but wait for a device
  // A host's lane queues the step's work on a device's stream, where the work has another span.
  bool queues = false;
};

// The longest chain of a plan: of tasks that wait for each other if the plan has tasks, else of
// steps that read each other's results. On the host, no number of threads makes a run shorter. Work
// for a device counts in the chain's tasks, which only queue the work: such a run may be shorter.
struct Chain {
  std::vector<uint32_t> links;  // tasks or steps, in order
  double us = 0;
};
// `step_us`: by step of the graph (Plan::main_steps), what it takes, with all that it runs. O(n).
Chain LongestChain(const Plan& plan, absl::Span<const double> step_us);

struct LaneTask {
  int32_t lane;
  double start_us, stop_us;
};

// A simulated run. Of the ready tasks the first in Plan::tasks goes to the thread that is free
// first; a plan without tasks is one row on the first thread. Work on a stream begins when it is
// queued, the work before it is done and its inputs are there. Not simulated: kernels whose inside
// several threads share, other runs, and what streams wait for beside inputs. A loop counts as ten
// passes, and each branch runs.
struct LaneSchedule {
  std::shared_ptr<const Plan> plan;  // null: there is none
  int threads = 0;
  std::vector<Lane> lanes;      // those of the host first
  std::vector<LaneSpan> spans;  // in the order of their starts
  std::vector<LaneTask> tasks;  // by task of the plan; empty for a plan without tasks
  double makespan_us = 0;       // all lanes are done
  double work_us = 0;           // of all lanes together
  Chain critical;
};

// `plan` must not be null and must have step_costs_us. `threads`: of the host; below 1 counts as 1.
// O(n log n).
LaneSchedule ScheduleOnLanes(std::shared_ptr<const Plan> plan, int threads);

}  // namespace tenon
