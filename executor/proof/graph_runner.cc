#include "executor/proof/graph_runner.h"

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
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                         Session::Create(graph, devices_, options_));
  return session->Run(feeds, fetches);
}

}  // namespace tenon
