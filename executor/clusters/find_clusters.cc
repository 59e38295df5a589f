// Nodes get phases: a node that is in no cluster, or in one of another device, is one phase later
// than the clusters that it reads. Nodes of one device and phase may then be contracted, whichever
// they are: a path that leaves such a group for another node never comes back into its phase.

#include "executor/clusters/find_clusters.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/clusters/liveness_classes.h"
#include "executor/stablehlo/lowerability.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// After so many rounds, all nodes that touch values of the border are left out at once.
constexpr int kMostBorderRounds = 16;

class ClusterFinder {
 public:
  explicit ClusterFinder(const ClusterInput& input)
      : in_(input),
        graph_(*input.graph),
        lowerability_(graph_),
        color_(graph_.num_node_ids(), kNone),
        phase_(graph_.num_node_ids(), 0),
        parent_(graph_.num_node_ids(), kNoNode),
        group_(graph_.num_node_ids(), kNone),
        needs_program_(graph_.num_node_ids(), false),
        is_constant_(graph_.num_node_ids(), false) {
    found_.map.of.assign(graph_.num_node_ids(), -1);
    found_.map.why.assign(graph_.num_node_ids(), NoCluster::kNone);
    for (const Output& feed : in_.feeds) fed_.insert(feed.node);
    for (const Output& fetch : in_.fetches) fetched_.insert(fetch);
  }

  FoundClusters Run() {
    Color();
    for (int round = 0; LeaveOutAtBorders(round >= kMostBorderRounds); ++round) {
    }
    std::vector<std::vector<NodeId>> groups = Groups();
    for (std::vector<NodeId>& nodes : groups) Add(std::move(nodes));
    return std::move(found_);
  }

 private:
  static constexpr int32_t kNone = -1;

  bool Colored(NodeId n) const { return color_[n] != kNone; }

  // Why a node on a device that compiles cannot be in a cluster, whatever its neighbours are.
  NoCluster WhyNot(NodeId n) {
    if (fed_.contains(n)) return NoCluster::kFed;
    if (!in_.runs[n]) return NoCluster::kNotRun;
    return lowerability_.Ask(n).ok() ? NoCluster::kNone : NoCluster::kHost;
  }

  // A constant costs a program nothing: it joins each cluster that reads it. Its control edges go
  // to the cluster, so that readers of a dead constant are dead too.
  bool IsFreeConstant(NodeId n) {
    return graph_.op_name(n) == "Const" && !fed_.contains(n) && lowerability_.Ask(n).ok();
  }

  // The device that compiles node n, if it is to be in a cluster at all; else null, with the reason
  // where one is to be told.
  pjrt::ProgramDevice* CompilerOf(NodeId n, NoCluster* why) {
    Device* const device = in_.placement[n].device;
    if (device == nullptr) return nullptr;
    if (device->is_host()) {
      const bool wanted =
          in_.policy.Wants(graph_, n) && (in_.policy.cpu_global_jit || MustCompile(graph_, n));
      return wanted ? in_.host_compiler : nullptr;
    }
    pjrt::ProgramDevice* const compiler = pjrt::AsProgramDevice(device);
    if (compiler == nullptr) return nullptr;
    needs_program_[n] = !in_.has_kernel(n);
    if (needs_program_[n] || in_.policy.Wants(graph_, n)) return compiler;
    if (in_.policy.mode == XlaMode::kOff) *why = NoCluster::kOff;
    return nullptr;
  }

  // Why the policy leaves out a node on a device that takes programs alone.
  NoCluster WhyUnwanted(NodeId n) const {
    const ClusterPolicy& policy = in_.policy;
    const bool wanted =
        policy.Wants(graph_, n) || (policy.mode == XlaMode::kDefault && policy.Allows(graph_, n));
    if (wanted) return NoCluster::kNone;
    return policy.mode == XlaMode::kOff ? NoCluster::kOff : NoCluster::kOpList;
  }

