// Compiles a placed graph into a Plan for given feed shapes. Private to the executor.
//
// Nodes are walked in topological order. A CPU kernel whose input shapes (and values that it needs)
// are known is prepared and becomes a planned step; nodes that only rename a value, or whose value
// is known, become none; the rest become slow steps. Then lifetimes are known and the layout gives
// every value its place.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_set.h"
#include "absl/status/statusor.h"
#include "executor/const_store.h"
#include "executor/control_steps.h"
#include "executor/device_steps.h"
#include "executor/kernel_store.h"
#include "executor/memory_planner.h"
#include "executor/placer.h"
#include "executor/plan.h"
#include "executor/schedule.h"
#include "executor/shape_promises.h"
#include "executor/slow_steps.h"
#include "graph/shape_inference.h"
#include "plugin/kernel_registry.h"
#include "plugin/plugin_kernel.h"

namespace tenon {

// Everything that outlives the plan.
struct PlanInput {
  const Graph& graph;
  const CallSites& calls;
  const Schedule& schedule;           // what the fetches need; fed nodes too
  const std::vector<bool>& fed_only;  // by node id: its outputs are fed, it is not computed
  absl::Span<Device* const> devices;  // by node id
  absl::Span<const Output> feeds;
  absl::Span<const FeedSpec> feed_specs;  // of this signature
  absl::Span<const Output> fetches;       // control port: run the node, no value
  absl::Span<const std::string> fetch_names;
  Device* host;
  ConstStore& constants;
  KernelStore& kernels;
  const ShapePromises& promises;
  SessionState& session;
  LatePreparations& late;
  Workers& workers;
  double device_timeout_s;
};

// Loop variables (by Merge) whose shape is not that of their first value in every pass.
using LooseVariables = absl::flat_hash_set<NodeId>;

// The plan; built again while loop variables turn out to change their shapes.
absl::StatusOr<std::unique_ptr<Plan>> BuildPlan(const PlanInput& input);

// One value on one device.
struct PlanValue {
  DataType dtype = DataType::kInvalid;
  int32_t storage = -1;
  int32_t alive = 0;
  int32_t event = -1;                // of a copy to a device: recorded behind it
  int64_t ticket = 0;                // of a kernel on a device: its place in the compute stream
  const Shape* shape = nullptr;      // null: unknown; else one of the builder's, one for equal ones
  Device* device = nullptr;          // null: host memory
  const Tensor* constant = nullptr;  // known at plan time
  Output output;
  bool reference = false;       // a variable, dtype is resource: read when somebody wants its value
  bool graph_constant = false;  // the same in all plans
};
static_assert(sizeof(PlanValue) <= 64);  // large graphs are bound by memory

class PlanBuilder {
 public:
  PlanBuilder(const PlanInput& input, const LooseVariables& loose);
  absl::StatusOr<std::unique_ptr<Plan>> Build();
  // Loop variables that were planned with a shape that they do not keep: the plan is void.
  const LooseVariables& newly_loose() const { return newly_loose_; }

