#include "executor/proof/graph_runner.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/proof/made_up_state.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {

GraphRunner::GraphRunner(std::vector<Device*> devices, SessionOptions options)
    : devices_(std::move(devices)), options_(std::move(options)) {
  options_.opt_level = 0;
  options_.pipeline = {};
  if (options_.seed == 0) options_.seed = 1;
}

absl::StatusOr<std::vector<Tensor>> GraphRunner::Run(
    const Graph& graph, const std::vector<Session::NamedTensor>& feeds,
    const std::vector<std::string>& fetches) const {
  Graph with_state = graph;
  TENON_ASSIGN_OR_RETURN(const std::string initialize, AddMadeUpState(with_state));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Create(std::move(with_state), devices_, options_));
  if (!initialize.empty())
    TENON_RETURN_IF_ERROR(session->Run({}, {absl::StrCat("^", initialize)}).status());
  return session->Run(feeds, fetches);
}

Answer GraphRunner::RunApart(const Graph& graph, const std::vector<Session::NamedTensor>& feeds,
                             absl::Span<const std::string> fetches) const {
  return AnswerApart(fetches,
                     [&](const std::vector<std::string>& some) { return Run(graph, feeds, some); });
}

std::string GraphRunner::FirstDifference(const Graph& before, const Graph& after,
                                         const std::vector<Session::NamedTensor>& feeds,
                                         Sameness sameness) const {
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(after);
  if (!order.ok()) return "";
  absl::flat_hash_set<std::string_view> fed;
  for (const auto& [name, value] : feeds) fed.insert(name);
  std::vector<std::string> names;
  for (NodeId n : *order) {
    if (IsControlFlowOp(after.op_name(n))) return "";  // values may be dead, and cannot be fetched
    const NodeId was = before.FindNode(after.name(n));
    if (was == kNoNode || fed.contains(after.name(n))) continue;
    for (int i = 0; i < std::min(after.num_outputs(n), before.num_outputs(was)); ++i) {
      const DataType type = after.output_type({n, i});
      const bool has_value = IsMemcpyable(type) || type == DataType::kString;
      if (has_value && type == before.output_type({was, i}))
        names.push_back(after.OutputName({n, i}));
    }
  }
  const Answer was = RunApart(before, feeds, names), is = RunApart(after, feeds, names);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!was[i].ok()) continue;
    if (!is[i].ok() || FindDifference(*was[i], *is[i], sameness)) return names[i];
  }
  return "";
}

}  // namespace tenon
