// Which nodes are put together, and that the graph of clusters has no cycle.
#include "executor/clusters/find_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "executor/compile/request.h"
#include "tests/executor/bare_device_util.h"
#include "tests/support/parse_graph.h"

namespace tenon::find_clusters_test {
namespace {

using ::testing::SizeIs;

class CompilingDevice : public testing::BareDevice {
 public:
  std::string_view type() const override { return "PJRT_TEST"; }
  bool compiles() const override { return true; }
};

class FindClustersTest : public ::testing::Test {
 protected:
  // All nodes are on the device that compiles, but for those with "host" in their names.
  void Find(const std::string& text, const std::vector<std::string>& feeds,
            const std::vector<std::string>& fetches) {
    graph_ = std::make_shared<const Graph>(testing::Parse(text));
    const absl::StatusOr<Request> request = ResolveRequest(*graph_, feeds, fetches);
    ASSERT_TRUE(request.ok()) << request.status();
    const absl::StatusOr<RunSet> run = FindRunSet(*graph_, *request);
    ASSERT_TRUE(run.ok()) << run.status();
    const absl::StatusOr<std::vector<NodeId>> order = OrderOf(*graph_, *run);
    ASSERT_TRUE(order.ok()) << order.status();
    order_ = *order;
    std::vector<NodePlacement> placement(graph_->num_node_ids());
    std::vector<bool> runs(graph_->num_node_ids());
    for (const NodeId n : order_) {
      runs[n] = run->Runs(n);
      const bool host = graph_->name(n).find("host") != std::string_view::npos;
      placement[n].device = host ? host_.get() : &device_;
    }
    found_ =
        FindClusters({graph_, placement, order_, runs, request->feeds, request->fetches, policy_});
  }

  int32_t Of(std::string_view node) const { return found_.map.of[graph_->FindNode(node)]; }
  NoCluster Why(std::string_view node) const { return found_.map.why[graph_->FindNode(node)]; }
  std::vector<std::string> Names(const std::vector<Output>& outputs) const {
    std::vector<std::string> names;
    for (const Output& o : outputs) names.push_back(graph_->OutputName(o));
    return names;
  }