 private:
  struct BuildStep {
    NodeId node = kNoNode;
    RunFn fn = nullptr;
    const void* state = nullptr;
    uint32_t first_arg = 0;
    uint32_t num_inputs = 0;
    uint32_t num_outputs = 0;
    uint64_t scratch_bytes = 0;
    uint32_t scratch_line = 0;
    PluginStep* plugin = nullptr;
    KernelStep* kernel = nullptr;
    int32_t guard = 0;  // a flag: while it is dead, all that the step does is to let its own die
    int32_t first_flag = 0, num_flags = 0;  // that it sets
    int32_t scope = -1;                     // of loop_scopes_
  };
  // Who lives when: parents live whenever a flag does. The outputs of one Switch are a family, of
  // which exactly one lives if the parent does.
  struct Flag {
    int32_t parent = 0;
    int32_t depth = 0;
    int32_t family = 0;  // its first flag; 0: none
    int32_t family_size = 0;
    std::pair<const void*, int32_t> chosen_by = {nullptr, -1};  // as in Choice
  };
  struct LoopVariable {
    NodeId merge, next;  // next kNoNode: counts the passes for output 1 of the Merge
    int32_t storage;
    StepInput first;
  };
  struct LoopScope {
    int32_t loop;         // of the schedule
    int32_t parent = -1;  // of loop_scopes_
    int32_t guard = 0;
    int32_t open_step = -1, close_step = -1;
    int32_t again = 0;
    bool uses_devices = false;
    LoopStep* step = nullptr;
    std::vector<LoopVariable> variables;
    std::vector<std::pair<NodeId, int32_t>> exits;  // and the flag of what they read
    // How much was in the caches when it began: what is made within is not there after it.
    size_t num_both_alive = 0, num_families = 0, num_copies = 0;
  };
  struct InPlace {
    int32_t step;
    int16_t out, in;
  };
  // All that a kernel was prepared from, where neither a value of an input nor state went into it.
  struct Signature {
    const NodeKind* kind;
    const CpuKernelSpec* spec;
    absl::InlinedVector<const Shape*, 3> inputs;
    friend bool operator==(const Signature&, const Signature&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Signature& s) {
      return H::combine(std::move(h), s.kind, s.spec, s.inputs);
    }
  };

  // plan_builder.cc: nodes
  absl::Status AddFeeds();
  absl::Status AddNode(NodeId n);
  absl::Status AddConst(NodeId n);
  absl::Status AddFetch(size_t i);
  int32_t NodeAlive(NodeId n);
  int32_t ValueOf(Output o) const { return first_value_[o.node] + o.port; }
  PlanValue& value(int32_t id) { return values_[id]; }
  const Shape* Known(Shape shape) { return &*shapes_.insert(std::move(shape)).first; }
  void ShareValue(int32_t to, int32_t from);
  void SetAlias(int32_t to, int32_t from, Shape shape);
  void SetConstant(int32_t id, const Tensor* tensor, bool graph_constant);
  int32_t NewStorage(Where where, uint64_t bytes, int32_t index = 0);
  int32_t NewSlot();
  absl::StatusOr<int32_t> ReadStorage(
      int32_t id);  // of a host value that a step reads: constants are made readable
  static std::optional<Shape> ShapeOf(const PlanValue& v) {
    return v.shape == nullptr ? std::nullopt : std::optional(*v.shape);
  }
  StepInput InputOf(int32_t id) const;
  // Input i of node n where the device can read it; the value of a variable, where the node does
  // not want the variable itself.
  absl::StatusOr<int32_t> InputValue(NodeId n, int i, Device* device);
  absl::StatusOr<int32_t> ReadVariable(NodeId reader, int32_t id);
  BuildStep& AddStep(NodeId n, absl::Span<const int32_t> inputs, absl::Span<const int32_t> outputs);
  template <typename T>
  T* AddSlowStep(NodeId n, std::unique_ptr<T> step, int32_t alive, absl::Span<const int32_t> inputs,
                 absl::Span<const int32_t> outputs);

  // plan_kernels.cc: CPU kernels
  absl::Status AddCpuKernel(NodeId n, const KernelDef& kernel);
  // Nodes of one Signature share what is prepared.
  absl::StatusOr<std::shared_ptr<const Prepare>> PrepareFor(NodeId n, const CpuKernelSpec& spec,
                                                            absl::Span<const int32_t> ids);
  absl::StatusOr<bool> AddInDeviceMemory(NodeId n, const CpuKernelSpec& spec);
  absl::Status AddPrepared(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                           absl::Span<const int32_t> inputs);
  absl::Status AddDynamic(NodeId n, const CpuKernelSpec& spec, absl::Span<const int32_t> inputs);
  absl::Status AddTensorStep(NodeId n, const CpuKernelSpec& spec, absl::Span<const int32_t> inputs,
                             const Prepare* prepared, Device* device = nullptr);
  absl::StatusOr<bool> Fold(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                            absl::Span<const int32_t> inputs);
  void DropFolded(NodeId n, absl::Span<const int32_t> inputs);
  absl::Status FailLater(NodeId n, const absl::Status& status);