  // One color for each device and liveness; for a node that is compiled by itself one of its own.
  void Color() {
    const std::vector<int32_t> live = LivenessClasses(graph_, in_.order);
    std::map<std::tuple<const Device*, int32_t, NodeId>, int32_t> colors;
    int64_t fuel = in_.policy.clustering_fuel;
    for (const NodeId n : in_.order) {
      if (IsFreeConstant(n)) {
        is_constant_[n] = true;
        continue;
      }
      if (in_.leave_out != nullptr && in_.leave_out(n)) {
        found_.map.why[n] = NoCluster::kOff;
        continue;
      }
      NoCluster why = NoCluster::kNone;
      const Device* device = in_.placement[n].device;
      NodeId single = kNoNode;
      if (device == nullptr || !device->compiles()) {
        device = CompilerOf(n, &why);
        if (device == nullptr) found_.map.why[n] = why;
        if (device == nullptr) continue;
        if (needs_program_[n] && !in_.policy.Wants(graph_, n)) single = n;
      } else {
        why = WhyUnwanted(n);
      }
      if (why == NoCluster::kNone) why = WhyNot(n);
      if (why == NoCluster::kNone && fuel-- <= 0) why = NoCluster::kFuel;
      found_.map.why[n] = why;
      if (why != NoCluster::kNone) continue;
      color_[n] = colors.try_emplace({device, live[n], single}, static_cast<int32_t>(colors.size()))
                      .first->second;
    }
  }

  NodeId Root(NodeId n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }

  bool Together(NodeId a, NodeId b) {
    return Colored(a) && Colored(b) && color_[a] == color_[b] && phase_[a] == phase_[b];
  }

  void Connect() {
    for (const NodeId n : in_.order) {
      parent_[n] = n;
      phase_[n] = 0;
      for (const Output& from : graph_.inputs(n)) {
        if (from.node == kNoNode || parent_[from.node] == kNoNode) continue;
        const bool leaves = Colored(from.node) && color_[from.node] != color_[n];
        phase_[n] = std::max(phase_[n], phase_[from.node] + (leaves ? 1 : 0));
      }
    }
    // Control edges count too: two groups of a phase with edges both ways would be a cycle.
    for (const NodeId n : in_.order) {
      for (const Output& from : graph_.inputs(n)) {
        if (from.node != kNoNode && parent_[from.node] != kNoNode && Together(from.node, n))
          parent_[Root(from.node)] = Root(n);
      }
    }
  }

  void LeaveOut(NodeId n) {
    if (!Colored(n)) return;
    color_[n] = kNone;
    found_.map.why[n] = NoCluster::kBorder;
  }

  // Connects, then takes nodes out between which a value would cross the border that cannot.
  // Returns whether there were any: then the rest must be connected anew.
  bool LeaveOutAtBorders(bool all) {
    std::fill(parent_.begin(), parent_.end(), kNoNode);
    Connect();
    bool any = false;
    for (const NodeId n : in_.order) {
      for (const Output& from : graph_.data_inputs(n)) {
        // A list that nobody reads is an input of its loop, though its maker does not run.
        if (from.node == kNoNode) continue;
        if (!Colored(from.node) && !Colored(n)) continue;
        if (stablehlo::CrossesBorder(graph_.output_type(from))) continue;
        if (!all && Together(from.node, n)) continue;
        LeaveOut(from.node);
        LeaveOut(n);
        any = true;
      }
    }
    for (const Output& fetch : in_.fetches) {
      if (fetch.is_control() || !Colored(fetch.node)) continue;
      if (stablehlo::CrossesBorder(graph_.output_type(fetch))) continue;
      LeaveOut(fetch.node);
      any = true;
    }
    return any;
  }

  // The nodes of each group in order; groups in the order of their first nodes. A group that is too
  // large is cut in the order of its nodes, so that its parts make no cycle: values go forward
  // only.
  std::vector<std::vector<NodeId>> Groups() {
    std::vector<std::vector<NodeId>> groups;
    const absl::flat_hash_set<NodeId> whole = UncutGroups();
    absl::flat_hash_map<NodeId, size_t> index;
    for (const NodeId n : in_.order) {
      if (!Colored(n)) continue;
      const NodeId root = Root(n);
      const auto [it, is_new] = index.try_emplace(root, groups.size());
      const bool full = !is_new && !whole.contains(root) &&
                        static_cast<int64_t>(groups[it->second].size()) >=
                            std::max<int64_t>(in_.policy.max_cluster_size, 1);
      if (full) it->second = groups.size();
      if (is_new || full) groups.emplace_back();
      groups[it->second].push_back(n);
      group_[n] = static_cast<int32_t>(it->second);
    }
    return groups;
  }

  // The roots of groups within which a value goes that cannot leave a program.
  absl::flat_hash_set<NodeId> UncutGroups() {
    absl::flat_hash_set<NodeId> whole;
    for (const NodeId n : in_.order) {
      if (!Colored(n)) continue;
      for (const Output& from : graph_.data_inputs(n)) {
        if (from.node != kNoNode && !stablehlo::CrossesBorder(graph_.output_type(from)))
          whole.insert(Root(n));
      }
    }
    return whole;
  }

