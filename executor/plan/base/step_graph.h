// The work of a run as plain data: values, the steps that make them, the storages that steps read
// and write, liveness flags, loops. Steps stand in an order in which they may run. The places of
// storages are not decided yet.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/node_hash_set.h"
#include "absl/types/span.h"
#include "executor/plan/base/flag_tree.h"
#include "executor/run/control_steps.h"
#include "executor/run/device_steps.h"
#include "executor/run/plan.h"
#include "executor/run/slow_steps.h"
#include "graph/ir/graph.h"

namespace tenon {

// One value on one device.
struct PlanValue {
  DataType dtype = DataType::kInvalid;
  int32_t storage = -1;              // -1: none yet, or a constant that no step has read
  int32_t alive = 0;                 // a flag
  int32_t event = -1;                // of a copy to a device: recorded behind it
  int64_t ticket = 0;                // of a kernel on a device: its place in the compute stream
  const Shape* shape = nullptr;      // null: unknown; else of StepGraph::shapes, one for equal ones
  Device* device = nullptr;          // null: host memory
  const Tensor* constant = nullptr;  // known while planning
  Output output;
  bool reference = false;       // a variable, dtype is resource: read when somebody wants its value
  bool graph_constant = false;  // the same in all plans
  bool fed = false;             // its node is not asked for it
};
static_assert(sizeof(PlanValue) <= 64);  // large graphs are bound by memory

struct GraphStep {
  // Notes that the step sets these flags. While `alive` is dead, the step only clears them.
  void SetsFlags(int32_t first, int32_t count, int32_t alive) {
    first_flag = first;
    num_flags = count;
    guard = alive;
  }

  NodeId node = kNoNode;
  RunFn fn = nullptr;  // null: the end of a loop, which never runs and only names what goes round
  const void* state = nullptr;
  uint32_t first_arg = 0;  // of StepGraph::args: inputs, then outputs
  uint32_t num_inputs = 0;
  uint32_t num_outputs = 0;
  uint64_t scratch_bytes = 0;
  PluginStep* plugin = nullptr;           // what `state` is, if it is one
  KernelStep* kernel = nullptr;           // likewise
  int32_t guard = 0;                      // while this flag is dead, it only lets its own flags die
  int32_t first_flag = 0, num_flags = 0;  // that it sets
  int32_t loop = -1;                      // the innermost of StepGraph::loops that it is in
};

struct LoopVariable {
  NodeId merge;
  NodeId next;  // its NextIteration; kNoNode: it counts the passes for output 1 of the Merge
  int32_t storage;
  StepInput first;   // its value in the first pass
  StepInput follow;  // what it becomes for the next pass; known when the loop is closed
};

struct PlanLoop {
  int32_t parent = -1;  // of StepGraph::loops
  int32_t guard = 0;    // it runs while this flag lives
  int32_t again = 0;    // there is a next pass while this flag lives; 0: there is one pass
  int32_t open_step = -1, close_step = -1;
  bool uses_devices = false;  // with memory of their own
  LoopStep* step = nullptr;
  std::vector<LoopVariable> variables;
};

// An output that a step may write over an input.
struct InPlace {
  int32_t step;
  int16_t out, in;
};

struct StepGraph {
  StepGraph() = default;
  // A graph with a value for each output of these nodes, and without steps.
  StepGraph(const Graph& graph, absl::Span<const NodeId> order);

  int32_t ValueOf(Output o) const { return first_value[o.node] + o.port; }
  absl::Span<const int32_t> Inputs(const GraphStep& s) const {
    return absl::MakeConstSpan(args).subspan(s.first_arg, s.num_inputs);
  }
  absl::Span<const int32_t> Outputs(const GraphStep& s) const {
    return absl::MakeConstSpan(args).subspan(s.first_arg + s.num_inputs, s.num_outputs);
  }
  absl::Span<const int32_t> Args(const GraphStep& s) const {
    return absl::MakeConstSpan(args).subspan(s.first_arg, s.num_inputs + s.num_outputs);
  }
  int32_t num_steps() const { return static_cast<int32_t>(steps.size()); }

  std::vector<int32_t> first_value;  // by node id; -1: no fetch needs the node
  std::vector<int32_t> node_alive;   // by node id: a flag
  std::vector<PlanValue> values;     // of every output, then copies on other devices
  absl::node_hash_set<Shape> shapes;
  std::vector<Storage> storages;
  std::vector<GraphStep> steps;
  std::vector<int32_t> args;      // storages; -1: none
  std::vector<InPlace> in_place;  // in the order of steps
  FlagTree flags;
  std::vector<PlanLoop> loops;  // in the order of opening: outer ones first
  int32_t open_loop = -1;       // the innermost that is open while steps are added
  std::vector<int32_t> held;    // storages that live to the end of the run
  std::vector<FetchSpec> fetches;
  std::vector<int32_t> fetch_values;  // by fetch; -1: none, or it is a constant
  std::vector<Device*> devices;       // used ones with memory of their own
  std::vector<PlanCopy> copies;
  int32_t num_slots = 0, num_events = 0, num_calls = 0;
  StepResources resources;
};

}  // namespace tenon
