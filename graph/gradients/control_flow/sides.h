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
// known by the predicate: all Switch nodes of one predicate are one branch. A side is a number from
// 0 on. A value in a loop, and what an Exit makes, has the side of the loop's Enter nodes: what is
// alive within a loop is a matter of the loop.
class Sides {
 public:
  // Behind no Switch: alive in each run. Also what a Merge makes of an input that is kSeveral.
  static constexpr int kNone = -1;
  // On two sides, neither of which is within the other: dead in each run if they are the two sides
  // of one predicate, else alive in the runs that take both.
  static constexpr int kSeveral = -2;
  struct Side {
    int outer;         // the side that this one is within; kNone: it is within none
    Output predicate;  // OriginalOf the Switch's
    int port;  // of the Switch: 0, behind which values are alive if the predicate is false, or 1
  };

  // Errors are those of TopologicalOrder. Linear in the graph, times the depth of branches in
  // branches.
  static absl::StatusOr<Sides> Find(const Graph& graph);

  // The side of the value: a number, kNone or kSeveral. kNone for nodes that came later.
  int Of(const Graph& graph, Output o) const;
  // i: a number that Of, Side::outer or Chain gave, not kNone or kSeveral.
  const Side& side(int i) const { return sides_[i]; }
  // The output from which `o` comes by Identity nodes alone; `o` itself if no Identity made it.
  // Switch nodes of one branch read the same predicate, each by way of an Identity of its own.
  static Output OriginalOf(const Graph& graph, Output o);
  // Follows from side i outward to the side of a Switch of `predicate` (OriginalOf), and returns
  // its port. -1 if no Switch of the predicate is around side i, and for kNone and kSeveral.
  int PortOf(int i, Output predicate) const;
  // The sides around side i from the outermost to i itself. Empty for kNone and kSeveral.
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
