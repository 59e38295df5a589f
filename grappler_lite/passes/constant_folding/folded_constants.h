// Constants that one run of folding makes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

// A node becomes a Const at once. Its value is written into the graph, whose storage only grows,
// when the run is over, and only if somebody still uses it: what lies between the ends of a chain
// goes as soon as the last of its users is done.
class FoldedConstants {
 public:
  // `uses` are those of before the run, `preserve` the nodes that stay whoever uses them.
  FoldedConstants(Graph& graph, const Fanouts& uses, const absl::flat_hash_set<NodeId>& preserve);

  // Whether there are constants of such values.
  static bool CanHold(const Tensor& value);
  // For values that can be held: n becomes a Const; it uses its data inputs no longer.
  void BecomeConst(NodeId n, const Tensor& value);
  // A new node for those that use an output of a node of several. It waits for `controls`.
  absl::StatusOr<NodeId> AddConst(std::string_view name, Output output, const Tensor& value,
                                  absl::Span<const Output> controls);
  // All that use node n's data will use other nodes when the run is over.
  void Replace(NodeId n);
  // Node n stays, whoever uses its data.
  void Keep(NodeId n) { stays_[n] = true; }

  // Whether nodes that are not folded use n's data.
  bool HasReaders(NodeId n) const { return uses_left_[n] > 0; }
  // The value of a node that this run made a constant, null for others.
  const Tensor* Find(NodeId n) const {
    const auto it = values_.find(n);
    return it == values_.end() ? nullptr : &it->second;
  }

  // Writes the values that are used and removes the nodes that are not.
  void Finish();

 private:
  void Hold(NodeId n, const Tensor& value);
  void DropInputs(NodeId n);
  uint32_t CountUses(Output output);
  bool IsUsed(NodeId n) const { return stays_[n] || uses_left_[n] > 0; }

  Graph& g_;
  const Fanouts& uses_;
  std::vector<uint32_t> uses_left_;  // by node id: of its data, by nodes that are not folded yet
  std::vector<bool> stays_;          // by node id
  std::vector<NodeId> made_;         // in their order
  absl::flat_hash_map<NodeId, Tensor> values_;
  std::vector<NodeId> replaced_;
  NodeId counted_ = kNoNode;  // whose uses by output were counted last
  std::vector<uint32_t> uses_by_output_;
};

}  // namespace tenon
