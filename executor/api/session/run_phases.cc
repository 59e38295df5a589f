// A phase is a copy of the graph in which the values of earlier phases are placeholders.
#include "executor/api/session/run_phases.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/cycles.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::api {
namespace {

absl::flat_hash_map<Output, int> IndexOf(const std::vector<Output>& feeds) {
  absl::flat_hash_map<Output, int> index;
  for (size_t i = 0; i < feeds.size(); ++i) index.emplace(feeds[i], static_cast<int>(i));
  return index;
}

// The names that Session::PrepareOther reads. A name may have a colon: the port is always there.
std::string TextOf(const Graph& graph, Output output) {
  return absl::StrCat(graph.name(output.node), ":", output.port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunPhases>> RunPhases::Make(
    const Graph& graph, const std::vector<std::string>& feeds,
    const std::vector<std::string>& fetches) {
  TENON_ASSIGN_OR_RETURN(Request request, ResolveRequest(graph, feeds, fetches));
  TENON_ASSIGN_OR_RETURN(RunSet run, FindRunSet(graph, request));
  return std::unique_ptr<RunPhases>(new RunPhases(graph, std::move(request), std::move(run)));
}

RunPhases::RunPhases(const Graph& graph, Request request, RunSet run)
    : graph_(graph),
      request_(std::move(request)),
      run_(std::move(run)),
      feed_of_(IndexOf(request_.feeds)) {
  FindGroups();
}

int RunPhases::FeedOf(Output output) const {
  const auto found = feed_of_.find(output);
  return found == feed_of_.end() ? -1 : found->second;
}

// A Switch begins a part that may be skipped, a Merge ends it. An Enter begins a loop, whose values
// are no values outside of it; its Exits end both the loop and the part that its Switches begin.
// Such parts may lie in each other, so the depth is counted.
std::vector<bool> RunPhases::IsInside() const {
  std::vector<bool> inside(graph_.num_node_ids(), false);
  const absl::StatusOr<std::vector<NodeId>> order = OrderOf(graph_, run_);
  if (!order.ok()) return inside;  // a cycle: FindGroups finds it, too, and makes it one group
  std::vector<int> depth(graph_.num_node_ids(), 0);
  for (const NodeId n : *order) {
    bool begins_loop = false;
    for (const Output& from : graph_.inputs(n)) {
      if (IsLoopEdge(graph_, from.node, n)) {
        begins_loop = true;
      } else if (FeedOf(from) < 0) {
        depth[n] = std::max(depth[n], depth[from.node]);
      }
    }
    const OpFacts& facts = graph_.facts(n);
    if (IsSwitch(facts) || IsEnter(facts)) ++depth[n];
    if (IsMerge(facts) && !begins_loop) --depth[n];
    if (IsExit(facts)) depth[n] -= 2;
    depth[n] = std::max(depth[n], 0);
    inside[n] = depth[n] > 0;
  }
  return inside;
}

void RunPhases::FindGroups() {
  using Edges = boost::compressed_sparse_row_graph<boost::directedS>;
  const auto count = static_cast<size_t>(graph_.num_node_ids());
  const std::vector<bool> inside = IsInside();
  // From consumers to producers; both ways where the value cannot be kept.
  std::vector<std::pair<size_t, size_t>> reads;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!run_.Runs(n)) continue;
    for (const Output& from : graph_.inputs(n)) {
      if (!run_.Runs(from.node) || FeedOf(from) >= 0) continue;
      reads.emplace_back(n, from.node);
      if (inside[from.node]) reads.emplace_back(from.node, n);
    }
  }
  const Edges edges(boost::edges_are_unsorted_multi_pass, reads.begin(), reads.end(), count);
  group_of_.resize(count);
  // Boost numbers components in the order in which they are done, and what is read is done first.
  const size_t groups = boost::strong_components(
      edges, boost::make_iterator_property_map(group_of_.begin(), get(boost::vertex_index, edges)));
  groups_.resize(groups);
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (run_.Runs(n)) groups_[group_of_[n]].push_back(n);
  }
}

