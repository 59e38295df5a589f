#include "executor/session/ordinary_kernels.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/base/status_macros.h"

namespace tenon {
namespace {

class HostKernels : public OrdinaryKernels {
 public:
  explicit HostKernels(const SessionParts& parts)
      : options_(parts.options),
        host_(parts.host),
        parts_{
            options_,     {&host_, 1},  parts.host,      parts.registry, parts.workers,
            parts.states, parts.arenas, parts.next_step, parts.fixed,    parts.states_live_longer} {
    options_.placer = PlacerOptions();
    // Of the session's own graph alone.
    options_.watch = nullptr;
  }

  absl::Status Prepare(const Cluster& cluster) {
    Graph graph = *cluster.graph;
    std::vector<std::string> feeds, fetches;
    for (const auto* values : {&cluster.constants, &cluster.arguments}) {
      for (const Output& o : *values) feeds.push_back(graph.OutputName(o));
    }
    for (const Output& o : cluster.results) fetches.push_back(graph.OutputName(o));
    for (const NodeId n : cluster.nodes) graph.SetDevice(n, "");
    TENON_ASSIGN_OR_RETURN(executable_, Executable::Make(graph, feeds, fetches, parts_));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs) override {
    return executable_->Run(inputs, nullptr);
  }

 private:
  SessionOptions options_;
  Device* const host_;
  const SessionParts parts_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace

OrdinaryKernelsFactory OrdinaryKernelsOf(const SessionParts& parts) {
  return [parts](const Cluster& cluster) -> absl::StatusOr<std::unique_ptr<OrdinaryKernels>> {
    auto kernels = std::make_unique<HostKernels>(parts);
    TENON_RETURN_IF_ERROR(kernels->Prepare(cluster));
    return kernels;
  };
}

}  // namespace tenon
