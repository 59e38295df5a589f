#include "executor/placer.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "executor/device_types.h"
#include "executor/name_pattern.h"
#include "graph/colocation.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

bool IsMetadataOp(std::string_view op) {
  return op == "Shape" || op == "ShapeN" || op == "Size" || op == "Rank";
}

// Sets of nodes, each known by one of its members.
class NodeSets {
 public:
  explicit NodeSets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  NodeId Root(NodeId n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  void Join(NodeId a, NodeId b) { parent_[Root(a)] = Root(b); }

 private:
  std::vector<NodeId> parent_;
};

// Nodes that must share a device.
using NodePair = std::pair<NodeId, NodeId>;

const DeviceRequest kNoRequest;

// One decision: a node alone, or all nodes of a colocation group.
struct Group {
  int32_t size = 1;
  uint64_t mask = 0;  // device types that all members allow
  uint64_t own = 0;   // device types that have a kernel of their own for some member
  const DeviceRequest* request = &kNoRequest;  // what members ask for, merged
  bool asked = false;
  bool by_default = false;  // the request is the default device's, not the node's
  bool by_options = false;  // the request is the default device's or a rule's, not the graph's
  bool conflict = false;    // members ask for different devices
  bool movers_only = false;
  bool by_resource = false;  // joined by an edge that carries a resource or a reference
  bool near = false;         // `device` is also its neighbour's
  Device* device = nullptr;  // decided
  PlaceCode reason = PlaceCode::kPriority;
};

class Placer {
 public:
  Placer(const Graph& graph, absl::Span<Device* const> devices, const KernelRegistry& kernels,
         const PlacerOptions& options, absl::Span<const NodePlacement> previous)
      : graph_(graph),
        types_(devices, kernels),
        options_(options),
        previous_(previous),
        sets_(graph.num_node_ids()) {}

  absl::StatusOr<std::vector<NodePlacement>> Run();

 private:
  absl::Status ReadRules();
  absl::Status Request(NodeId n);
  absl::Status ReadNode(NodeId n);
  const NodePlacement* Before(NodeId n) const;
  bool Keep(NodeId n);
  absl::Status CheckTask(NodeId n);
  NodeId Root(NodeId n) { return sets_.Root(n); }
  void MergeRequests(NodeId into, NodeId from);
  void Join(NodeId a, NodeId b, bool resource);
  absl::Status JoinConnected(absl::Span<const NodePair> pairs, bool resource);
  std::vector<NodePair> ResourcePairs() const;
  std::vector<NodePair> ClassPairs() const;
  Device* Best(const Group& g, NodeId n, uint64_t mask) const;
  Device* Find(const DeviceRequest& request, uint64_t mask) const;
  absl::Status Decide(NodeId root);
  absl::Status Relax(NodeId root);
  void StayNear(NodeId n, Device* device);
  void PlaceGenerators(const std::vector<NodeId>& order);
  void PlaceVariables(const std::vector<NodeId>& order);
  std::vector<RejectedDevice> Rejected(NodeId n, const Group& g) const;
  std::string Asked(NodeId n, const Group& g) const;
  RejectedDevice PassedOver(NodeId n, const Group& g, Device* device) const;
  std::string Describe(NodeId root);
  absl::Status Refuse(NodeId root, std::string_view why,
                      absl::StatusCode code = absl::StatusCode::kInvalidArgument);

