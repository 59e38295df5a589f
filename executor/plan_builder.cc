#include "executor/plan_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/plan_builder_inl.h"
#include "graph/c_api/callback_scope.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "graph/within_memory.h"

namespace tenon {
namespace {

// Ops whose outputs are their inputs: they rename a value wherever it is.
bool IsRenaming(std::string_view op) {
  return (op != "Const" && op != "NoOp" && IsMoverOp(op)) || IsEnterOp(op) ||
         IsNextIterationOp(op) || op == "LoopCond";
}

}  // namespace

PlanBuilder::PlanBuilder(const PlanInput& input, const LooseVariables& loose)
    : in_(input),
      plan_(std::make_unique<Plan>()),
      only_host_(std::all_of(input.devices.begin(), input.devices.end(),
                             [](const Device* d) { return d == nullptr || d->is_host(); })),
      flags_(1),
      loose_(loose) {
  plan_->graph = &input.graph;
  plan_->calls = &input.calls;
  first_value_.resize(input.graph.num_node_ids(), -1);
  node_alive_.resize(input.graph.num_node_ids(), 0);
  int32_t count = 0;
  for (NodeId n : input.schedule.order) {
    first_value_[n] = count;
    count += input.graph.num_outputs(n);
  }
  values_.resize(count);
  fed_.resize(count, 0);
  steps_.reserve(input.schedule.order.size());  // of which only what is used takes memory
  storages_.reserve(count);
  args_.reserve(3 * static_cast<size_t>(count));
  for (NodeId n : input.schedule.order) {
    for (int port = 0; port < input.graph.num_outputs(n); ++port) {
      PlanValue& v = values_[first_value_[n] + port];
      v.output = {n, port};
      v.dtype = input.graph.output_type(v.output);
      if (!IsRef(v.dtype)) continue;
      v.reference = true;
      v.dtype = DataType::kResource;
    }
  }
}

absl::StatusOr<std::unique_ptr<Plan>> PlanBuilder::Build() {
  TENON_RETURN_IF_ERROR(AddFeeds());
  TENON_RETURN_IF_ERROR(FindLoops());
  const std::vector<NodeId>& order = in_.schedule.order;
  for (size_t i = 0; i < order.size(); ++i) {
    TENON_RETURN_IF_ERROR(OpenLoops(i));
    const NodeId n = order[i];
    if (!in_.fed_only[n]) {
      const std::string_view name = in_.graph.name(n);
      const WorkScope work(
          [](const void* node) { return *static_cast<const std::string_view*>(node); }, &name);
      // Of a node that is fed in part, the fed outputs stay as they are.
      std::vector<std::pair<int32_t, PlanValue>> fed;
      for (int32_t id = first_value_[n]; id < first_value_[n] + in_.graph.num_outputs(n); ++id) {
        if (fed_[id]) fed.emplace_back(id, values_[id]);
      }
      const absl::Status status = WithinMemory([&] { return AddNode(n); });
      if (!status.ok()) return NodeError(in_.graph, in_.calls, n, status);
      for (auto& [id, before] : fed) values_[id] = std::move(before);
    }
    TENON_RETURN_IF_ERROR(CloseLoops(i + 1));
  }
  for (size_t i = 0; i < in_.fetches.size(); ++i) TENON_RETURN_IF_ERROR(AddFetch(i));
  if (newly_loose_.empty()) TENON_RETURN_IF_ERROR(Layout());
  return std::move(plan_);
}

absl::StatusOr<std::unique_ptr<Plan>> BuildPlan(const PlanInput& input) {
  // Variables that change may be the first values of others: those show in the next attempt. After
  // a few, no variable is taken to keep its shape.
  constexpr int kMaxAttempts = 6;
  LooseVariables loose;
  for (int attempt = 1;; ++attempt) {
    if (attempt == kMaxAttempts) {
      for (NodeId n : input.schedule.order) {
        if (IsMergeOp(input.graph.op_name(n))) loose.insert(n);
      }
    }
    PlanBuilder builder(input, loose);
    absl::StatusOr<std::unique_ptr<Plan>> plan = builder.Build();
    if (builder.newly_loose().empty()) return plan;
    loose.insert(builder.newly_loose().begin(), builder.newly_loose().end());
  }
}

int32_t PlanBuilder::NewStorage(Where where, uint64_t bytes, int32_t index) {
  storages_.push_back({where, index, bytes, 0, nullptr});
  return static_cast<int32_t>(storages_.size()) - 1;
}

int32_t PlanBuilder::NewSlot() { return NewStorage(Where::kSlot, 0, plan_->num_slots++); }

absl::Status PlanBuilder::AddFeeds() {
  plan_->feeds.assign(in_.feed_specs.begin(), in_.feed_specs.end());
  for (size_t i = 0; i < in_.feeds.size(); ++i) {
    if (first_value_[in_.feeds[i].node] < 0) continue;  // no fetch needs it
    PlanValue& v = value(ValueOf(in_.feeds[i]));
    v.shape = Known(in_.feed_specs[i].shape);
    v.reference = false;
    v.dtype = in_.feed_specs[i].dtype;
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(v.dtype, *v.shape));
    v.storage = NewStorage(Where::kFeed, bytes, static_cast<int32_t>(i));
    fed_[ValueOf(in_.feeds[i])] = 1;
  }
  return absl::OkStatus();
}

