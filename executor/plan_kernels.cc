// CPU kernels in a plan: prepared now where everything is known, else when the run tells.
#include "absl/strings/str_cat.h"
#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"
#include "graph/status_macros.h"
#include "plugin/cpu/workers.h"
#include "plugin/elsewhere.h"

namespace tenon {
namespace {

// A constant sub-graph is computed once if its values are no larger than this, or than what they
// are made of.
constexpr size_t kMaxFoldedBytes = size_t{16} << 20;

bool NeedsValue(const CpuKernelSpec& spec, size_t input) {
  return (spec.value_inputs >> std::min<size_t>(input, 31) & 1) != 0;
}

// The value of input i as a kernel may see it: one that it needs, or a constant of the graph.
const Tensor* GivenValue(const PlanValue& v, const CpuKernelSpec& spec, size_t i) {
  return v.graph_constant || NeedsValue(spec, i) ? v.constant : nullptr;
}

KernelStep::Node StepNode(const Graph& graph, NodeId n, const CpuKernelSpec& spec) {
  const NodeKind& kind = graph.kind(n);
  return {graph.name(n), kind.op, &kind.attrs, &kind.types, &spec};
}

bool IsHandle(DataType t) { return IsRef(t) || t == DataType::kResource; }

// The device in whose memory a kernel of this spec has the node's tensors; null: the host.
Device* MemoryFor(const CpuKernelSpec& spec, const NodeTypes& types, Device* device) {
  if (device->is_host() || ServesElsewhere(spec.op) != Elsewhere::kInPlace) return nullptr;
  const auto only_on_host = [](DataType t) { return !IsHandle(t) && !IsMemcpyable(t); };
  const bool fits = std::none_of(types.inputs.begin(), types.inputs.end(), only_on_host) &&
                    std::none_of(types.outputs.begin(), types.outputs.end(), only_on_host);
  return fits ? device : nullptr;
}

}  // namespace

// What may not be run at all, in a branch or a loop, has an error only when it is.
absl::Status PlanBuilder::FailLater(NodeId n, const absl::Status& status) {
  if (node_alive_[n] == 0 && !InLoop()) return status;
  std::vector<int32_t> outputs;
  for (int port = 0; port < in_.graph.num_outputs(n); ++port) {
    PlanValue& v = value(first_value_[n] + port);
    v.storage = NewSlot();
    outputs.push_back(v.storage);
  }
  AddSlowStep(n, std::make_unique<ErrorStep>(status), node_alive_[n], {}, outputs);
  return absl::OkStatus();
}

// A node that only gives what is in a device's memory another shape, or tells its shape, leaves it
// there. False: it is a node of another kind.
absl::StatusOr<bool> PlanBuilder::AddInDeviceMemory(NodeId n, const CpuKernelSpec& spec) {
  if (only_host_ || spec.stateful || spec.whole_tensors) return false;
  const NodeKind& kind = in_.graph.kind(n);
  const std::span<const Output> sources = in_.graph.data_inputs(n);
  absl::InlinedVector<int32_t, 4> ids(sources.size());
  std::vector<Prepare::Input> inputs(sources.size());
  bool on_device = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    ids[i] = ValueOf(sources[i]);
    const PlanValue& v = value(ids[i]);
    if (v.reference || IsRef(kind.types.inputs[i]) || v.shape == nullptr) return false;
    if (NeedsValue(spec, i) && v.constant == nullptr) return false;
    inputs[i].shape = *v.shape;
    inputs[i].value = GivenValue(v, spec, i);
    on_device |= v.device != nullptr;
  }
  if (!on_device) return false;
  Prepare p(in_.graph.name(n), *kind.op, kind.attrs, kind.types, std::move(inputs), in_.session,
            in_.workers);
  if (!PrepareKernel(spec, p).ok() || p.run() != nullptr) return false;
  for (const Prepare::PreparedOutput& o : p.outputs()) {
    if (!o.value.has_value() && !o.alias.has_value()) return false;
  }
  TENON_RETURN_IF_ERROR(AddPrepared(n, spec, p, ids));
  return true;
}