  const Graph& graph_;
  DeviceTypes types_;
  const PlacerOptions& options_;
  absl::Span<const NodePlacement> previous_;
  std::vector<std::pair<NamePattern, DeviceRequest>> rules_;
  std::optional<DeviceRequest> default_;
  NodeSets sets_;
  std::vector<Group> groups_;  // by root of its set
  std::vector<std::string_view> requested_;
  std::vector<bool> kept_;
  std::deque<DeviceRequest> requests_;  // of device strings, and merged ones
  absl::flat_hash_map<std::string_view, const DeviceRequest*> parsed_;
};

absl::Status Placer::ReadRules() {
  for (const auto& [pattern, device] : options_.rules) {
    TENON_ASSIGN_OR_RETURN(DeviceRequest request, ParseDeviceFlag(device));
    TENON_ASSIGN_OR_RETURN(NamePattern compiled, NamePattern::Compile(pattern));
    rules_.emplace_back(std::move(compiled), std::move(request));
  }
  if (!options_.default_device.empty()) {
    TENON_ASSIGN_OR_RETURN(default_, ParseDeviceFlag(options_.default_device));
  }
  return absl::OkStatus();
}

// What node n asks for: by a rule, by its own device string, or by the default.
absl::Status Placer::Request(NodeId n) {
  Group& g = groups_[n];
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!rules_[i].first.Matches(graph_.name(n))) continue;
    g.request = &rules_[i].second;
    g.asked = g.by_options = true;
    requested_[n] = options_.rules[i].second;
    return absl::OkStatus();
  }
  const std::string_view device = graph_.device(n);
  if (!device.empty()) {
    auto [it, fresh] = parsed_.try_emplace(device);
    if (fresh) {
      absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(device);
      if (!request.ok()) return NodeError(graph_, n, request.status());
      it->second = &requests_.emplace_back(*std::move(request));
    }
    g.request = it->second;
    g.asked = true;
    requested_[n] = device;
  }
  if (g.request->type.empty() && g.request->ordinal < 0 && IsThisTask(*g.request)) g.asked = false;
  if (!g.asked && default_.has_value() && !IsMoverOp(graph_.op_name(n))) {
    g.request = &*default_;
    g.asked = g.by_default = g.by_options = true;
  }
  return absl::OkStatus();
}

// The placement of before the passes, if it was on the device that n has now.
const NodePlacement* Placer::Before(NodeId n) const {
  const bool was_here =
      static_cast<size_t>(n) < previous_.size() && previous_[n].device == groups_[n].device;
  return was_here ? &previous_[n] : nullptr;
}

// A device string that the first placement (or a pass) wrote and that is usable: no second
// thoughts.
bool Placer::Keep(NodeId n) {
  if (previous_.empty()) return false;
  Device* device = types_.ByFullName(graph_.device(n));
  if (device == nullptr || (groups_[n].mask & types_.Bit(device)) == 0) return false;
  Group& g = groups_[n];
  g.device = device;
  kept_[n] = true;
  g.reason = PlaceCode::kPassMoved;
  const NodePlacement* before = Before(n);
  if (before == nullptr) return true;
  // Another op may be here for another reason, but requests and groups outlive it.
  requested_[n] = before->requested;
  const bool outlives = before->reason == PlaceCode::kPinned ||
                        before->reason == PlaceCode::kColocation ||
                        before->reason == PlaceCode::kResource ||
                        (before->reason == PlaceCode::kGreedy && before->op == graph_.op_name(n));
  if (outlives) {
    g.reason = before->reason;
  } else if (Best(g, n, g.mask) == device) {
    g.reason = g.movers_only ? PlaceCode::kGreedy : PlaceCode::kPriority;
  }
  return true;
}

absl::Status Placer::ReadNode(NodeId n) {
  Group& g = groups_[n];
  const KindSupport& support = types_.Support(graph_, n);
  if (!support.error.ok()) return NodeError(graph_, n, support.error);
  g.mask = support.mask != 0 ? support.mask : types_.host_bit();
  g.own = g.mask & ~support.borrowed;
  g.movers_only = support.mover;
  if (Keep(n)) return absl::OkStatus();
  return Request(n);
}

absl::Status Placer::CheckTask(NodeId n) {
  if (IsThisTask(*groups_[n].request)) return absl::OkStatus();
  return Refuse(n, "there is only /job:localhost/replica:0/task:0");
}

// Both are of this task: only types and ordinals can differ.
void Placer::MergeRequests(NodeId into, NodeId from) {
  Group& a = groups_[into];
  const Group& b = groups_[from];
  a.conflict |= b.conflict;
  if (!b.asked || (a.asked && !a.by_default && b.by_default)) return;
  if (!a.asked || (a.by_default && !b.by_default)) {
    a.request = b.request;
    a.asked = true;
    a.by_default = b.by_default;
    a.by_options = b.by_options;
    return;
  }
  a.by_options |= b.by_options;
  const DeviceRequest &x = *a.request, &y = *b.request;
  const bool type_conflict = !x.type.empty() && !y.type.empty() && x.type != y.type;
  const bool ordinal_conflict = x.ordinal >= 0 && y.ordinal >= 0 && x.ordinal != y.ordinal;
  if (type_conflict || ordinal_conflict) {
    a.conflict = true;
    return;
  }
  const bool tells_type = x.type.empty() && !y.type.empty();
  const bool tells_ordinal = x.ordinal < 0 && y.ordinal >= 0;
  if (!tells_type && !tells_ordinal) return;
  DeviceRequest& both = requests_.emplace_back(x);
  if (tells_type) both.type = y.type;
  if (tells_ordinal) both.ordinal = y.ordinal;
  a.request = &both;
}