bool RunPhases::IsRepeated(NodeId n) const {
  if (!graph_.data_inputs(n).empty() || graph_.num_outputs(n) == 0) return false;
  if (graph_.op_name(n) == "Const") return true;
  if (graph_.attr(n, "shared_name") == nullptr) return false;
  // Other ops of a shared name do something with what the name stands for, as Unstage does.
  for (int i = 0; i < graph_.num_outputs(n); ++i) {
    const DataType type = graph_.output_type({n, i});
    if (type != DataType::kResource && !IsRef(type)) return false;
  }
  return true;
}

bool RunPhases::IsReady(NodeId n, const FedSet& fed, const std::vector<bool>& due) const {
  for (const Output& from : graph_.inputs(n)) {
    const int feed = FeedOf(from);
    if (feed >= 0 && !fed[feed]) return false;
    if (feed >= 0 || !run_.Runs(from.node) || group_of_[from.node] == group_of_[n]) continue;
    if (!due[from.node]) return false;
  }
  return true;
}

std::vector<bool> RunPhases::Due(const FedSet& fed) const {
  std::vector<bool> due(graph_.num_node_ids(), false);
  for (const std::vector<NodeId>& group : groups_) {
    const bool ready =
        std::all_of(group.begin(), group.end(), [&](NodeId n) { return IsReady(n, fed, due); });
    for (const NodeId n : group) due[n] = ready;
  }
  return due;
}

bool RunPhases::IsDue(Output output, const FedSet& fed, Output* missing) const {
  std::vector<bool> seen(graph_.num_node_ids(), false);
  std::vector<Output> stack = {output};
  while (!stack.empty()) {
    const Output o = stack.back();
    stack.pop_back();
    const int feed = FeedOf(o);
    if (feed >= 0 && !fed[feed]) {
      *missing = o;
      return false;
    }
    if (feed >= 0 || !run_.Runs(o.node)) continue;
    // What a group waits for, all of its nodes wait for.
    for (const NodeId n : groups_[group_of_[o.node]]) {
      if (seen[n]) continue;
      seen[n] = true;
      stack.insert(stack.end(), graph_.inputs(n).begin(), graph_.inputs(n).end());
    }
  }
  return true;
}

// Makes the graph of one phase, and notes what it takes and gives.
class RunPhases::Builder {
 public:
  Builder(const RunPhases& all, const std::vector<bool>& done, const std::vector<bool>& due)
      : all_(all), whole_(all.graph_), done_(done), due_(due), graph_(all.graph_) {
    for (const Output& fetch : all.request_.fetches) wanted_.insert(fetch);
  }

  absl::StatusOr<Phase> Build(Session& session) {
    for (NodeId n = 0; n < whole_.num_node_ids(); ++n) TENON_RETURN_IF_ERROR(ReadInputs(n));
    for (NodeId n = 0; n < whole_.num_node_ids(); ++n) {
      if (IsNow(n)) FetchResults(n);
    }
    // Behind the values, in whose order results come.
    fetches_.insert(fetches_.end(), targets_.begin(), targets_.end());
    if (fetches_.empty()) return phase_;
    TENON_ASSIGN_OR_RETURN(phase_.executable, session.PrepareOther(graph_, feeds_, fetches_));
    return std::move(phase_);
  }

 private:
  bool IsNow(NodeId n) const { return all_.run_.Runs(n) && due_[n] && !done_[n]; }

  absl::Status ReadInputs(NodeId n) {
    if (IsNow(n)) return ReadInputsNow(n);
    if (!all_.run_.Runs(n)) return absl::OkStatus();
    if (!due_[n]) {
      for (const Output& from : whole_.data_inputs(n)) {
        if (!all_.IsRepeated(from.node)) wanted_.insert(from);
      }
    } else if (all_.IsRepeated(n)) {
      graph_.SetInputs(n, {}, {});  // what it waited for is done
    }
    return absl::OkStatus();
  }

