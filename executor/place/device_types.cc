// Asks the registry once for each kind of node. The answer has a bit for each device type; types
// are numbered from the highest priority down.

#include "executor/place/device_types.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/place/kernel_store.h"
#include "executor/place/placer.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

constexpr size_t kMaxTypes = 64;  // bits of a KindSupport mask

// Values of these types always lie in host memory. Handles of resources do too, but nodes that pass
// them on belong to the resource's device.
bool IsHostOnly(DataType t) {
  return BaseType(t) == DataType::kString || BaseType(t) == DataType::kVariant;
}

// Whether all outputs are handles of resources. The node then has no values of its own to lie in
// host memory, and belongs to the device of the resource.
bool GivesHandlesOnly(const NodeKind& kind) {
  const TypeVector& outputs = kind.types.outputs;
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [](DataType t) {
    return t == DataType::kResource || IsRef(t);
  });
}

}  // namespace

DeviceTypes::DeviceTypes(absl::Span<Device* const> devices, const KernelRegistry& kernels)
    : kernels_(kernels), devices_(devices.begin(), devices.end()) {
  for (Device* device : devices_) {
    auto it = std::find_if(types_.begin(), types_.end(), [&](const Type& t) {
      return t.name == device->type() && t.plugin == device->plugin();
    });
    if (it == types_.end())
      it = types_.insert(types_.end(), Type{device->type(),
                                            device->plugin(),
                                            device->priority(),
                                            {},
                                            device->compiles(),
                                            device->compiles_ops()});
    it->devices.push_back(device);
    by_name_[device->full_name()] = device;
    if (host_ == nullptr && device->is_host()) host_ = device;
  }
  std::stable_sort(types_.begin(), types_.end(), [](const Type& a, const Type& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.name < b.name;
  });
  // Types behind the last bit get none: Check refuses such a list of devices.
  for (size_t i = 0; i < types_.size() && i < kMaxTypes; ++i) {
    for (Device* device : types_[i].devices) bits_[device] = uint64_t{1} << i;
  }
}

absl::Status DeviceTypes::Check() const {
  if (host_ == nullptr)
    return absl::FailedPreconditionError("the CPU is not among the devices to place on");
  if (types_.size() <= kMaxTypes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "there are ", types_.size(), " device types; at most ", kMaxTypes, " can be used"));
}

uint64_t DeviceTypes::Bit(const Device* device) const {
  auto it = bits_.find(device);
  return it == bits_.end() ? 0 : it->second;
}

Device* DeviceTypes::ByFullName(std::string_view name) const {
  if (name.empty()) return nullptr;
  // Neighbours in a graph mostly name the same device: the last answer spares the hash of the name.
  if (name != last_name_) {
    const auto it = by_name_.find(name);
    last_name_ = name;
    last_device_ = it == by_name_.end() ? nullptr : it->second;
  }
  return last_device_;
}

// What belongs to the host whatever the device is (placeholders, state, strings, results whose
// shape depends on values) is no reason to refuse a request for the device: the host does that
// part.
void DeviceTypes::AskCompiler(const Graph& graph, NodeId n, size_t i, KindSupport& support) const {
  const uint64_t bit = uint64_t{1} << i;
  if (lowerability_ == nullptr) lowerability_ = std::make_unique<stablehlo::Lowerability>(graph);
  const stablehlo::Verdict& verdict = lowerability_->Ask(n);
  if (verdict.ok()) {
    support.mask |= bit;
    if (support.mover) support.borrowed |= bit;
    return;
  }
  const NodeTypes& types = graph.kind(n).types;
  const auto stays = [](DataType t) { return !IsMemcpyable(BaseType(t)) || IsRef(t); };
  if (graph.facts(n).in_plan || verdict.refusal == stablehlo::Refusal::kState ||
      verdict.refusal == stablehlo::Refusal::kDynamic ||
      std::any_of(types.inputs.begin(), types.inputs.end(), stays) ||
      std::any_of(types.outputs.begin(), types.outputs.end(), stays)) {
    support.mask |= bit;
    support.borrowed |= bit;
    return;
  }
  if (verdict.refusal == stablehlo::Refusal::kType) support.mismatch |= bit;
  support.why[i] = absl::StrCat(stablehlo::RefusalCode(verdict.refusal), ": ", verdict.detail);
}

// What works on the host anyway is not compiled for a device that has kernels.
bool DeviceTypes::Compiles(const Graph& graph, NodeId n) const {
  if (lowerability_ == nullptr) lowerability_ = std::make_unique<stablehlo::Lowerability>(graph);
  return lowerability_->Ask(n).ok();
}

