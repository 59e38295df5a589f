// Each run has a session of its own, with all passes off, so that no state of one run reaches
// another one.

#include "executor/proof/graph_runner.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {

GraphRunner::GraphRunner(std::vector<Device*> devices, SessionOptions options,
                         std::vector<std::string> inits)
    : devices_(std::move(devices)), options_(std::move(options)), inits_(std::move(inits)) {
  options_.opt_level = 0;  // a pass in the runner would hide what the pass before it did
  options_.pipeline = {};
  // Seed 0 would give random ops other values in each session.
  if (options_.seed == 0) options_.seed = 1;
}

namespace {

// Fetches only `others`, which are some of `fetches`, in order; the rest have no value.
// Initializers among the fetches have run already and must not run twice.
absl::StatusOr<std::vector<Tensor>> RunOthers(Session& session, const InputSet& inputs,
                                              const std::vector<std::string>& fetches,
                                              const std::vector<std::string>& others) {
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> values, session.Run(inputs.feeds, others));
  std::vector<Tensor> all(fetches.size());
  for (size_t i = 0, next = 0; i < fetches.size() && next < others.size(); ++i) {
    if (fetches[i] == others[next]) all[i] = std::move(values[next++]);
  }
  return all;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> GraphRunner::Run(
    const Graph& graph, const InputSet& inputs, const std::vector<std::string>& fetches) const {
  SessionOptions options = options_;
  options.max_loop_passes = inputs.max_loop_passes;
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Create(graph, devices_, options));
  if (holder_ != nullptr)
    TENON_RETURN_IF_ERROR(CopyState(graph, holder_->resources(), session->resources()));
  TENON_RETURN_IF_ERROR(made_up_->Fill(graph, session->resources()));
  std::vector<std::string> others = fetches;
  for (const std::string& init : inits_) {
    const std::string fetch = absl::StrCat("^", init);
    std::erase(others, fetch);
    if (graph.FindNode(init) != kNoNode) TENON_RETURN_IF_ERROR(session->Run({}, {fetch}).status());
  }
  if (others.size() == fetches.size()) return session->Run(inputs.feeds, fetches);
  return RunOthers(*session, inputs, fetches, others);
}

Answer GraphRunner::RunApart(const Graph& graph, const InputSet& inputs,
                             absl::Span<const std::string> fetches) const {
  return AnswerApart(
      fetches, [&](const std::vector<std::string>& some) { return Run(graph, inputs, some); });
}

absl::StatusOr<Graph> GraphRunner::WithCallsInlined(const Graph& graph, const InputSet& inputs,
                                                    const std::vector<std::string>& fetches) const {
  SessionOptions options = options_;
  options.opt_level = 1;
  options.pipeline.min_graph_nodes = -1;  // small graphs too
  options.pipeline.passes = {{"function_optimization", {}}};
  std::vector<std::string> feeds;
  for (const auto& [name, value] : inputs.feeds) feeds.push_back(name);
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(graph, devices_, options));
  TENON_ASSIGN_OR_RETURN(const Executable* executable, session->Prepare(feeds, fetches));
  return GraphToWrite(*executable, graph);
}

std::string GraphRunner::FirstDifference(const Graph& before, const Graph& after,
                                         const InputSet& inputs, Sameness sameness) const {
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(after);
  if (!order.ok()) return "";
  absl::flat_hash_set<std::string_view> fed;
  for (const auto& [name, value] : inputs.feeds) fed.insert(absl::StripSuffix(name, ":0"));
  std::vector<std::string> names;
  for (NodeId n : *order) {
    if (IsControlFlow(after.facts(n))) return "";  // values may be dead, and cannot be fetched
    const NodeId was = before.FindNode(after.name(n));
    if (was == kNoNode) continue;
    for (int i = 0; i < std::min(after.num_outputs(n), before.num_outputs(was)); ++i) {
      const DataType type = after.output_type({n, i});
      const bool has_value = IsMemcpyable(type) || type == DataType::kString;
      const bool is_fed = fed.contains(absl::StripSuffix(after.OutputName({n, i}), ":0"));
      if (has_value && !is_fed && type == before.output_type({was, i}))
        names.push_back(after.OutputName({n, i}));
    }
  }
  // One run gives the values of all nodes: a run per node would take a session for each.
  const Answer was = RunApart(before, inputs, names), is = RunApart(after, inputs, names);
  const auto is_error_hidden = [&](size_t i) {  // the runs of many may have failed for another
    return is[i].ok() && !Run(before, inputs, {names[i]}).ok();
  };
  for (size_t i = 0; i < names.size(); ++i) {
    if (!was[i].ok() && is_error_hidden(i)) return names[i];
    if (!was[i].ok()) continue;
    if (!is[i].ok() || FindDifference(*was[i], *is[i], sameness)) return names[i];
  }
  return "";
}

}  // namespace tenon