absl::StatusOr<std::shared_ptr<const Prepare>> PlanBuilder::PrepareFor(
    NodeId n, const CpuKernelSpec& spec, absl::Span<const int32_t> ids) {
  const NodeKind& kind = in_.graph.kind(n);
  const bool stateless = !spec.stateful && !spec.whole_tensors && !kind.op->is_stateful;
  Signature signature = {&kind, &spec, {}};
  bool valued = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    signature.inputs.push_back(value(ids[i]).shape);
    valued |= GivenValue(value(ids[i]), spec, i) != nullptr;
  }
  if (stateless) {
    const auto known = prepared_.find(signature);
    if (known != prepared_.end() && !(valued && known->second->asked_for_values()))
      return known->second;
  }
  std::vector<Prepare::Input> inputs(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const PlanValue& v = value(ids[i]);
    if (v.shape != nullptr) inputs[i].shape = *v.shape;
    inputs[i].value = GivenValue(v, spec, i);
  }
  auto p = std::make_shared<Prepare>(in_.graph.name(n), *kind.op, kind.attrs, kind.types,
                                     std::move(inputs), in_.session, in_.workers);
  TENON_RETURN_IF_ERROR(PrepareKernel(spec, *p));
  if (stateless && !(valued && p->asked_for_values()))
    prepared_.insert_or_assign(std::move(signature), p);
  return p;
}

absl::Status PlanBuilder::AddCpuKernel(NodeId n, const KernelDef& kernel) {
  const CpuKernelSpec& spec = *kernel.cpu;
  TENON_ASSIGN_OR_RETURN(const bool there, AddInDeviceMemory(n, spec));
  if (there) return absl::OkStatus();
  const NodeTypes& types = in_.graph.kind(n).types;
  absl::InlinedVector<int32_t, 4> ids(in_.graph.num_inputs(n));
  Device* const device = MemoryFor(spec, types, in_.devices[n]);
  bool known = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    Device* const memory = IsHandle(types.inputs[i]) ? nullptr : device;
    TENON_ASSIGN_OR_RETURN(ids[i], InputValue(n, static_cast<int>(i), memory));
    if (memory != nullptr) {
      AwaitArrival(n, ids[i]);
      ids[i] = InSlot(n, ids[i]);
    }
    const PlanValue& v = value(ids[i]);
    known &= v.shape != nullptr && (!NeedsValue(spec, i) || v.constant != nullptr);
  }
  if (!known && !spec.whole_tensors) return AddDynamic(n, spec, ids);
  const absl::StatusOr<std::shared_ptr<const Prepare>> p = PrepareFor(n, spec, ids);
  if (!p.ok()) return FailLater(n, p.status());
  if (spec.whole_tensors) return AddTensorStep(n, spec, ids, p->get(), device);
  TENON_ASSIGN_OR_RETURN(const bool folded, Fold(n, spec, **p, ids));
  return folded ? absl::OkStatus() : AddPrepared(n, spec, **p, ids);
}

