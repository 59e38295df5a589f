#include "tests/executor/plan/planned_graph_util.h"

#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon::testing {

PlannedGraph::PlannedGraph(std::string text, std::vector<std::pair<std::string, Shape>> feeds,
                           std::vector<std::string> fetches, int threads)
    : graph_(Parse(std::move(text))),
      fed_only_(graph_.num_node_ids(), false),
      devices_(graph_.num_node_ids(), host_.get()),
      fetch_names_(std::move(fetches)),
      constants_(graph_),
      kernels_(KernelRegistry::Global()),
      workers_(threads) {
  for (auto& [name, shape] : feeds) {
    const Output feed{node(name), 0};
    feeds_.push_back(feed);
    feed_specs_.push_back({BaseType(graph_.output_type(feed)), std::move(shape)});
    fed_only_[feed.node] = true;
  }
  for (const std::string& name : fetch_names_) {
    const absl::StatusOr<Output> fetch = graph_.ParseOutput(name);
    EXPECT_TRUE(fetch.ok()) << fetch.status();
    fetches_.push_back(fetch.value_or(Output()));
  }
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(graph_);
  EXPECT_TRUE(order.ok()) << order.status();
  absl::StatusOr<Schedule> schedule =
      MakeSchedule(graph_, order.value_or(std::vector<NodeId>()), fed_only_);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  if (schedule.ok()) schedule_ = *std::move(schedule);
  input_ = std::make_unique<PlanInput>(
      PlanInput{graph_, calls_, schedule_, fed_only_, devices_, feeds_, feed_specs_, fetches_,
                fetch_names_, host_.get(), constants_, kernels_, promises_, session_, late_,
                workers_, threads > 1 ? InterOp::kAlways : InterOp::kOff, 60});
}

NodeId PlannedGraph::node(std::string_view name) const {
  const NodeId n = graph_.FindNode(name);
  EXPECT_NE(n, kNoNode) << name;
  return n;
}

}  // namespace tenon::testing