void Placer::Join(NodeId a, NodeId b, bool resource) {
  const NodeId from = Root(a), into = Root(b);
  if (into == from) return;
  MergeRequests(into, from);
  Group& g = groups_[into];
  g.mask &= groups_[from].mask;
  g.own |= groups_[from].own;
  g.size += groups_[from].size;
  g.movers_only &= groups_[from].movers_only;
  g.by_resource |= resource | groups_[from].by_resource;
  sets_.Join(from, into);
}

// Joins what the pairs connect, a whole group at a time, so that the order of the nodes decides
// nothing. A group that no device has kernels for stays apart under soft placement; what shares a
// resource cannot.
absl::Status Placer::JoinConnected(absl::Span<const NodePair> pairs, bool resource) {
  if (pairs.empty()) return absl::OkStatus();
  NodeSets connected(groups_.size());
  for (const auto& [a, b] : pairs) connected.Join(Root(a), Root(b));
  std::vector<uint64_t> masks(groups_.size(), ~uint64_t{0});
  for (const auto& [a, b] : pairs)
    masks[connected.Root(Root(a))] &= groups_[Root(a)].mask & groups_[Root(b)].mask;
  for (const auto& [a, b] : pairs) {
    const bool apart = masks[connected.Root(Root(a))] == 0;
    if (!apart || resource || !options_.soft_placement) Join(a, b, resource);
  }
  for (const auto& [a, b] : pairs) {
    const NodeId root = Root(a);
    if (groups_[root].mask == 0) return Refuse(root, "no device has kernels for all of its group");
  }
  return absl::OkStatus();
}

// Producers and consumers of resources and references.
std::vector<NodePair> Placer::ResourcePairs() const {
  std::vector<NodePair> pairs;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n) || kept_[n]) continue;
    const auto& types = graph_.kind(n).types.inputs;
    const std::span<const Output> inputs = graph_.data_inputs(n);
    for (size_t i = 0; i < inputs.size() && i < types.size(); ++i) {
      if (inputs[i].node == kNoNode || kept_[inputs[i].node]) continue;
      if (types[i] == DataType::kResource || IsRef(types[i])) pairs.emplace_back(inputs[i].node, n);
    }
  }
  return pairs;
}

// Nodes and those that they name in _class.
std::vector<NodePair> Placer::ClassPairs() const {
  std::vector<NodePair> pairs;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n) || kept_[n]) continue;
    const AttrValue* attr = graph_.attrs(n).Find(kColocationAttr);
    if (attr == nullptr) continue;
    const absl::StatusOr<std::vector<std::string_view>> classes = attr->AsStringList();
    if (!classes.ok()) continue;
    for (std::string_view c : *classes) {
      if (!absl::ConsumePrefix(&c, kColocationPrefix)) continue;
      // A pass may have removed the other one: then the request is void.
      const NodeId other = graph_.FindNode(c);
      if (other != kNoNode && graph_.alive(other) && !kept_[other]) pairs.emplace_back(n, other);
    }
  }
  return pairs;
}

// Highest priority of the kernel (a lone node), then of the device; a group of movers has nothing
// to compute: the host. Nor does a device compute that has only the host's kernels for a group.
Device* Placer::Best(const Group& g, NodeId n, uint64_t mask) const {
  if (g.movers_only && (mask & types_.host_bit()) != 0) return types_.host();
  if ((mask & g.own) != 0) mask &= g.own;
  return types_.Best(
      mask, g.size == 1 ? types_.Support(graph_, n).priority : absl::Span<const int32_t>());
}

Device* Placer::Find(const DeviceRequest& request, uint64_t mask) const {
  return types_.Find(request.type, request.ordinal, mask);
}

