// A graph that is compiled for one set of feed shapes: a flat list of steps over a table of
// pointers. Immutable; all runs share it, on any threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/lowering/call_sites.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

struct LatePreparations;  // executor/run/preparation_cache.h

// One call of a run function. The steps of the graph, of a branch and of a loop each stand in the
// order of execution. A step has 32 bytes: two fit into a cache line.
struct Step {
  RunFn fn;
  const void* state;   // owned by Plan::resources; null if the function needs none
  uint32_t first_arg;  // of the frame's pointer table: inputs, then outputs
  uint32_t num_inputs;
  uint32_t scratch;  // offset of its scratch memory in the arena, in lines of 64 bytes
  NodeId node;       // kNoNode: a step that belongs to no node
};
static_assert(sizeof(Step) == 32);

// The kind of place that a storage has.
enum class Where : uint8_t {
  kNone,   // no step reads it
  kArena,  // at `offset`
  kConst,  // at `address`
  kFeed,   // the tensor of feed `index`
  kFetch,  // a buffer made for each run, handed to the caller: `index`
  kSlot,   // a tensor made by a step (unknown shape, strings, device memory): `index`
};
// One place for a value.
struct Storage {
  Where where = Where::kNone;
  int32_t index = 0;        // of the feed, fetch buffer or slot
  uint64_t bytes = 0;       // 0 for a slot
  uint64_t offset = 0;      // in the arena, in bytes
  void* address = nullptr;  // of a constant; Plan::resources keeps it
};

// For each feed, each fetch buffer or each slot i: the entries of the pointer table that point to
// its data. Row i is args[begin[i]] to args[begin[i + 1]], without the last.
struct PatchList {
  std::vector<uint32_t> begin;  // by item, then the size of `args`
  std::vector<uint32_t> args;
};

struct FeedSpec {
  DataType dtype;
  Shape shape;
  // Of the handle of a variable that no node of the graph gives another shape: the variable's
  // shape.
  std::optional<Shape> variable_shape = std::nullopt;
};

// A buffer that each run allocates for its caller, and that a step fills.
struct FetchBuffer {
  FeedSpec spec;
  NodeId node;  // the node that fills it, for errors
};

// The place of a fetched value at the end of the run.
struct FetchSpec {
  Where where = Where::kNone;  // never kArena. kNone: the fetch is a node to run and has no value
  int32_t index = 0;           // of the feed, fetch buffer or slot
  DataType dtype = DataType::kInvalid;
  std::optional<Shape> shape;  // nullopt: the shape of the slot's tensor
  Tensor constant;             // the value, if `where` is kConst
  int32_t alive = 0;           // liveness flag; 0: always alive
};

// One copy between devices, for reports: of a value in each run that reaches the copy, or of a
// constant once, while planning.
struct PlanCopy {
  Output value;  // the output of the graph that is copied
  const Device* from;
  const Device* to;
  int64_t bytes;  // -1: unknown
};

// Steps that one thread runs one after the other, while other threads run other tasks.
struct PlanTask {
  uint32_t begin = 0, end = 0;     // of Plan::steps
  int32_t waits_for = 0;           // tasks that have this one among their followers
  std::vector<int32_t> followers;  // of Plan::tasks: they wait for this task
  float cost_us = 0, path_us = 0;  // estimated: of the task, and of the longest path from it on
};

class SlowStep;

// Owns the objects that steps point to. Nothing is removed or moved in memory while the plan lives.
struct StepResources {
  std::vector<std::unique_ptr<SlowStep>> slow_steps;
  std::vector<std::shared_ptr<const void>> states;  // of kernels
  std::vector<Tensor> constants;                    // aligned: the data of Where::kConst
  // Of this plan alone, under another shape or type, or in a device's memory.
  std::vector<std::unique_ptr<Tensor>> own_constants;
  std::vector<std::unique_ptr<std::vector<Tensor>>> folded;  // outputs of nodes computed ahead
};

// Everything that a run reads. `graph`, `calls` and the devices are not owned and must outlive the
// plan; PlanInput names the other objects that a plan uses.
struct Plan {
  const Graph* graph = nullptr;
  const CallSites* calls = nullptr;  // of the graph's inlined nodes
  std::vector<Step> steps;           // first of the graph, then of branches and loops
  uint32_t main_steps = 0;           // the number of the graph's steps
  // The graph's steps in parts that may run at the same time, the most urgent first, or as
  // NodeOrder::kFile and kSeed say: a task stands before its followers, and its steps behind
  // those of the task before it. Empty: the steps run one after the other.
  std::vector<PlanTask> tasks;
  // By step of the graph, if there are tasks: its place in the order of the file, in which errors
  // are reported. Where `places` has the nodes' places: the place of the step's node, and 0 for a
  // step without a node and for copies, waits and the like.
  std::vector<uint32_t> step_places;
  // By step: the microseconds that it is expected to take, once, on one thread or on its stream.
  // Empty unless PlanInput::keep_costs.
  std::vector<float> step_costs_us;
  std::vector<uint32_t> args_end;  // by step: the end of its outputs in `args`
  std::vector<int32_t> args;       // the storage of each entry of the pointer table; -1: none
  std::vector<Storage> storages;
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound = 0;  // ArenaLayout::lower_bound
  NodeId arena_largest = kNoNode;  // Layout::arena_largest
  std::vector<FeedSpec> feeds;
  std::vector<FetchSpec> fetches;          // in the order of the request
  std::vector<std::string> fetch_names;    // by fetch, for errors
  std::vector<FetchBuffer> fetch_buffers;  // by index of Where::kFetch
  PatchList feed_uses, fetch_uses, slot_uses;
  int32_t num_slots = 0;
  int32_t num_alive = 1;             // liveness flags, flag 0 included
  int32_t num_events = 0;            // of copies
  int32_t num_calls = 0;             // of asynchronous kernels
  int32_t num_late = 0;              // of kernels that runs prepare
  LatePreparations* late = nullptr;  // counts what runs prepare; not owned
  // By node id: the node's position in the order of the graph, if asynchronous kernels, devices
  // or NodeOrder let steps run in another order. Then the plan has no branches and no loops. Empty
  // in all other plans, whose steps run in the order of the graph.
  std::vector<uint32_t> places;
  std::vector<Device*> devices;  // those that steps use, without the host
  // By device: whether a run that succeeds, and in which no copy is empty, has waited for all that
  // it queued there (SettledDevices).
  std::vector<bool> settled;
  bool is_watched = false;       // the memory guards of plug-ins are checked when a run ends
  std::vector<PlanCopy> copies;  // for reports

  // The end of step i's arguments, which are inputs, then outputs, and begin at its first_arg.
  size_t ArgsEnd(size_t i) const { return args_end[i]; }

  StepResources resources;
};

}  // namespace tenon