// Computes the node now if all its inputs are constants.
absl::StatusOr<bool> PlanBuilder::Fold(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                                       absl::Span<const int32_t> inputs) {
  if (spec.stateful || in_.graph.op(n)->is_stateful || p.run() == nullptr) return false;
  size_t in_bytes = 0, out_bytes = 0;
  bool of_graph = true;
  for (int32_t id : inputs) {
    const PlanValue& v = value(id);
    if (v.constant == nullptr) return false;
    in_bytes += v.constant->bytes();
    of_graph &= v.graph_constant;
  }
  for (int i = 0; i < p.num_outputs(); ++i) {
    absl::StatusOr<size_t> bytes = TensorBytes(BaseType(p.output_type(i)), p.outputs()[i].shape);
    if (!bytes.ok()) return false;
    out_bytes += *bytes;
  }
  if (out_bytes > std::max(kMaxFoldedBytes, in_bytes)) return false;
  std::optional<std::vector<Tensor>> outputs;
  if (of_graph) outputs = in_.constants.Folded(n);
  if (!outputs) {
    std::vector<Tensor> aligned;
    absl::InlinedVector<void*, 4> data;
    for (int32_t id : inputs) {
      TENON_ASSIGN_OR_RETURN(Tensor t, in_.constants.Aligned(*value(id).constant));
      data.push_back(t.data());
      aligned.push_back(std::move(t));
    }
    DenormalGuard denormals;
    auto input = [&](int i, InputUse) -> absl::StatusOr<Tensor> { return aligned[i]; };
    absl::StatusOr<std::vector<Tensor>> computed =
        ComputeOutputs(PreparedKernel::From(p), data.data(), input, in_.workers);
    if (!computed.ok()) {
      if (node_alive_[n] != 0 || InLoop()) return false;  // the step fails if it is reached
      return computed.status();
    }
    outputs = *std::move(computed);
    if (of_graph) in_.constants.SetFolded(n, *outputs);
  }
  plan_->folded.push_back(std::make_unique<std::vector<Tensor>>(*std::move(outputs)));
  std::vector<Tensor>& kept = *plan_->folded.back();
  for (int i = 0; i < p.num_outputs(); ++i) SetConstant(first_value_[n] + i, &kept[i], of_graph);
  if (of_graph) folded_.emplace(n, &kept);
  // It is folded in all plans. What a kernel has seen of a value when it was prepared may be known
  // by the value's address.
  if (of_graph && !p.asked_for_values()) DropFolded(n, inputs);
  return true;
}

// Lets go of what node n, which is folded, was made of and nobody else reads.
void PlanBuilder::DropFolded(NodeId n, absl::Span<const int32_t> inputs) {
  if (folded_readers_.empty()) {
    folded_readers_.resize(in_.graph.num_node_ids(), 0);
    for (NodeId reader : in_.schedule.order) {
      for (const Output& from : in_.graph.data_inputs(reader)) ++folded_readers_[from.node];
    }
    for (const Output& fetch : in_.fetches) ++folded_readers_[fetch.node];
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Output from = in_.graph.data_inputs(n)[i];
    const auto it = folded_.find(from.node);
    if (it == folded_.end() || inputs[i] != ValueOf(from)) continue;
    if (--folded_readers_[from.node] > 0 || !in_.constants.ForgetFolded(from.node)) continue;
    for (Tensor& t : *it->second) t.Clear();
  }
}

absl::Status PlanBuilder::AddPrepared(NodeId n, const CpuKernelSpec& spec, const Prepare& p,
                                      absl::Span<const int32_t> inputs) {
  bool tensors = false, steps = false;
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Prepare::PreparedOutput& o = p.outputs()[i];
    const int32_t id = first_value_[n] + i;
    if (o.value.has_value() && p.run() == nullptr) {
      plan_->alias_constants.push_back(std::make_unique<Tensor>(*o.value));
      SetConstant(id, plan_->alias_constants.back().get(), false);
    } else if (o.alias.has_value() && p.run() == nullptr) {
      SetAlias(id, inputs[*o.alias], o.shape);
    } else if (p.run() == nullptr && !o.dynamic && o.shape.num_elements() == 0) {
      // Nothing to compute: kernels need no run function for that.
      TENON_ASSIGN_OR_RETURN(Tensor empty, Tensor::Allocate(BaseType(p.output_type(i)), o.shape));
      plan_->alias_constants.push_back(std::make_unique<Tensor>(std::move(empty)));
      SetConstant(id, plan_->alias_constants.back().get(), false);
    } else {
      steps = true;
      tensors |= o.dynamic || o.value.has_value() || !IsMemcpyable(value(id).dtype);
    }
  }
  if (p.run() == nullptr && !steps) return absl::OkStatus();
  if (p.run() == nullptr)
    return absl::InternalError("its kernel prepared neither a run function nor all values");
  if (tensors) return AddTensorStep(n, spec, inputs, &p);

  absl::InlinedVector<int32_t, 4> reads, writes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (p.inputs()[i].dropped) {
      reads.push_back(-1);
      if (value(inputs[i]).constant != nullptr) {
        in_.constants.CountPacked(*value(inputs[i]).constant);
        in_.constants.DropPages(*value(inputs[i]).constant);
      }
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(inputs[i]));
    reads.push_back(storage);
  }
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Prepare::PreparedOutput& o = p.outputs()[i];
    PlanValue& v = value(first_value_[n] + i);
    v.shape = Known(o.shape);
    if (o.alias.has_value()) {
      SetAlias(first_value_[n] + i, inputs[*o.alias], o.shape);
      writes.push_back(-1);
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(v.dtype, o.shape));
    v.storage = NewStorage(Where::kArena, bytes);
    writes.push_back(v.storage);
    for (int in : o.in_place)
      in_place_.push_back(
          {static_cast<int32_t>(steps_.size()), static_cast<int16_t>(i), static_cast<int16_t>(in)});
  }
  if (p.state() != nullptr && kept_states_.insert(p.state().get()).second)
    plan_->states.push_back(p.state());
  BuildStep& step = AddStep(n, reads, writes);
  step.fn = p.run();
  step.guard = node_alive_[n];
  step.state = p.state().get();
  step.scratch_bytes = p.scratch_bytes();
  return absl::OkStatus();
}