  // plan_control.cc: conditionals
  int32_t NewFlags(int32_t count, int32_t parent);
  void SetsFlags(int32_t first, int32_t count, int32_t guard);
  bool Implies(int32_t flag, int32_t other) const;
  int32_t CommonFlag(int32_t a, int32_t b) const;
  int32_t BothAlive(NodeId n, int32_t a, int32_t b);
  absl::StatusOr<int32_t> Family(NodeId n, int32_t choice, int32_t count);
  std::pair<const void*, int32_t> ChosenBy(int32_t choice, int32_t storage) const;
  int32_t TakenOutput(std::pair<const void*, int32_t> chosen_by, int32_t count,
                      int32_t alive) const;
  absl::Status AddSwitch(NodeId n);
  absl::Status AddMerge(NodeId n);
  int32_t MergedAlive(absl::Span<const int32_t> alive) const;

  // plan_loops.cc: loops
  absl::Status FindLoops();
  absl::Status OpenLoops(size_t position);
  absl::Status CloseLoops(size_t position);
  absl::Status OpenLoop(int32_t loop);
  absl::Status AddVariable(NodeId merge, LoopScope& scope);
  absl::Status AddPassCounter(NodeId merge, LoopScope& scope);
  bool IsInvariant(NodeId merge, NodeId next) const;
  bool IsLoopVariable(NodeId merge) const { return loop_merges_.contains(merge); }
  absl::Status CloseLoop();
  absl::StatusOr<int32_t> NextValue(const LoopVariable& variable, int32_t again);
  absl::Status CheckEnd(const LoopScope& scope) const;
  void ForgetInner(const LoopScope& scope);
  absl::Status AddExit(NodeId n);
  bool InLoop() const { return scope_ >= 0; }
  void ShareLoopVariables();
  bool MayReplace(int32_t k, int32_t from, int32_t to) const;

  // plan_devices.cc: devices with their own memory
  absl::Status AddPluginKernel(NodeId n, Device* device);
  absl::StatusOr<int32_t> OnDevice(NodeId reader, int32_t id, Device* device);
  absl::StatusOr<int32_t> OnHost(NodeId reader, int32_t id) {
    return OnDevice(reader, id, nullptr);
  }
  void AwaitArrival(NodeId reader, int32_t id);
  absl::StatusOr<int32_t> CopyToDevice(NodeId reader, int32_t id, Device* device);
  absl::StatusOr<int32_t> CopyToHost(NodeId reader, int32_t id);
  absl::StatusOr<int32_t> CopyBetween(NodeId reader, int32_t id, Device* to);
  void InferShapes(NodeId n);
  void UseDevice(Device* device);
  int Stream(Device* device, int kind);
  bool NeedsWait(int stream, int compute, int64_t ticket, int32_t alive);
  int32_t AddArrival(int32_t id, Device* to, std::vector<StreamWait> waits);
  int32_t InSlot(NodeId reader, int32_t id);
  void ComputedOn(Device* device, PlanValue& v);

  // plan_layout.cc: places
  absl::Status Layout();
  void FindLifetimes();
  int32_t CommonScope(int32_t a, int32_t b) const;
  void ShareInPlace();
  int32_t Place(int32_t storage);
  bool MayWriteInto(const BuildStep& step, int32_t index, size_t first, size_t last, int16_t out,
                    int32_t place) const;
  void PlaceFetches();
  absl::Status PlaceArena();
  void EmitPatches();

  // plan_regions.cc: steps in the order of execution
  struct Region {
    int32_t parent = -1;
    int depth = 0;
    bool loop = false;
    int32_t guard = 0;   // of a branch
    int32_t scope = -1;  // of a loop
    int32_t first_flag = 0, end_flag = 0;
    BranchStep* branch = nullptr;
    std::vector<int32_t> entries;   // steps; -1 - r: region r
    std::vector<int32_t> releases;  // slots that go when it is over
  };
  void FindRegions();
  int32_t OpenRegion(int32_t parent, bool loop);
  int32_t CommonRegion(int32_t a, int32_t b) const;
  void FindReleases();
  bool IsLastReader(int32_t step, int32_t storage) const;
  bool IsLastUse(int32_t step, size_t i) const;
  void FindVariableReaders();
  void EmitSteps();
  void EmitStep(int32_t k);
  void EmitRelease(std::vector<int32_t> slots);
  void EmitPlain(std::unique_ptr<SlowStep> step);