std::string Placer::Describe(NodeId root) {
  std::vector<std::string> members;
  for (NodeId n = 0; n < graph_.num_node_ids() && members.size() < 10; ++n) {
    if (!graph_.alive(n) || Root(n) != root) continue;
    members.push_back(
        absl::StrCat("'", graph_.name(n), "' (", graph_.op_name(n), ")",
                     requested_[n].empty() ? "" : absl::StrCat(" asks for '", requested_[n], "'")));
  }
  return members.size() < 2
             ? ""
             : absl::StrCat("; its colocation group: ", absl::StrJoin(members, ", "));
}

absl::Status Placer::Refuse(NodeId root, std::string_view why, absl::StatusCode code) {
  NodeId n = root;  // the member that asks, if any
  for (NodeId i = 0; requested_[n].empty() && i < graph_.num_node_ids(); ++i) {
    if (graph_.alive(i) && Root(i) == root && !requested_[i].empty()) n = i;
  }
  const std::string asked = Asked(n, groups_[root]);
  return absl::Status(
      code,
      absl::StrCat(graph_.Locate(n), ": cannot place node '", graph_.name(n), "' (",
                   graph_.op_name(n), ")", asked.empty() ? "" : absl::StrCat(" on '", asked, "'"),
                   ": ", why, "; the devices are ", types_.Names(), Describe(root)));
}

// The request cannot be met as it is. Soft placement gives up the ordinal, then the type; never the
// task.
absl::Status Placer::Relax(NodeId root) {
  Group& g = groups_[root];
  const bool exists = Find(*g.request, ~uint64_t{0}) != nullptr;
  if (!options_.soft_placement || (g.by_options && !options_.fallback)) {
    if (g.conflict) return Refuse(root, "the members of its group ask for different devices");
    if (!exists) return Refuse(root, "there is no such device");
    // For what the graph asks for, TensorFlow's code.
    return Refuse(
        root, "the device has no kernel for it or for its group",
        g.by_options ? absl::StatusCode::kUnimplemented : absl::StatusCode::kInvalidArgument);
  }
  g.reason = exists ? PlaceCode::kNoKernel : PlaceCode::kUnavailable;
  if (exists && g.size > 1) g.reason = PlaceCode::kColocation;
  g.device = types_.Find(g.request->type, -1, g.mask);
  if (g.device == nullptr) g.device = Best(g, root, g.mask);
  return absl::OkStatus();
}

absl::Status Placer::Decide(NodeId root) {
  Group& g = groups_[root];
  if (g.device != nullptr) return absl::OkStatus();
  if (g.conflict) {
    if (!options_.soft_placement) return Relax(root);
    g.reason = PlaceCode::kColocation;
    g.device = (g.mask & types_.host_bit()) != 0 ? types_.host() : Best(g, root, g.mask);
    return absl::OkStatus();
  }
  if (g.asked && !(g.request->type.empty() && g.request->ordinal < 0)) {
    g.device = Find(*g.request, g.mask);
    g.reason = PlaceCode::kPinned;
    return g.device != nullptr ? absl::OkStatus() : Relax(root);
  }
  g.reason = g.size > 1      ? (g.by_resource ? PlaceCode::kResource : PlaceCode::kColocation)
             : g.movers_only ? PlaceCode::kGreedy
                             : PlaceCode::kPriority;
  g.device = Best(g, root, g.mask);
  return absl::OkStatus();
}

// Moves a lone, free node to a neighbour's device if that is allowed. A kept one stays, but may be
// there already.
void Placer::StayNear(NodeId n, Device* device) {
  Group& g = groups_[n];
  if (kept_[n]) g.near = g.device == device;
  if (device == nullptr || g.size > 1 || g.asked || kept_[n] || Root(n) != n) return;
  if ((g.mask & types_.Bit(device)) == 0) return;
  if (g.device != device) g.reason = PlaceCode::kGreedy;
  g.device = device;
  g.near = true;
}

