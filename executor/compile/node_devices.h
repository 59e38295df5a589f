// The devices that run nodes one by one, apart from those that compile.
#pragma once

#include <vector>

#include "executor/compile/stages.h"

namespace tenon {

// A context without the devices that compile, for the stages behind FormClusters. Must not outlive
// the context that it is made from.
class NodeDevices {
 public:
  explicit NodeDevices(const CompileContext& context);
  NodeDevices(const NodeDevices&) = delete;
  NodeDevices& operator=(const NodeDevices&) = delete;

  // The given context itself if all its devices run nodes.
  const CompileContext& context() const { return all_run_nodes_ ? whole_ : context_; }

 private:
  const CompileContext& whole_;
  SessionOptions options_;
  std::vector<Device*> devices_;
  const bool all_run_nodes_;
  const CompileContext context_;
};

}  // namespace tenon