// A node is alive if all its inputs, data and control, are.
int32_t PlanBuilder::NodeAlive(NodeId n) {
  int32_t alive = 0;
  for (const Output& from : in_.graph.data_inputs(n))
    alive = BothAlive(n, alive, value(ValueOf(from)).alive);
  for (const Output& from : in_.graph.control_inputs(n)) {
    if (first_value_[from.node] >= 0) alive = BothAlive(n, alive, node_alive_[from.node]);
  }
  return alive;
}

// The same value, whatever is known of it.
void PlanBuilder::ShareValue(int32_t to, int32_t from) {
  const PlanValue& source = value(from);
  PlanValue& v = value(to);
  if (source.shape != nullptr) return SetAlias(to, from, *source.shape);
  v.storage = source.storage;
  v.device = source.device;
  v.ticket = source.ticket;
  v.event = source.event;
}

void PlanBuilder::SetAlias(int32_t to, int32_t from, Shape shape) {
  const PlanValue& source = value(from);
  PlanValue& v = value(to);
  v.storage = source.storage;
  v.shape = Known(std::move(shape));
  v.device = source.device;
  v.ticket = source.ticket;
  v.event = source.event;
  if (source.constant == nullptr) return;
  if (source.constant->dtype() == v.dtype && source.constant->shape() == *v.shape) {
    SetConstant(to, source.constant, source.graph_constant);
    return;
  }
  plan_->alias_constants.push_back(
      std::make_unique<Tensor>(v.dtype, *v.shape, source.constant->buffer()));
  SetConstant(to, plan_->alias_constants.back().get(), source.graph_constant);
}

void PlanBuilder::SetConstant(int32_t id, const Tensor* tensor, bool graph_constant) {
  PlanValue& v = value(id);
  v.constant = tensor;
  v.graph_constant = graph_constant;
  v.shape = Known(tensor->shape());
}

absl::StatusOr<int32_t> PlanBuilder::ReadStorage(int32_t id) {
  PlanValue& v = value(id);
  if (v.storage >= 0 || v.constant == nullptr) return v.storage;
  TENON_ASSIGN_OR_RETURN(Tensor readable, in_.constants.Aligned(*v.constant));
  v.storage = NewStorage(Where::kConst, readable.bytes());
  storages_[v.storage].address = readable.data();
  plan_->constants.push_back(std::move(readable));
  return v.storage;
}

StepInput PlanBuilder::InputOf(int32_t id) const {
  const PlanValue& v = values_[id];
  return {v.storage, v.dtype, ShapeOf(v)};
}

absl::StatusOr<int32_t> PlanBuilder::InputValue(NodeId n, int i, Device* device) {
  int32_t id = ValueOf(in_.graph.data_inputs(n)[i]);
  const bool wants_variable = IsRef(in_.graph.kind(n).types.inputs[i]);
  if (value(id).reference && !wants_variable) {
    TENON_ASSIGN_OR_RETURN(id, ReadVariable(n, id));
  } else if (wants_variable && !value(id).reference) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " must be a variable, but its value is fed"));
  }
  return OnDevice(n, id, device);
}

// Each reader gets the variable's value of its own time.
absl::StatusOr<int32_t> PlanBuilder::ReadVariable(NodeId reader, int32_t id) {
  PlanValue read;
  read.output = value(id).output;
  read.alive = BothAlive(reader, value(id).alive, node_alive_[reader]);
  read.dtype = BaseType(in_.graph.output_type(read.output));
  read.storage = NewSlot();
  Device* const device = in_.devices[read.output.node];
  if (!device->is_host() && IsMemcpyable(read.dtype)) ComputedOn(device, read);
  TENON_ASSIGN_OR_RETURN(const int32_t handle, ReadStorage(id));
  AddSlowStep(
      reader,
      std::make_unique<ReadVariableStep>(InputOf(id), storages_[read.storage].index, read.device),
      read.alive, {handle}, {read.storage});
  values_.push_back(std::move(read));
  return static_cast<int32_t>(values_.size()) - 1;
}

