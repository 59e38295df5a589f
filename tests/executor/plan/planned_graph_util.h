// All that a plan is made from, for tests of single stages.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/plan/base/plan_input.h"
#include "executor/run/kernel_states.h"
#include "graph/ir/graph.h"
#include "plugin/cpu/base/workers.h"

namespace tenon::testing {

// Of a text, all of whose nodes are run on the host; feeds are the outputs 0 of these nodes.
// Defects fail the test.
class PlannedGraph {
 public:
  // With more than one thread, nodes may run at the same time wherever results allow it.
  explicit PlannedGraph(std::string text, std::vector<std::pair<std::string, Shape>> feeds = {},
                        std::vector<std::string> fetches = {}, int threads = 1);

  const Graph& graph() const { return graph_; }
  NodeId node(std::string_view name) const;
  const PlanInput& input() const { return *input_; }
  void SetInterOp(InterOp inter_op) { input_->inter_op = inter_op; }
  void SetOrder(NodeOrder order) { input_->order = order; }
  ConstStore& constants() { return constants_; }
  void Place(std::string_view name, Device* device) { devices_[node(name)] = device; }

 private:
  const Graph graph_;
  const std::unique_ptr<Device> host_ = MakeCpuDevice();
  CallSites calls_;
  Schedule schedule_;
  std::vector<bool> fed_only_;
  std::vector<Device*> devices_;
  std::vector<Output> feeds_, fetches_;
  std::vector<FeedSpec> feed_specs_;
  std::vector<std::string> fetch_names_;
  ConstStore constants_;
  KernelStore kernels_;
  ShapePromises promises_;
  KernelStates session_;
  LatePreparations late_;
  Workers workers_;
  std::unique_ptr<PlanInput> input_;
};

}  // namespace tenon::testing