  const PlanInput& in_;
  std::unique_ptr<Plan> plan_;
  bool only_host_;                     // no node is on a device with memory of its own
  std::vector<int32_t> first_value_;   // by node id
  std::vector<PlanValue> values_;      // of every output, then copies on other devices
  absl::node_hash_set<Shape> shapes_;  // those of values
  std::vector<int32_t> node_alive_;    // by node id
  std::vector<uint8_t> fed_;           // by value id
  std::vector<Storage> storages_;
  std::vector<DataType> storage_type_;
  std::vector<BuildStep> steps_;
  PluginStep* last_plugin_step_ = nullptr;  // of those emitted, if no other came after it
  std::vector<int32_t> args_;
  absl::flat_hash_map<Signature, std::shared_ptr<const Prepare>> prepared_;
  absl::flat_hash_set<const void*> kept_states_;              // those that plan_ has
  absl::flat_hash_map<NodeId, std::vector<Tensor>*> folded_;  // of constants of the graph; in plan_
  std::vector<int32_t> folded_readers_;  // by node id: uses left; empty: not counted yet
  std::vector<InPlace> in_place_;        // in step order
  std::vector<int32_t> fetch_values_;    // value by fetch; -1: none
  std::vector<int32_t> held_;            // storages that live to the end of the run
  // What was made once and serves again; and in which order, so that what was made within a loop is
  // forgotten behind it.
  using FlagPair = std::pair<int32_t, int32_t>;
  // What chooses (the data of a constant, or a storage), the flag of the node, how many outputs.
  using Choice = std::tuple<const void*, int32_t, int32_t, int32_t>;
  absl::flat_hash_map<FlagPair, int32_t> both_alive_;
  std::vector<FlagPair> both_alive_made_;
  absl::flat_hash_map<Choice, int32_t> families_;
  std::vector<Choice> families_made_;
  absl::flat_hash_map<std::pair<int32_t, Device*>, int32_t> copies_;
  std::vector<std::pair<int32_t, Device*>> copies_made_;
  std::vector<Flag> flags_;
  const LooseVariables& loose_;
  LooseVariables newly_loose_;
  absl::flat_hash_map<std::pair<size_t, int32_t>, int32_t> opening_;  // by position and outer loop
  std::vector<std::vector<NodeId>> loop_variables_;                   // Merges, by loop
  absl::flat_hash_map<NodeId, NodeId> loop_merges_;  // Merge of a loop variable: its NextIteration
  absl::flat_hash_set<NodeId> counted_merges_;       // whose output 1 somebody reads
  std::vector<LoopScope> loop_scopes_;               // in the order of opening
  int32_t scope_ = -1;                               // the innermost open one
  std::vector<Device*> used_devices_;
  std::vector<int64_t> tickets_;            // by stream
  std::vector<std::vector<int64_t>> seen_;  // by stream: how far it has waited for each other one
  // layout
  std::vector<int32_t> shared_with_;   // by storage: the place that it was merged into
  std::vector<int32_t> first_, last_;  // by storage
  std::vector<Region> regions_;
  struct VariableReader {
    int32_t scope, last;  // the step that reads it last in a pass
  };
  absl::flat_hash_map<int32_t, VariableReader> variable_readers_;  // by storage
  std::vector<int32_t> region_of_;                                 // by step
  std::vector<int32_t> storage_region_;         // by storage: where all that use it are
  std::vector<int32_t> last_use_;               // by storage: the last step, loops not counted
  std::vector<std::vector<int32_t>> releases_;  // slots, by step after which they go
};

}  // namespace tenon