PlanBuilder::BuildStep& PlanBuilder::AddStep(NodeId n, absl::Span<const int32_t> inputs,
                                             absl::Span<const int32_t> outputs) {
  BuildStep& step = steps_.emplace_back();
  step.node = n;
  step.scope = scope_;
  step.first_arg = static_cast<uint32_t>(args_.size());
  step.num_inputs = static_cast<uint32_t>(inputs.size());
  step.num_outputs = static_cast<uint32_t>(outputs.size());
  args_.insert(args_.end(), inputs.begin(), inputs.end());
  args_.insert(args_.end(), outputs.begin(), outputs.end());
  return step;
}

absl::Status PlanBuilder::AddConst(NodeId n) {
  TENON_ASSIGN_OR_RETURN(const Tensor* tensor, in_.constants.ValueOf(n));
  if (tensor->dtype() != value(first_value_[n]).dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'value' is ", DataTypeName(tensor->dtype()), " where 'dtype' says ",
                     DataTypeName(value(first_value_[n]).dtype)));
  }
  SetConstant(first_value_[n], tensor, true);
  return absl::OkStatus();
}

absl::Status PlanBuilder::AddNode(NodeId n) {
  const std::string_view op = in_.graph.op_name(n);
  const int outputs = in_.graph.num_outputs(n);
  if (IsMergeOp(op)) return IsLoopVariable(n) ? absl::OkStatus() : AddMerge(n);
  if (IsExitOp(op)) return AddExit(n);
  // Within its loop, what is entered is there; a ControlTrigger lives whatever it waits for.
  const bool lives = IsEnterOp(op) || op == "ControlTrigger";
  const int32_t alive = node_alive_[n] = lives ? 0 : NodeAlive(n);
  for (int port = 0; port < outputs; ++port) value(first_value_[n] + port).alive = alive;
  if (IsSwitchOp(op)) return AddSwitch(n);
  if (op == "Const") return AddConst(n);
  if (op == "NoOp" || op == "ControlTrigger") return absl::OkStatus();
  if (IsRenaming(op)) {
    if (in_.graph.num_inputs(n) == 0)
      return absl::FailedPreconditionError("the placeholder is needed and nothing is fed to it");
    const int32_t from = ValueOf(in_.graph.data_inputs(n)[0]);
    if (value(from).reference) {
      // As in TensorFlow, who reads an identity of a variable reads the variable, at its own time.
      // It must have a value now, unless the variable itself is wanted.
      if (!IsRef(in_.graph.kind(n).types.inputs[0]))
        TENON_RETURN_IF_ERROR(ReadVariable(n, from).status());
      value(first_value_[n]).dtype = value(from).dtype;
      value(first_value_[n]).reference = true;
    }
    ShareValue(first_value_[n], from);
    return absl::OkStatus();
  }
  Device* device = in_.devices[n];
  TENON_ASSIGN_OR_RETURN(const KernelDef* kernel, in_.kernels.Find(in_.graph, n, *device));
  if (kernel->cpu != nullptr) return AddCpuKernel(n, *kernel);
  return AddPluginKernel(n, device);
}

absl::Status PlanBuilder::AddFetch(size_t i) {
  const Output fetch = in_.fetches[i];
  plan_->fetch_names.push_back(in_.fetch_names[i]);
  FetchSpec& spec = plan_->fetches.emplace_back();
  fetch_values_.push_back(-1);
  if (fetch.is_control()) {
    spec.alive = node_alive_[fetch.node];
    return absl::OkStatus();
  }
  int32_t id = ValueOf(fetch);
  if (value(id).reference) {
    TENON_ASSIGN_OR_RETURN(id, ReadVariable(fetch.node, id));
  }
  TENON_ASSIGN_OR_RETURN(id, OnHost(fetch.node, id));
  const PlanValue& v = value(id);
  spec.dtype = v.dtype;
  spec.shape = ShapeOf(v);
  spec.alive = v.alive;
  if (v.constant != nullptr) {
    spec.where = Where::kConst;
    TENON_ASSIGN_OR_RETURN(spec.constant, in_.constants.Aligned(*v.constant));
    return absl::OkStatus();
  }
  fetch_values_.back() = id;
  return absl::OkStatus();
}

}  // namespace tenon