// A node without inputs goes where its only consumers are. Consumers come later in the order, so
// backwards.
void Placer::PlaceGenerators(const std::vector<NodeId>& order) {
  std::vector<Device*> consumers(groups_.size(), nullptr);
  std::vector<bool> several(groups_.size(), false);
  for (NodeId n : order) {
    Device* device = groups_[Root(n)].device;
    for (const Output& in : graph_.data_inputs(n)) {
      if (in.node == kNoNode) continue;
      if (consumers[in.node] != nullptr && consumers[in.node] != device) several[in.node] = true;
      consumers[in.node] = device;
    }
  }
  for (NodeId n : order) {
    const bool generator = graph_.num_inputs(n) == 0 && graph_.num_outputs(n) == 1 &&
                           !IsRef(graph_.output_type({n, 0}));
    if (generator && !several[n]) StayNear(n, consumers[n]);
  }
}

// A group around a resource that only the host's kernels serve is where its values are read, if
// that is one device and may have it.
void Placer::PlaceVariables(const std::vector<NodeId>& order) {
  std::vector<Device*> readers(groups_.size(), nullptr);
  std::vector<bool> several(groups_.size(), false);
  for (NodeId n : order) {
    for (const Output& in : graph_.data_inputs(n)) {
      if (in.node == kNoNode || Root(in.node) == Root(n)) continue;
      Device*& reader = readers[Root(in.node)];
      Device* const device = groups_[Root(n)].device;
      if (reader != nullptr && reader != device) several[Root(in.node)] = true;
      reader = device;
    }
  }
  for (NodeId n : order) {
    Group& g = groups_[n];
    if (Root(n) != n || g.reason != PlaceCode::kResource || readers[n] == nullptr || several[n])
      continue;
    if (g.device != types_.host() || (g.mask & types_.Bit(readers[n])) == 0) continue;
    g.device = readers[n];
    g.reason = PlaceCode::kGreedy;
    g.near = true;
  }
}

// What n asks for, itself or by the default.
std::string Placer::Asked(NodeId n, const Group& g) const {
  return requested_[n].empty() && g.by_default ? options_.default_device
                                               : std::string(requested_[n]);
}

// Why a device that n could run on is not the chosen one.
RejectedDevice Placer::PassedOver(NodeId n, const Group& g, Device* device) const {
  const std::string there = g.device->short_name();
  const std::string asked = Asked(n, g);
  const bool asks_for_type =
      g.reason == PlaceCode::kPinned || (g.asked && g.request->type == g.device->type());
  if (g.reason == PlaceCode::kGreedy) {
    return {device, PlaceCode::kGreedy,
            g.near ? absl::StrCat("beside its neighbours on ", there, " it causes fewer copies")
            : g.movers_only && g.device == types_.host()
                ? "nothing computes it, so its value lies on the host"
                : "its neighbours were there before the passes"};
  }
  if (g.reason == PlaceCode::kPassMoved)
    return {device, PlaceCode::kPassMoved, absl::StrCat("a pass put it on ", there)};
  if (g.reason == PlaceCode::kColocation || g.reason == PlaceCode::kResource ||
      (asks_for_type && asked.empty()) || (g.mask & types_.Bit(device)) == 0) {
    const bool resource = g.by_resource || g.reason == PlaceCode::kResource;
    return {device, resource ? PlaceCode::kResource : PlaceCode::kColocation,
            absl::StrCat("its group is on ", there)};
  }
  if (asks_for_type)
    return {device, PlaceCode::kPinned, absl::StrCat("'", asked, "' is asked for")};
  return {device, PlaceCode::kPriority, types_.WhyWorse(graph_, n, device, g.device)};
}

std::vector<RejectedDevice> Placer::Rejected(NodeId n, const Group& g) const {
  std::vector<RejectedDevice> rejected;
  if (g.reason == PlaceCode::kUnavailable)
    rejected.push_back({nullptr, PlaceCode::kUnavailable, "there is no such device"});
  const KindSupport& support = types_.Support(graph_, n);
  for (Device* device : types_.devices()) {
    if (device == g.device) continue;
    const uint64_t bit = types_.Bit(device);
    if ((support.mask & bit) != 0) {
      rejected.push_back(PassedOver(n, g, device));
    } else {
      const PlaceCode code = support.mover                   ? PlaceCode::kHostMemory
                             : (support.mismatch & bit) != 0 ? PlaceCode::kDtype
                                                             : PlaceCode::kNoKernel;
      rejected.push_back({device, code, types_.WhyNot(graph_, n, device)});
    }
  }
  return rejected;
}