  // Whether a group on a device that has kernels has fewer nodes than the policy wants. Nodes that
  // must be compiled are never too few.
  bool IsSmall(const std::vector<NodeId>& nodes) {
    if (in_.placement[nodes.front()].device->compiles()) return false;
    int64_t size = 0;
    for (const NodeId n : nodes) {
      if (needs_program_[n] || MustCompile(graph_, n)) return false;
      size += graph_.facts(n).mover && graph_.facts(n).calls == CallKind::kNone ? 0 : 1;
    }
    return size < in_.policy.min_cluster_size;
  }

  bool IsTrivial(const std::vector<NodeId>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId n) {
      return graph_.facts(n).mover && graph_.facts(n).calls == CallKind::kNone;
    });
  }

  void DropGroup(const std::vector<NodeId>& nodes, NoCluster why) {
    for (const NodeId n : nodes) found_.map.why[n] = why;
  }

  void Add(std::vector<NodeId> nodes) {
    std::vector<Output> results = ResultsOf(nodes);
    if (results.empty() || IsTrivial(nodes)) {
      return DropGroup(nodes, NoCluster::kTrivial);
    }
    if (IsSmall(nodes)) return DropGroup(nodes, NoCluster::kSmall);
    const auto number = static_cast<int32_t>(found_.clusters.size());
    Cluster& cluster = found_.clusters.emplace_back();
    cluster.name = graph_.UniqueName(absl::StrCat("cluster_", number));
    cluster.graph = in_.graph;
    Device* const device = in_.placement[nodes.front()].device;
    cluster.device = device->is_host() ? in_.host_compiler : pjrt::AsProgramDevice(device);
    for (const NodeId n : nodes) found_.map.of[n] = number;
    AddConstants(nodes, number, cluster);
    cluster.nodes.insert(cluster.nodes.end(), nodes.begin(), nodes.end());
    FindInputs(number, cluster);
    cluster.results = std::move(results);
  }

  void AddConstants(const std::vector<NodeId>& nodes, int32_t number, Cluster& cluster) {
    absl::flat_hash_set<NodeId> seen;
    for (const NodeId n : nodes) {
      for (const Output& from : graph_.data_inputs(n)) {
        if (!is_constant_[from.node] || !seen.insert(from.node).second) continue;
        cluster.nodes.push_back(from.node);
        if (found_.map.of[from.node] < 0) found_.map.of[from.node] = number;
      }
    }
  }

  void FindInputs(int32_t number, Cluster& cluster) {
    cluster.constants = stablehlo::FindConstantNeeds(graph_, cluster.nodes, lowerability_).outside;
    absl::flat_hash_set<Output> seen(cluster.constants.begin(), cluster.constants.end());
    for (const NodeId n : cluster.nodes) {
      for (const Output& from : graph_.data_inputs(n)) {
        if (is_constant_[from.node] || found_.map.of[from.node] == number) continue;
        if (seen.insert(from).second) cluster.arguments.push_back(from);
      }
    }
  }

  // Readers are found once for all clusters.
  void FindReaders() {
    if (!read_.empty()) return;
    read_.resize(graph_.num_node_ids());
    for (const NodeId n : in_.order) {
      for (const Output& from : graph_.data_inputs(n)) {
        if (from.node != kNoNode) read_[from.node].push_back({n, from.port});
      }
    }
  }

  std::vector<Output> ResultsOf(const std::vector<NodeId>& nodes) {
    FindReaders();
    std::vector<Output> results;
    for (const NodeId n : nodes) {
      for (int32_t port = 0; port < graph_.num_outputs(n); ++port) {
        const bool leaves = std::any_of(read_[n].begin(), read_[n].end(), [&](const Output& by) {
          return by.port == port && in_.runs[by.node] && group_[by.node] != group_[n];
        });
        if (leaves || fetched_.contains(Output{n, port})) results.push_back({n, port});
      }
    }
    return results;
  }

  const ClusterInput& in_;
  const Graph& graph_;
  stablehlo::Lowerability lowerability_;
  std::vector<int32_t> color_;  // by node id; kNone: in no cluster
  std::vector<int32_t> phase_;
  std::vector<NodeId> parent_;  // of the union-find forest; kNoNode: not in the order
  std::vector<int32_t> group_;  // of Groups; kNone: in none
  std::vector<bool> needs_program_;
  std::vector<bool> is_constant_;
  // By node id: who reads it, and which of its ports.
  std::vector<std::vector<Output>> read_;
  absl::flat_hash_set<NodeId> fed_;
  absl::flat_hash_set<Output> fetched_;
  FoundClusters found_;
};

}  // namespace

FoundClusters FindClusters(const ClusterInput& input) { return ClusterFinder(input).Run(); }

}  // namespace tenon
