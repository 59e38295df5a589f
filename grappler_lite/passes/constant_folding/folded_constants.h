// Holds the constants that one run of constant folding makes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon {

// A node becomes a Const at once, but Finish writes its value into the graph, and only if a node
// still uses the value. Storage of a graph never shrinks, so that values inside a chain must not
// get there: such a value is freed as soon as its last user is folded. During the run only AddConst
// may add nodes to the graph. Not thread-safe.
class FoldedConstants {
 public:
  // `uses`: the uses of nodes before the run. `preserve`: nodes that stay, used or not; nodes that
  // control edges leave stay too. `graph` and `uses` must outlive the object.
  FoldedConstants(Graph& graph, const Fanouts& uses, const absl::flat_hash_set<NodeId>& preserve);

  // Whether a Const can hold the value: the tensor is initialized, and has strings or elements that
  // can be copied as bytes.
  static bool CanHold(const Tensor& value);
  // Turns n, which must have one output, into a Const of `value`, for which CanHold must be true. n
  // loses its data inputs and keeps its control inputs.
  void BecomeConst(NodeId n, const Tensor& value);
  // Adds a Const of `value` with these control inputs, in place of `output`, which is one of
  // several outputs of a node. `name` must be free. The caller moves the uses: all that `output`
  // had before the run count as uses of the new node. The device is the one of output's node. The
  // nodes of `controls` stay. Returns the graph's error if the node cannot be added.
  absl::StatusOr<NodeId> AddConst(std::string_view name, Output output, const Tensor& value,
                                  absl::Span<const Output> controls);
  // States that no node uses n's data when the run is over: Finish removes n, unless n stays
  // already.
  void Replace(NodeId n);
  // Makes node n stay, used or not.
  void Keep(NodeId n) { stays_[n] = true; }

  // Whether a node that is not folded uses n's data. Uses that moved to a node of AddConst still
  // count as uses of n.
  bool HasReaders(NodeId n) const { return uses_left_[n] > 0; }
  // The value of a node that this run has made a Const; null for other nodes and for values that
  // nothing uses. Valid until the next call that is not const.
  const Tensor* Find(NodeId n) const {
    const auto it = values_.find(n);
    return it == values_.end() ? nullptr : &it->second;
  }

  // Ends the run: writes the values that are in use, and removes constants and replaced nodes that
  // are not.
  void Finish();

 private:
  void Hold(NodeId n, const Tensor& value);
  void DropInputs(NodeId n);
  uint32_t CountUses(Output output);
  bool IsUsed(NodeId n) const { return stays_[n] || uses_left_[n] > 0; }

  Graph& g_;
  const Fanouts& uses_;
  std::vector<uint32_t> uses_left_;  // by node id: data uses by nodes that are not folded yet
  std::vector<bool> stays_;          // by node id
  std::vector<NodeId> made_;         // constants, in order of time
  absl::flat_hash_map<NodeId, Tensor> values_;
  std::vector<NodeId> replaced_;
  NodeId counted_ = kNoNode;  // the node that uses_by_output_ is about
  std::vector<uint32_t> uses_by_output_;
};

}  // namespace tenon
