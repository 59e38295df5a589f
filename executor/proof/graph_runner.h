// Runs graphs just as they are, so that their answers can be compared.
#pragma once

#include <string>
#include <vector>

#include "executor/session.h"

namespace tenon {

class GraphRunner {
 public:
  // Of `options` all counts but what concerns the optimizer; random ops without a seed get one, so
  // that they answer the same twice. The devices outlive the runner.
  GraphRunner(std::vector<Device*> devices, SessionOptions options);

  // One run in a session of its own.
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Session::NamedTensor>& feeds,
                                          const std::vector<std::string>& fetches) const;

 private:
  std::vector<Device*> devices_;
  SessionOptions options_;
};

}  // namespace tenon