absl::Status PlanBuilder::AddDynamic(NodeId n, const CpuKernelSpec& spec,
                                     absl::Span<const int32_t> inputs) {
  return AddTensorStep(n, spec, inputs, nullptr);
}

// Outputs become tensors of the run. Without `prepared` the step prepares itself when shapes and
// values are there. `device` is where MemoryFor says.
absl::Status PlanBuilder::AddTensorStep(NodeId n, const CpuKernelSpec& spec,
                                        absl::Span<const int32_t> inputs, const Prepare* prepared,
                                        Device* device) {
  std::vector<StepInput> step_inputs;
  std::vector<const Tensor*> constants;
  absl::InlinedVector<int32_t, 4> reads, writes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int32_t storage, ReadStorage(inputs[i]));
    reads.push_back(storage);
    step_inputs.push_back(InputOf(inputs[i]));
    constants.push_back(GivenValue(value(inputs[i]), spec, i));
  }
  std::vector<int32_t> slots;
  std::vector<std::optional<Shape>> promised;
  for (int i = 0; i < in_.graph.num_outputs(n); ++i) {
    PlanValue& v = value(first_value_[n] + i);
    if (prepared != nullptr &&
        (!prepared->outputs()[i].dynamic || prepared->outputs()[i].promised)) {
      v.shape = Known(prepared->outputs()[i].shape);
    }
    if (prepared != nullptr && prepared->outputs()[i].alias.has_value()) {
      SetAlias(first_value_[n] + i, inputs[*prepared->outputs()[i].alias], *v.shape);
      writes.push_back(-1);
      slots.push_back(-1);
      promised.push_back(std::nullopt);
      continue;
    }
    v.storage = NewSlot();
    if (device != nullptr && !IsHandle(v.dtype)) ComputedOn(device, v);
    writes.push_back(v.storage);
    slots.push_back(storages_[v.storage].index);
    promised.push_back(ShapeOf(v));
  }
  auto step = std::make_unique<KernelStep>(StepNode(in_.graph, n, spec), std::move(step_inputs),
                                           std::move(constants), std::move(slots),
                                           std::move(promised), in_.session, in_.late);
  if (prepared != nullptr) {
    PreparedKernel kernel = PreparedKernel::From(*prepared);
    kernel.aliases_planned = true;
    step->set_prepared(std::move(kernel));
  }
  step->set_device(device);
  KernelStep* raw = AddSlowStep(n, std::move(step), node_alive_[n], reads, writes);
  steps_.back().kernel = raw;
  return absl::OkStatus();
}

}  // namespace tenon