KindSupport DeviceTypes::Ask(const Graph& graph, NodeId n) const {
  const NodeKind& kind = graph.kind(n);
  KindSupport support;
  support.priority.resize(types_.size(), 0);
  support.why.resize(types_.size());
  const OpFacts& facts = graph.facts(n);
  support.mover = facts.mover || IsFunctional(graph, n);
  for (size_t i = 0; i < types_.size(); ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (types_[i].compiles) {
      AskCompiler(graph, n, i, support);
      continue;
    }
    if (support.mover || facts.in_plan) support.borrowed |= bit & ~host_bit();
    if (support.mover) {
      const bool host_only =
          std::any_of(kind.types.outputs.begin(), kind.types.outputs.end(), IsHostOnly);
      if (!host_only || bit == host_bit()) support.mask |= bit;
      continue;
    }
    if (facts.in_plan) {
      support.mask |= GivesHandlesOnly(kind) ? bit : host_bit();
      continue;
    }
    auto found = kernels_.Find(graph.name(n), kind.op_name, kind.attrs, kind.op, types_[i].name,
                               types_[i].plugin);
    if (found.ok()) {
      support.mask |= bit;
      if ((*found)->cpu != nullptr && bit != host_bit()) support.borrowed |= bit;
      support.priority[i] = (*found)->priority;
    } else if (!absl::IsNotFound(found.status())) {
      support.error.Update(found.status());
    } else if (types_[i].compiles_ops && Compiles(graph, n)) {
      support.mask |= bit;
    } else if (types_.size() > 1) {  // with the host alone there is no other device to explain
      auto misfit =
          kernels_.WhyNot(kind.op_name, kind.attrs, kind.op, types_[i].name, types_[i].plugin);
      if (misfit.types) support.mismatch |= bit;
      support.why[i] = std::move(misfit.why);
    }
  }
  return support;
}

const KindSupport& DeviceTypes::Support(const Graph& graph, NodeId n) const {
  const NodeKind& kind = graph.kind(n);
  if (kind.index >= by_kind_.size()) by_kind_.resize(std::max<size_t>(kind.index + 1, 64) * 2);
  const KindSupport*& support = by_kind_[kind.index];
  if (support == nullptr) support = &Add(graph, n);
  return *support;
}

// A constant's kind includes its value, so nearly every constant has a kind of its own. All
// constants of one dtype are served alike: they share one answer, which spares the registry large
// graphs' many questions.
const KindSupport& DeviceTypes::Add(const Graph& graph, NodeId n) const {
  const NodeKind& kind = graph.kind(n);
  if (kind.op_name != "Const" || kind.types.outputs.size() != 1)
    return supports_.emplace_back(Ask(graph, n));
  const auto [it, is_new] = constants_.try_emplace(kind.types.outputs[0]);
  if (is_new) it->second = &supports_.emplace_back(Ask(graph, n));
  return *it->second;
}

std::string DeviceTypes::WhyNot(const Graph& graph, NodeId n, const Device* device) const {
  const KindSupport& support = Support(graph, n);
  if (support.mover && !device->compiles())
    return "strings, resources and variants lie in host memory";
  const uint64_t bit = Bit(device);
  const std::string& why = support.why[static_cast<size_t>(std::countr_zero(bit))];
  if (device->compiles()) return absl::StrCat("it cannot be compiled: ", why);
  if ((support.mismatch & bit) == 0) {
    return absl::StrCat(why.empty() ? "no " : "the ", graph.op_name(n), " kernel for ",
                        device->type(), why.empty() ? "" : " ", why);
  }
  std::vector<std::string> types;
  for (DataType t : graph.kind(n).types.inputs) types.emplace_back(DataTypeName(t));
  return absl::StrCat("no ", graph.op_name(n), " kernel for ", device->type(),
                      " takes these attributes (inputs ", absl::StrJoin(types, ", "), ")");
}

std::string DeviceTypes::WhyWorse(const Graph& graph, NodeId n, const Device* device,
                                  const Device* chosen) const {
  const std::string there = chosen->short_name();
  if (device->type() == chosen->type()) return absl::StrCat(there, " comes first");
  const std::vector<int32_t>& kernels = Support(graph, n).priority;
  const int32_t here = kernels[std::countr_zero(Bit(device))];
  const int32_t best = kernels[std::countr_zero(Bit(chosen))];
  if (here < best)
    return absl::StrCat("its kernel has priority ", here, ", that of ", there, " ", best);
  if (device->priority() == chosen->priority())
    return absl::StrCat(there, " has the same priority and comes first by name");
  return absl::StrCat("its priority is ", device->priority(), ", that of ", there, " ",
                      chosen->priority());
}

Device* DeviceTypes::Best(uint64_t mask, absl::Span<const int32_t> kernel_priority) const {
  // Types are sorted by device priority: the first of equal kernel priorities is the best.
  int best = -1;
  for (size_t i = 0; i < types_.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    if (best < 0 || (!kernel_priority.empty() && kernel_priority[i] > kernel_priority[best]))
      best = static_cast<int>(i);
  }
  return best < 0 ? host_ : types_[best].devices.front();
}

Device* DeviceTypes::Find(std::string_view type, int ordinal, uint64_t mask) const {
  for (size_t i = 0; i < types_.size(); ++i) {
    if ((mask >> i & 1) == 0 || (!type.empty() && types_[i].name != type)) continue;
    for (Device* device : types_[i].devices) {
      if (ordinal < 0 || device->ordinal() == ordinal) return device;
    }
  }
  return nullptr;
}

std::string DeviceTypes::Names() const {
  return absl::StrJoin(devices_, ", ", [](std::string* out, const Device* d) {
    absl::StrAppend(out, d->short_name());
  });
}

}  // namespace tenon
