// Compiles a placed graph into a Plan for given feed shapes. Private to the executor.
//
// Nodes are walked in topological order. A CPU kernel whose input shapes (and values that it needs)
// are known is prepared and becomes a planned step; nodes that only rename a value, or whose value
// is known, become none; the rest become slow steps. Then lifetimes are known and the layout gives
// every value its place.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "executor/const_store.h"
#include "executor/device_steps.h"
#include "executor/kernel_store.h"
#include "executor/memory_planner.h"
#include "executor/placer.h"
#include "executor/plan.h"
#include "executor/slow_steps.h"
#include "graph/shape_inference.h"
#include "plugin/kernel_registry.h"
#include "plugin/plugin_kernel.h"

namespace tenon {

// Everything that outlives the plan.
struct PlanInput {
  const Graph& graph;
  absl::Span<const NodeId> order;     // what the fetches need, producers first; fed nodes too
  const std::vector<bool>& fed_only;  // by node id: its outputs are fed, it is not computed
  absl::Span<Device* const> devices;  // by node id
  absl::Span<const Output> feeds;
  absl::Span<const FeedSpec> feed_specs;  // of this signature
  absl::Span<const Output> fetches;       // control port: run the node, no value
  absl::Span<const std::string> fetch_names;
  Device* host;
  ConstStore& constants;
  KernelStore& kernels;
  SessionState& session;
  LatePreparations& late;
  Workers& workers;
  double device_timeout_s;
};

// One value on one device.
struct PlanValue {
  DataType dtype = DataType::kInvalid;
  std::optional<Shape> shape;
  int32_t storage = -1;
  int32_t alive = 0;
  Device* device = nullptr;  // null: host memory
  bool reference = false;    // a variable, dtype is resource: read when somebody wants its value
  const Tensor* constant = nullptr;  // known at plan time
  bool graph_constant = false;       // the same in all plans
  int32_t stream = -1;               // device values: the stream that writes it
  int64_t ticket = 0;                // and the position in that stream
  Output output;
};

class PlanBuilder {
 public:
  explicit PlanBuilder(const PlanInput& input);
  absl::StatusOr<std::unique_ptr<Plan>> Build();

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
  };
  struct InPlace {
    int32_t step;
    int16_t out, in;
  };

  // plan_builder.cc: nodes
  absl::Status AddFeeds();
  absl::Status AddNode(NodeId n);
  absl::Status AddConst(NodeId n);
  absl::Status AddFetch(size_t i);
  int32_t NodeAlive(NodeId n);
  int32_t ValueOf(Output o) const { return first_value_[o.node] + o.port; }
  PlanValue& value(int32_t id) { return values_[id]; }
  void SetAlias(int32_t to, int32_t from, Shape shape);
  void SetConstant(int32_t id, const Tensor* tensor, bool graph_constant);
  int32_t NewStorage(Where where, uint64_t bytes, int32_t index = 0);
  int32_t NewSlot();
  absl::StatusOr<int32_t> ReadStorage(
      int32_t id);  // of a host value that a step reads: constants are made readable
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
  absl::Status AddPrepared(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                           absl::Span<const int32_t> inputs);
  absl::Status AddDynamic(NodeId n, const CpuKernelSpec& spec, absl::Span<const int32_t> inputs);
  absl::Status AddTensorStep(NodeId n, const CpuKernelSpec& spec, absl::Span<const int32_t> inputs,
                             const Prepare* prepared);
  absl::StatusOr<bool> Fold(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                            absl::Span<const int32_t> inputs);
  absl::Status FailLater(NodeId n, const absl::Status& status);

  // plan_control.cc: v1 conditionals
  int32_t BothAlive(NodeId n, int32_t a, int32_t b);
  absl::Status AddSwitch(NodeId n);
  absl::Status AddMerge(NodeId n);

  // plan_devices.cc: devices with their own memory
  absl::Status AddPluginKernel(NodeId n, Device* device);
  absl::StatusOr<int32_t> OnDevice(NodeId reader, int32_t id, Device* device);
  absl::StatusOr<int32_t> OnHost(NodeId reader, int32_t id) {
    return OnDevice(reader, id, nullptr);
  }
  absl::StatusOr<int32_t> CopyToDevice(NodeId reader, int32_t id, Device* device);
  absl::StatusOr<int32_t> CopyToHost(NodeId reader, int32_t id);
  absl::StatusOr<int32_t> CopyBetween(NodeId reader, int32_t id, Device* to);
  void InferShapes(NodeId n);
  void UseDevice(Device* device);
  int Stream(Device* device, int kind);
  int64_t Enqueue(int stream);
  bool NeedsWait(int stream, int other, int64_t ticket, int32_t alive);

  // plan_layout.cc: places
  absl::Status Layout();
  void FindLifetimes();
  void ShareInPlace();
  int32_t Place(int32_t storage);
  bool MayWriteInto(const BuildStep& step, int32_t index, size_t first, size_t last, int16_t out,
                    int32_t place) const;
  void PlaceFetches();
  absl::Status PlaceArena();
  void EmitSteps();
  void EmitPatches();
  void EmitReleases(int32_t step);

  const PlanInput& in_;
  std::unique_ptr<Plan> plan_;
  std::vector<int32_t> first_value_;  // by node id
  std::vector<PlanValue> values_;     // of every output, then copies on other devices
  std::vector<int32_t> node_alive_;   // by node id
  std::vector<uint8_t> fed_;          // by value id
  std::vector<Storage> storages_;
  std::vector<DataType> storage_type_;
  std::vector<BuildStep> steps_;
  std::vector<int32_t> args_;
  std::vector<InPlace> in_place_;      // in step order
  std::vector<int32_t> fetch_values_;  // value by fetch; -1: none
  std::vector<int32_t> held_;          // storages that live to the end of the run
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> both_alive_;
  absl::flat_hash_map<std::pair<int32_t, Device*>, int32_t> copies_;
  std::vector<Device*> used_devices_;
  std::vector<int64_t> tickets_;            // by stream
  std::vector<std::vector<int64_t>> seen_;  // by stream: how far it has waited for each other one
  // layout
  std::vector<int32_t> shared_with_;            // by storage: the place that it was merged into
  std::vector<int32_t> first_, last_;           // by storage
  std::vector<std::vector<int32_t>> releases_;  // slots, by step after which they go
};

}  // namespace tenon
