// A graph for one input signature, compiled: a flat list of steps over a table of pointers.
// Immutable and shared by all runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "executor/call_sites.h"
#include "executor/frame.h"
#include "graph/graph.h"
#include "plugin/device.h"
#include "plugin/kernel.h"

namespace tenon {

// What the dispatch loop reads: 32 bytes, in order of execution.
struct Step {
  RunFn fn;
  const void* state;
  uint32_t first_arg;  // of the frame's pointer table: inputs, then outputs
  uint32_t num_inputs;
  uint32_t scratch;  // offset in the arena, in lines of 64 bytes
  NodeId node;
};
static_assert(sizeof(Step) == 32);

enum class Where : uint8_t {
  kNone,   // nobody reads it
  kArena,  // at `offset`
  kConst,  // at `address`
  kFeed,   // the tensor of feed `index`
  kFetch,  // a buffer made for each run, handed to the caller: `index`
  kSlot,   // a tensor made by a step (unknown shape, strings, device memory): `index`
};
struct Storage {
  Where where = Where::kNone;
  int32_t index = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
  void* address = nullptr;
};

// Entries of the pointer table that hold the pointer of feed, fetch buffer or slot i; compressed
// rows.
struct PatchList {
  std::vector<uint32_t> begin;  // one more than there are items
  std::vector<uint32_t> args;
};

struct FeedSpec {
  DataType dtype;
  Shape shape;
};

struct FetchBuffer {
  FeedSpec spec;
  NodeId node;  // that fills it
};

// Where the value of a fetch is when the run is over.
struct FetchSpec {
  Where where = Where::kNone;  // kNone: the fetch is a node to run, it has no value
  int32_t index = 0;
  DataType dtype = DataType::kInvalid;
  std::optional<Shape> shape;  // not known for some slots
  Tensor constant;             // kConst
  int32_t alive = 0;           // liveness flag; 0: always alive
};

// One copy between devices, for reports.
struct PlanCopy {
  Output value;
  const Device* from;
  const Device* to;
  int64_t bytes;  // -1: unknown
};

class SlowStep;

struct Plan {
  const Graph* graph = nullptr;
  const CallSites* calls = nullptr;  // of the graph's inlined nodes
  std::vector<Step> steps;           // first those of the graph, then those of branches and loops
  uint32_t main_steps = 0;           // how many are of the graph
  std::vector<uint32_t> args_end;    // by step: where its outputs end
  std::vector<int32_t> args;         // storage of each entry of the pointer table; -1: none
  std::vector<Storage> storages;
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound = 0;
  NodeId arena_largest = kNoNode;  // whose value or scratch is the largest in it
  std::vector<FeedSpec> feeds;
  std::vector<FetchSpec> fetches;
  std::vector<std::string> fetch_names;
  std::vector<FetchBuffer> fetch_buffers;
  PatchList feed_uses, fetch_uses, slot_uses;
  int32_t num_slots = 0;
  int32_t num_alive = 1;
  int32_t num_events = 0;
  std::vector<Device*> devices;  // those that are synchronized at the end of a run
  std::vector<PlanCopy> copies;

  // Where the arguments of step i end, which begin at its first_arg: inputs, then outputs.
  size_t ArgsEnd(size_t i) const { return args_end[i]; }

  // What steps point to.
  std::vector<std::unique_ptr<SlowStep>> slow_steps;
  std::vector<std::shared_ptr<const void>> states;
  std::vector<Tensor> constants;
  std::vector<std::unique_ptr<Tensor>>
      alias_constants;  // constants of this plan, or under another shape
  std::vector<std::unique_ptr<std::vector<Tensor>>> folded;

  // Frames that wait for the next run.
  mutable absl::Mutex mutex;
  mutable std::vector<std::unique_ptr<Frame>> idle ABSL_GUARDED_BY(mutex);
};

// Frames are made when all others are busy, and reused.
absl::StatusOr<std::unique_ptr<Frame>> TakeFrame(const Plan& plan);
void ReturnFrame(const Plan& plan, std::unique_ptr<Frame> frame);

// Runs steps [begin, end) of the frame's plan. An error is that of frame.node().
absl::Status RunSteps(Frame& frame, uint32_t begin, uint32_t end);

// One run: the fetches in order. `feeds` fit plan.feeds. Errors name the node.
absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, absl::Span<const Tensor> feeds,
                                            const RunContext& context);

// One line per step.
std::string PlanToText(const Plan& plan);

}  // namespace tenon
