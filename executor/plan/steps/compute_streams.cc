#include "executor/plan/steps/compute_streams.h"

#include <algorithm>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "executor/place/chains.h"
#include "executor/plan/base/effects.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/device/compute_streams.h"

namespace tenon {
namespace {

// That one stream waits for another costs little beside a kernel.
constexpr int kNodeUnits = 4, kWaitUnits = 1;

// Whether values of the type are tensors of numbers or texts, and refer to nothing else.
bool IsPlain(DataType type) {
  return !IsRef(type) && type != DataType::kResource && type != DataType::kVariant;
}

class StreamChooser {
 public:
  explicit StreamChooser(const PlanInput& input)
      : in_(input), may_be_kept_(input.graph.num_node_ids(), false) {}

  std::vector<uint8_t> Run() {
    FindKept();
    std::vector<ChainNode> nodes;
    std::vector<int32_t> index_of(in_.graph.num_node_ids(), -1);
    for (const NodeId n : in_.schedule.order) {
      ChainNode& node = nodes.emplace_back();
      node.lane = -1;                 // the host's, if there is no choice
      if (in_.fed_only[n]) continue;  // what is fed costs no wait
      node.after = ProducersOf(in_.graph, n, index_of);
      index_of[n] = static_cast<int32_t>(nodes.size()) - 1;
      node.lanes = LanesOf(n);
    }
    std::vector<int32_t> lanes;
    do {
      lanes = LanesOfChains(nodes, kNodeUnits, kWaitUnits);
    } while (!MakeStreams(nodes, lanes));
    std::vector<uint8_t> streams(in_.graph.num_node_ids(), 0);
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (nodes[i].lanes != nullptr)
        streams[in_.schedule.order[i]] = static_cast<uint8_t>(lanes[i] % kMostComputeStreams);
    }
    if (std::ranges::all_of(streams, [](uint8_t stream) { return stream == 0; })) return {};
    return streams;
  }

 private:
  // Lanes are numbered by device and stream.
  struct Lanes {
    std::vector<int32_t> first, all;
  };

  // The plug-in's kernel that serves n on a device with streams; else null. Where there is an
  // error, planning the node's step reports it.
  const KernelDef* PluginKernelOf(NodeId n) const {
    Device* const device = in_.devices[n];
    const OpFacts& facts = in_.graph.facts(n);
    if (in_.fed_only[n] || device->is_host() || !device->has_streams() || facts.renames ||
        IsControlFlow(facts))
      return nullptr;
    const absl::StatusOr<const KernelDef*> kernel = in_.kernels.Find(in_.graph, n, *device);
    return kernel.ok() && (*kernel)->cpu == nullptr ? *kernel : nullptr;
  }

  // Whether a node with this kernel does no more than compute its outputs.
  bool OnlyComputes(NodeId n, const KernelDef& kernel) const {
    const NodeTypes& types = in_.graph.kind(n).types;
    return kernel.fns.compute_async == nullptr && !HasEffects(in_.graph, n) &&
           std::ranges::all_of(types.inputs, IsPlain) &&
           std::ranges::all_of(types.outputs, IsPlain);
  }

  // Whether what n reads in a device's memory may outlive the run, or the knowledge of the plan who
  // uses it. A node without a plug-in's kernel may hand it on.
  bool MayKeep(NodeId n) const {
    if (in_.fed_only[n]) return false;
    if (const KernelDef* kernel = PluginKernelOf(n)) return !OnlyComputes(n, *kernel);
    const bool in_place = in_.graph.facts(n).other_devices == OtherDevices::kInPlace;
    return may_be_kept_[n] || (in_place && !in_.devices[n]->is_host());
  }

  void FindKept() {
    const std::vector<NodeId>& order = in_.schedule.order;
    for (size_t i = order.size(); i-- > 0;) {
      if (!MayKeep(order[i])) continue;
      for (const Output& from : in_.graph.data_inputs(order[i])) {
        if (from.node != kNoNode) may_be_kept_[from.node] = true;
      }
    }
  }

  const std::vector<int32_t>* LanesOf(NodeId n) {
    const KernelDef* const kernel = PluginKernelOf(n);
    if (kernel == nullptr) return nullptr;
    const Lanes& lanes = LanesOf(in_.devices[n]);
    const bool in_loop = !in_.schedule.loop_of.empty() && in_.schedule.loop_of[n] >= 0;
    return in_loop || may_be_kept_[n] || !OnlyComputes(n, *kernel) ? &lanes.first : &lanes.all;
  }

  const Lanes& LanesOf(Device* device) {
    const auto [found, fresh] = lanes_.try_emplace(device);
    Lanes& lanes = found->second;
    if (!fresh) return lanes;
    const bool several = ComputeStreams::Of(*device) != nullptr && device->copies_between();
    const int streams = several ? in_.device_streams : 1;
    const auto base = static_cast<int32_t>(lanes_.size() - 1) * kMostComputeStreams;
    for (int i = 0; i < streams; ++i) lanes.all.push_back(base + i);
    lanes.first = {base};
    return lanes;
  }

  // Sees to it that the streams are there on which nodes are. False: a device has fewer, and the
  // choice is to be made again.
  bool MakeStreams(absl::Span<const ChainNode> nodes, absl::Span<const int32_t> lanes) {
    bool all_made = true;
    for (auto& [device, of] : lanes_) {
      int32_t last = of.first[0];
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].lanes == &of.all) last = std::max(last, lanes[i]);
      }
      const int needed = last - of.first[0] + 1;
      if (needed == 1) continue;
      const int made = ComputeStreams::Of(*device)->MakeComputeStreams(needed);
      if (made == needed) continue;
      of.all.resize(made);
      all_made = false;
    }
    return all_made;
  }

  const PlanInput& in_;
  std::vector<bool> may_be_kept_;  // by node id: an output in a device's memory may be
  absl::node_hash_map<Device*, Lanes> lanes_;
};

}  // namespace

std::vector<uint8_t> ChooseComputeStreams(const PlanInput& input) {
  if (input.device_streams <= 1) return {};
  return StreamChooser(input).Run();
}

}  // namespace tenon