  const std::unique_ptr<Device> host_ = MakeCpuDevice();
  CompilingDevice device_;
  ClusterPolicy policy_;
  std::shared_ptr<const Graph> graph_;
  std::vector<NodeId> order_;
  FoundClusters found_;
};

std::string Node(std::string_view name, std::string_view op, const std::vector<std::string>& inputs,
                 std::string_view attr = "T") {
  std::string text = absl::StrCat("node { name: '", name, "' op: '", op, "'");
  for (const std::string& input : inputs) absl::StrAppend(&text, " input: '", input, "'");
  return absl::StrCat(text, " attr { key: '", attr, "' value { type: DT_FLOAT } } }\n");
}

std::string Feed(std::string_view name) { return Node(name, "Placeholder", {}, "dtype"); }

std::string Const(std::string_view name) {
  return absl::StrCat("node { name: '", name,
                      "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
                      "'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } "
                      "} }\n");
}

TEST_F(FindClustersTest, AChainIsOneClusterWithItsConstants) {
  Find(Feed("x") + Const("c") + Node("a", "AddV2", {"x", "c"}) + Node("b", "Relu", {"a"}), {"x"},
       {"b"});
  ASSERT_THAT(found_.clusters, SizeIs(1));
  EXPECT_EQ(Of("a"), 0);
  EXPECT_EQ(Of("b"), 0);
  EXPECT_EQ(Of("c"), 0);
  EXPECT_EQ(Of("x"), -1);
  EXPECT_EQ(Why("x"), NoCluster::kFed);
  EXPECT_EQ(Names(found_.clusters[0].arguments), std::vector<std::string>{"x"});
  EXPECT_EQ(Names(found_.clusters[0].results), std::vector<std::string>{"b"});
}

// a -> host -> d, and a -> d: a and d in one cluster would be a cycle.
TEST_F(FindClustersTest, AWayThroughTheHostSplitsACluster) {
  Find(Feed("x") + Node("a", "Relu", {"x"}) + Node("host", "Relu", {"a"}) +
           Node("b", "Exp", {"a"}) + Node("d", "AddV2", {"b", "host"}),
       {"x"}, {"d"});
  ASSERT_THAT(found_.clusters, SizeIs(2));
  EXPECT_EQ(Of("a"), Of("b"));
  EXPECT_NE(Of("a"), Of("d"));
  EXPECT_EQ(Of("host"), -1);
}

// The same where the way is a control edge.
TEST_F(FindClustersTest, AControlEdgeThroughTheHostSplitsACluster) {
  Find(Feed("x") + Node("a", "Relu", {"x"}) + Node("host", "Relu", {"x", "^a"}) +
           Node("d", "Exp", {"a", "^host"}),
       {"x"}, {"d"});
  EXPECT_NE(Of("a"), Of("d"));
}

TEST_F(FindClustersTest, WhatComputesNothingStaysOnTheHost) {
  Find(Feed("x") + Node("i", "Identity", {"x"}) + Node("host", "Relu", {"i"}), {"x"}, {"host"});
  EXPECT_THAT(found_.clusters, SizeIs(0));
  EXPECT_EQ(Why("i"), NoCluster::kTrivial);
}

// Both sides of a branch of version 1 must not be in one program: one of them is dead.
TEST_F(FindClustersTest, BranchesAreApart) {
  const std::string text =
      Feed("x") +
      "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } }\n" +
      Node("host_switch", "Switch", {"x", "p"}) + Node("f", "Exp", {"host_switch"}) +
      Node("t", "Relu", {"host_switch:1"}) + Node("u", "Relu", {"x"}) +
      Node("g", "AddV2", {"f", "x"}) + "node { name: 'host_merge' op: 'Merge' input: 'g' input: " +
      "'t' attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } } }\n";
  Find(text, {"x", "p"}, {"host_merge", "u"});
  EXPECT_NE(Of("f"), Of("t"));
  EXPECT_EQ(Of("f"), Of("g"));
  EXPECT_NE(Of("u"), Of("f"));  // u is alive where f is dead
}

TEST_F(FindClustersTest, ThePolicyLeavesNodesOut) {
  const std::string text = Feed("x") + Node("a", "Relu", {"x"}) + Node("b", "Exp", {"a"}) +
                           Node("c", "Relu", {"b"}) + Node("d", "Relu", {"c"});
  policy_.cluster_exclude_ops = {"Exp"};
  Find(text, {"x"}, {"d"});
  EXPECT_THAT(found_.clusters, SizeIs(2));
  EXPECT_EQ(Why("b"), NoCluster::kOpList);
  policy_ = ClusterPolicy();
  policy_.clustering_fuel = 2;
  Find(text, {"x"}, {"d"});
  EXPECT_EQ(Of("a"), Of("b"));
  EXPECT_EQ(Why("c"), NoCluster::kFuel);
  policy_ = ClusterPolicy();
  policy_.mode = XlaMode::kOff;
  Find(text, {"x"}, {"d"});
  EXPECT_THAT(found_.clusters, SizeIs(0));
  EXPECT_EQ(Why("a"), NoCluster::kOff);
  // A node that must be compiled is, in every mode.
  Find(absl::StrReplaceAll(
           text, {{"op: 'Exp'", "op: 'Exp' attr { key: '_XlaMustCompile' value { b: true } }"}}),
       {"x"}, {"d"});
  EXPECT_THAT(found_.clusters, SizeIs(1));
  EXPECT_GE(Of("b"), 0);
  EXPECT_EQ(Why("a"), NoCluster::kOff);
}

// Contracts clusters, and looks for a cycle.
bool HasCycle(const Graph& graph, const std::vector<NodeId>& order, const ClusterMap& map) {
  const auto owner = [&](NodeId n) {
    return map.of[n] >= 0 && graph.op_name(n) != "Const" ? graph.num_node_ids() + map.of[n] : n;
  };
  std::vector<std::vector<int32_t>> next(2 * static_cast<size_t>(graph.num_node_ids()));
  std::vector<int32_t> waits(next.size(), 0);
  for (const NodeId n : order) {
    for (const Output& from : graph.inputs(n)) {
      if (owner(from.node) == owner(n)) continue;
      next[owner(from.node)].push_back(owner(n));
      ++waits[owner(n)];
    }
  }
  std::vector<int32_t> ready;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i] == 0) ready.push_back(static_cast<int32_t>(i));
  }
  size_t seen = 0;
  for (; seen < ready.size(); ++seen) {
    for (const int32_t to : next[ready[seen]]) {
      if (--waits[to] == 0) ready.push_back(to);
    }
  }
  return seen != waits.size();
}

TEST_F(FindClustersTest, RandomGraphsHaveNoCycleOfClusters) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> names = {"x"};
    std::string text = Feed("x");
    for (int i = 0; i < 40; ++i) {
      const std::string name = absl::StrCat(random() % 4 == 0 ? "host" : "n", i);
      const auto any = [&] { return names[random() % names.size()]; };
      std::vector<std::string> inputs = {any(), any()};
      if (random() % 5 == 0) inputs.push_back("^" + any());
      text += Node(name, "AddV2", inputs);
      names.push_back(name);
    }
    policy_.max_cluster_size = seed % 2 == 0 ? 5 : 1000;
    Find(text, {"x"}, {names.end() - 10, names.end()});
    for (const Cluster& cluster : found_.clusters)
      EXPECT_LE(static_cast<int64_t>(cluster.nodes.size()), policy_.max_cluster_size);
    EXPECT_FALSE(HasCycle(*graph_, order_, found_.map)) << "seed " << seed;
    for (const NodeId n : order_) {
      const bool host = graph_->name(n).starts_with("host") || graph_->name(n) == "x";
      // What only control edges need gives no value to anybody.
      const bool trivial = found_.map.why[n] == NoCluster::kTrivial;
      EXPECT_EQ(found_.map.of[n] < 0, host || trivial) << graph_->name(n);
    }
  }
}

}  // namespace
}  // namespace tenon::find_clusters_test
