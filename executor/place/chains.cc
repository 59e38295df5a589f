// Greedy placement of single nodes would never leave the first lane, since each step alone is not
// worth a crossing: so chains are drawn first.

#include "executor/place/chains.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"

namespace tenon {
namespace {

class ChainScheduler {
 public:
  ChainScheduler(absl::Span<const ChainNode> nodes, int node_units, int crossing_units)
      : nodes_(nodes), node_units_(node_units), crossing_units_(crossing_units) {}

  std::vector<int32_t> Run() {
    DrawChains();
    FindPaths();
    std::vector<int32_t> order(chains_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](int32_t i) { return chains_[i].path; });
    for (const int32_t i : order) Decide(chains_[i]);
    std::vector<int32_t> lanes;
    for (const int32_t chain : chain_of_) lanes.push_back(chains_[chain].lane);
    return lanes;
  }

 private:
  // Of nodes with a choice, or one other node.
  struct Chain {
    std::vector<int32_t> after;                   // chains, which stand before this one
    const std::vector<int32_t>* lanes = nullptr;  // as of its nodes
    int32_t lane = 0;
    int units = 0;
    int path = 0;  // of it and all behind it
    int end = 0;   // when it is done
  };

  void DrawChains() {
    std::vector<int32_t> readers(nodes_.size(), 0);
    for (const ChainNode& node : nodes_) {
      for (const int32_t before : node.after) ++readers[before];
    }
    for (const ChainNode& node : nodes_) {
      const bool follows = node.lanes != nullptr && node.after.size() == 1 &&
                           readers[node.after[0]] == 1 &&
                           chains_[chain_of_[node.after[0]]].lanes == node.lanes;
      const int32_t chain =
          follows ? chain_of_[node.after[0]] : static_cast<int32_t>(chains_.size());
      if (!follows) {
        Chain& drawn = chains_.emplace_back();
        drawn.lanes = node.lanes;
        drawn.lane = node.lane;
        for (const int32_t before : node.after) drawn.after.push_back(chain_of_[before]);
      }
      chain_of_.push_back(chain);
      if (node.lanes != nullptr) chains_[chain].units += node_units_;
    }
  }

  void FindPaths() {
    for (size_t i = chains_.size(); i-- > 0;) {
      Chain& chain = chains_[i];
      chain.path += chain.units;  // it held the longest path of those behind it
      for (const int32_t before : chain.after)
        chains_[before].path = std::max(chains_[before].path, chain.path);
    }
  }

  int ReadyOn(const Chain& chain, int32_t lane) const {
    int ready = 0;
    for (const int32_t i : chain.after) {
      const Chain& before = chains_[i];
      ready = std::max(ready, before.end + (before.lane == lane ? 0 : crossing_units_));
    }
    return ready;
  }

  void Decide(Chain& chain) {
    if (chain.lanes == nullptr) {
      chain.end = ReadyOn(chain, chain.lane);
      return;
    }
    const auto end_on = [&](int32_t lane) {
      return std::max(ReadyOn(chain, lane), free_[lane]) + chain.units;
    };
    chain.lane = *std::ranges::min_element(*chain.lanes, {}, end_on);
    chain.end = free_[chain.lane] = end_on(chain.lane);
  }

  const absl::Span<const ChainNode> nodes_;
  const int node_units_, crossing_units_;
  std::vector<Chain> chains_;               // those that others come after first
  std::vector<int32_t> chain_of_;           // by node
  absl::flat_hash_map<int32_t, int> free_;  // by lane: when it has done its chains
};

}  // namespace

std::vector<int32_t> ProducersOf(const Graph& graph, NodeId n, absl::Span<const int32_t> index_of) {
  std::vector<int32_t> producers;
  for (const Output& from : graph.inputs(n)) {
    if (from.node != kNoNode && index_of[from.node] >= 0 && graph.num_inputs(from.node) > 0)
      producers.push_back(index_of[from.node]);
  }
  std::ranges::sort(producers);
  producers.erase(std::ranges::unique(producers).begin(), producers.end());
  return producers;
}

std::vector<int32_t> LanesOfChains(absl::Span<const ChainNode> nodes, int node_units,
                                   int crossing_units) {
  return ChainScheduler(nodes, node_units, crossing_units).Run();
}

}  // namespace tenon