  absl::Status ReadInputsNow(NodeId n) {
    const std::span<const Output> inputs = whole_.data_inputs(n);
    std::vector<Output> data(inputs.begin(), inputs.end()), control;
    for (size_t i = 0; i < data.size(); ++i) {
      Output& from = data[i];
      if (all_.FeedOf(from) >= 0) {
        Feed(from, from);
      } else if (IsNow(from.node) || all_.IsRepeated(from.node)) {
        read_now_.insert(from.node);
      } else if (IsRef(whole_.input_type(n, static_cast<int>(i)))) {
        return NodeError(whole_, n,
                         absl::UnimplementedError(absl::StrCat(
                             "input ", i, " is a reference that an earlier call has made")));
      } else {
        from = PlaceholderOf(from);
      }
    }
    for (const Output& from : whole_.control_inputs(n)) {
      if (!IsNow(from.node)) continue;
      control.push_back(from);
      read_now_.insert(from.node);
    }
    graph_.SetInputs(n, data, control);
    return absl::OkStatus();
  }

  void FetchResults(NodeId n) {
    bool fetched = false;
    for (int32_t port = 0; port < whole_.num_outputs(n); ++port) {
      const Output output{n, port};
      if (!wanted_.contains(output) || all_.FeedOf(output) >= 0) continue;
      phase_.fetches.push_back(output);
      fetches_.push_back(TextOf(whole_, output));
      fetched = true;
    }
    if (!fetched && !read_now_.contains(n)) targets_.push_back(absl::StrCat("^", whole_.name(n)));
  }

  // The placeholder for a value of an earlier phase.
  Output PlaceholderOf(Output from) {
    const auto known = placeholders_.find(from);
    if (known != placeholders_.end()) return {known->second, 0};
    const std::string name =
        graph_.UniqueName(absl::StrCat("_partial_run/", whole_.name(from.node), "_", from.port));
    const DataType dtype = BaseType(whole_.output_type(from));
    const NodeId n = *graph_.AddNode(name, "Placeholder", {}, {{"dtype", attr::Type(dtype)}});
    placeholders_.emplace(from, n);
    Feed({n, 0}, from);
    return {n, 0};
  }

  // `output` of the phase's graph takes the value of `from` of the whole graph.
  void Feed(Output output, Output from) {
    if (!fed_.insert(from).second) return;
    phase_.feeds.push_back(from);
    feeds_.push_back(TextOf(graph_, output));
  }

  const RunPhases& all_;
  const Graph& whole_;
  const std::vector<bool>& done_;
  const std::vector<bool>& due_;
  Graph graph_;
  Phase phase_;
  std::vector<std::string> feeds_, fetches_, targets_;  // names in graph_
  absl::flat_hash_set<Output> wanted_;                  // fetched, or read by a later phase
  absl::flat_hash_set<Output> fed_;
  absl::flat_hash_set<NodeId> read_now_;  // whose readers in this phase make them run
  absl::flat_hash_map<Output, NodeId> placeholders_;
};

absl::StatusOr<const Phase*> RunPhases::Find(const FedSet* before, const FedSet& after,
                                             Session& session) {
  const std::pair<std::optional<FedSet>, FedSet> key(
      before == nullptr ? std::nullopt : std::optional(*before), after);
  const auto known = phases_.find(key);
  if (known != phases_.end()) return &known->second;
  const std::vector<bool> done =
      before == nullptr ? std::vector<bool>(graph_.num_node_ids(), false) : Due(*before);
  const std::vector<bool> due = Due(after);
  TENON_ASSIGN_OR_RETURN(Phase phase, Builder(*this, done, due).Build(session));
  return &phases_.emplace(key, std::move(phase)).first->second;
}

}  // namespace tenon::api
