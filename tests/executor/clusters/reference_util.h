// Sessions whose nodes the reference plug-in for PJRT compiles.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/clusters/runnable_cluster.h"
#include "executor/session/session.h"

namespace tenon::testing {

// Loads the plug-in, and unloads it with its devices at the end. Sessions must be gone by then.
class ReferencePlugin {
 public:
  // `options`: of the client, as "compile_ms=100".
  explicit ReferencePlugin(const std::vector<std::string>& options = {});
  ~ReferencePlugin();
  ReferencePlugin(const ReferencePlugin&) = delete;
  ReferencePlugin& operator=(const ReferencePlugin&) = delete;

  // On one thread, at opt_level 0. All nodes are compiled. The order of nodes that do not need one
  // another is drawn by `order_seed`, if there is one.
  std::unique_ptr<Session> Open(const std::string& text, const ClusterOptions& clusters,
                                std::optional<uint64_t> order_seed = std::nullopt) const;

 private:
  std::vector<Device*> devices_;
};

// What the clusters of an executable did so far.
std::vector<ClusterRuns> RunsOf(const Executable& executable);

// How `is` differs from `right` by more than rounding; nothing if it does not.
std::optional<std::string> Difference(const Tensor& right, const Tensor& is);

}  // namespace tenon::testing
