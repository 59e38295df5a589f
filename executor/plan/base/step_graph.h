// The work of a run as plain data: values, the steps that make them, the storages that steps read
// and write, liveness flags, loops. Steps stand in an order in which they may run. Storages have no
// places in memory yet. executor/plan/steps/ makes a StepGraph; the later stages of planning read
// it.
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

// One value on one device. Pointers are not owned.
struct PlanValue {
  DataType dtype = DataType::kInvalid;
  int32_t storage = -1;              // -1: none yet, or a constant that no step has read
  int32_t alive = 0;                 // the flag that lives whenever a run has the value
  int32_t event = -1;                // of a copy to a device: recorded behind the copy. -1: none
  int64_t ticket = 0;                // DeviceStreams' ticket of the work that makes it; 0: none
  const Shape* shape = nullptr;      // in StepGraph::shapes: equal shapes are one. Null: unknown
  Device* device = nullptr;          // the device in whose memory it lies; null: the host
  const Tensor* constant = nullptr;  // its value if that is known while planning; else null
  Output output;                     // the output of the graph that it is, or is a copy of
  bool reference = false;       // a variable's handle, of dtype kResource; readers read its value
  bool graph_constant = false;  // `constant` is the same in all plans
  bool fed = false;             // a feed gives it, and not its node
  uint8_t stream = 0;           // the compute stream of `device` whose memory it has; 0 on the host
};
static_assert(sizeof(PlanValue) <= 64);  // large graphs are bound by memory

// One step. It becomes a Step of the plan (executor/run/plan.h).
struct GraphStep {
  // Notes that the step sets these flags while `alive` lives, and clears them while `alive` is
  // dead. The step must run in both cases: add it with the guard kAlways. A BranchStep around the
  // step may clear the flags in its place.
  void SetsFlags(int32_t first, int32_t count, int32_t alive) {
    first_flag = first;
    num_flags = count;
    guard = alive;
  }

  NodeId node = kNoNode;
  // Null: the step that closes a loop. It never runs; its inputs are the next values of the loop
  // variables, its outputs are the variables.
  RunFn fn = nullptr;
  const void* state = nullptr;  // in StepGraph::resources
  uint32_t first_arg = 0;       // of StepGraph::args: inputs, then outputs
  uint32_t num_inputs = 0;
  uint32_t num_outputs = 0;
  uint64_t scratch_bytes = 0;
  PluginStep* plugin = nullptr;  // `state`, if it is a PluginStep; else null
  KernelStep* kernel = nullptr;  // `state`, if it is a KernelStep; else null
  int32_t guard = 0;  // while this flag is dead, the step does no more than clear its flags
  int32_t first_flag = 0, num_flags = 0;  // the flags that it sets
  int32_t loop = -1;                      // the innermost of StepGraph::loops around it; -1: none
};

// A Merge that has another value in each pass of a loop.
struct LoopVariable {
  NodeId merge;
  NodeId next;       // its NextIteration; kNoNode: it counts the passes for output 1 of the Merge
  int32_t storage;   // of the Merge's value, in all passes
  StepInput first;   // its value in the first pass
  StepInput follow;  // its value in the next pass; set when the loop is closed
};

struct PlanLoop {
  int32_t parent = -1;  // the loop around it, of StepGraph::loops; -1: none
  int32_t guard = 0;    // the loop runs if this flag lives
  int32_t again = 0;    // another pass follows if this flag lives after a pass; 0: one pass only
  // The LoopStep, which sets the variables and runs the passes; and the step without `fn` behind
  // the last step of the loop.
  int32_t open_step = -1, close_step = -1;
  bool uses_devices = false;  // a device with memory of its own works in the loop
  LoopStep* step = nullptr;   // of open_step; in StepGraph::resources
  std::vector<LoopVariable> variables;
};

// Output `out` of a step, which the step may write over its input `in`.
struct InPlace {
  int32_t step;
  int16_t out, in;
};

// Indices: a value is one of `values`, a storage one of `storages`, a step one of `steps`, a flag
// one of `flags`.
struct StepGraph {
  StepGraph() = default;
  // A graph with a value for each output of these nodes, and without steps.
  StepGraph(const Graph& graph, absl::Span<const NodeId> order);

  // The value of a data output of a node in the order.
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

  std::vector<int32_t> first_value;  // by node id: the value of output 0; -1: not in the order
  std::vector<int32_t> node_alive;   // by node id: the flag that lives whenever the node runs
  // One for each output, in the order of the nodes. Then those that steps add: copies on other
  // devices, values read from reference variables, numbers of passes.
  std::vector<PlanValue> values;
  absl::node_hash_set<Shape> shapes;  // values point to these: the container never moves them
  std::vector<Storage> storages;
  std::vector<GraphStep> steps;
  std::vector<int32_t> args;      // storages; -1: the step does not use the argument
  std::vector<InPlace> in_place;  // in the order of steps
  FlagTree flags;
  std::vector<PlanLoop> loops;        // in the order of opening: outer ones first
  int32_t open_loop = -1;             // the innermost open loop while steps are added; -1: none
  std::vector<int32_t> held;          // storages that live to the end of the run
  std::vector<FetchSpec> fetches;     // in order; their places are not known yet
  std::vector<int32_t> fetch_values;  // by fetch; -1: a node to run, or a constant
  std::vector<Device*> devices;       // the devices with memory of their own that steps use
  std::vector<PlanCopy> copies;       // for reports
  // Tensors that steps make (Where::kSlot), events of copies, calls of asynchronous kernels,
  // kernels that runs prepare.
  int32_t num_slots = 0, num_events = 0, num_calls = 0, num_late = 0;
  StepResources resources;
};

}  // namespace tenon
