// Branches of version 1 in a graph: values behind a Switch, up to the Merge, are dead in some runs.
// Private to graph/gradients/.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

// For each value the side of a Switch that it lies on, of the innermost Switch around it. Sides are
// known by the predicate: all Switch nodes of one predicate are one branch.
class Sides {
 public:
  static constexpr int kNone = -1;  // alive in each run
  static constexpr int kSeveral =
      -2;  // on sides of which neither is within the other: dead, or unknown
  struct Side {
    int outer;
    Output predicate;
    int port;  // of the Switch
  };

  // Errors are those of TopologicalOrder. Linear in the graph, times the depth of branches in
  // branches.
  static absl::StatusOr<Sides> Find(const Graph& graph);

  // kNone for nodes that came later.
  int Of(const Graph& graph, Output o) const;
  const Side& side(int i) const { return sides_[i]; }
  // The predicate that a branch has for all its Switch nodes: what `o` hands on by Identity nodes.
  static Output OriginalOf(const Graph& graph, Output o);
  // The port behind which values of side i lie of a Switch of the predicate; -1: behind neither.
  int PortOf(int i, Output predicate) const;
  // The sides around side i from the outermost to i itself.
  std::vector<int> Chain(int i) const;

 private:
  int Within(int outer, Output predicate, int port);
  int Innermost(int a, int b) const;
  int Common(int a, int b) const;
  bool IsWithin(int inner, int outer) const;
  int Depth(int side) const { return side < 0 ? 0 : depth_[side]; }
  int OfNode(const Graph& graph, NodeId n) const;

  std::vector<Side> sides_;
  std::vector<int> depth_;
  std::vector<int> of_;                      // by node: where it runs
  absl::flat_hash_map<Output, int> behind_;  // of outputs of Switch nodes
  absl::flat_hash_map<std::pair<int, Output>, int> known_[2];
};

// Whether the graph has branches or loops of version 1.
bool HasSwitch(const Graph& graph);

}  // namespace tenon::gradients