absl::StatusOr<std::vector<NodePlacement>> Placer::Run() {
  TENON_RETURN_IF_ERROR(types_.Check());
  TENON_RETURN_IF_ERROR(ReadRules());
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph_));
  groups_.resize(graph_.num_node_ids());
  requested_.resize(graph_.num_node_ids());
  kept_.resize(graph_.num_node_ids());
  for (NodeId n : order) TENON_RETURN_IF_ERROR(ReadNode(n));
  for (NodeId n : order) TENON_RETURN_IF_ERROR(CheckTask(n));
  TENON_RETURN_IF_ERROR(JoinConnected(ResourcePairs(), /*resource=*/true));
  TENON_RETURN_IF_ERROR(JoinConnected(ClassPairs(), /*resource=*/false));
  for (NodeId n : order) {
    const NodeId root = Root(n);
    TENON_RETURN_IF_ERROR(Decide(root));
    const bool follows =
        IsMetadataOp(graph_.op_name(n)) || (groups_[n].movers_only && groups_[n].size == 1);
    if (follows && graph_.num_inputs(n) > 0)
      StayNear(n, groups_[Root(graph_.inputs(n)[0].node)].device);
  }
  if (types_.count() > 1) {
    PlaceGenerators(order);
    PlaceVariables(order);
  }

  std::vector<NodePlacement> result(graph_.num_node_ids());
  for (NodeId n : order) {
    const Group& g = groups_[Root(n)];
    if (const NodePlacement* before = kept_[n] ? Before(n) : nullptr;
        before != nullptr && before->op == graph_.op_name(n) &&
        before->reason != PlaceCode::kGreedy) {  // neighbours may be elsewhere now
      result[n] = *before;
      continue;
    }
    NodePlacement& p = result[n];
    p.device = g.device;
    p.op = graph_.op_name(n);
    p.requested = Asked(n, g);
    p.reason = g.reason;
    // In a group, only the member that asked is pinned; the others follow it.
    if (g.size > 1 && p.reason == PlaceCode::kPinned && requested_[n].empty() && !g.by_default)
      p.reason = PlaceCode::kColocation;
    if (types_.Support(graph_, n).mask == 0) p.reason = PlaceCode::kNoKernel;
    p.rejected = Rejected(n, g);
  }
  return result;
}

}  // namespace

std::string_view PlaceCodeName(PlaceCode code) {
  switch (code) {
    case PlaceCode::kNoKernel:
      return "NO_KERNEL";
    case PlaceCode::kDtype:
      return "DTYPE";
    case PlaceCode::kHostMemory:
      return "HOST_MEMORY";
    case PlaceCode::kColocation:
      return "COLOCATION";
    case PlaceCode::kResource:
      return "RESOURCE";
    case PlaceCode::kPinned:
      return "PINNED";
    case PlaceCode::kPassMoved:
      return "PASS_MOVED";
    case PlaceCode::kPriority:
      return "PRIORITY";
    case PlaceCode::kGreedy:
      return "GREEDY";
    case PlaceCode::kUnavailable:
      return "UNAVAILABLE";
  }
  return "PRIORITY";
}

absl::StatusOr<std::vector<NodePlacement>> Place(const Graph& graph,
                                                 absl::Span<Device* const> devices,
                                                 const KernelRegistry& kernels,
                                                 const PlacerOptions& options,
                                                 absl::Span<const NodePlacement> previous) {
  return Placer(graph, devices, kernels, options, previous).Run();
}

void ApplyPlacement(Graph& graph, absl::Span<const NodePlacement> placement,
                    bool keeps_unavailable) {
  absl::flat_hash_map<const Device*, std::string> names;
  for (NodeId n = 0; n < graph.num_node_ids() && static_cast<size_t>(n) < placement.size(); ++n) {
    const Device* device = placement[n].device;
    if (!graph.alive(n) || device == nullptr) continue;
    if (keeps_unavailable && placement[n].reason == PlaceCode::kUnavailable) continue;
    auto [it, fresh] = names.try_emplace(device);
    if (fresh) it->second = device->full_name();
    if (graph.device(n) != it->second) graph.SetDevice(n, it->second);
  }
}

}  // namespace tenon
