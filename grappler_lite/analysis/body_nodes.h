// Questions about the body of a function: which nodes a run needs, which nodes run for certain,
// and which arguments a node reads.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/functions/function_graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {

// The set of nodes that some root nodes need: the roots, and every node from which data and control
// edges lead to a root. The set grows with each Need. The body must outlive the object, and must
// get no new nodes or edges meanwhile. Not thread-safe.
class NeededNodes {
 public:
  explicit NeededNodes(const FunctionGraph& body)
      : g_(body.graph), needed_(body.graph.num_node_ids(), false) {}

  // Adds `root` and every node that `root` needs. Calls `found` once for each node that is new in
  // the set. Time is linear in the edges of the new nodes. No input of these may be missing
  // (kNoNode).
  void Need(
      NodeId root, absl::FunctionRef<void(NodeId)> found = [](NodeId) {});
  void Need(const std::vector<NodeId>& roots) {
    for (const NodeId n : roots) Need(n);
  }

  bool operator[](NodeId n) const { return needed_[n]; }

 private:
  const Graph& g_;
  std::vector<bool> needed_;
};

// Finds nodes that compute a value in every run of a body. Such a node depends, through data and
// control edges, only on three sorts of nodes: arguments, nodes that the run needs anyway, and
// nodes that cannot fail. Once the search has met more than 64 nodes, it takes no further node for
// one that cannot fail. Not thread-safe.
class CertainNodes {
 public:
  // `args`: what is known of each argument, in the order of body.args. The body must outlive the
  // object and must not change meanwhile.
  CertainNodes(const FunctionGraph& body, std::vector<TensorInfo> args)
      : body_(body), args_(std::move(args)) {}

  // Whether node n computes a value in every run that needs the nodes of `needed`. False also means
  // "not known". Calls, branches and loops in `needed` do not count as needed: a run may need
  // another of their outputs. The first question that needs shapes infers them for the whole body.
  bool Has(NodeId n, const NeededNodes& needed);

 private:
  bool CannotFailHere(NodeId n);

  const FunctionGraph& body_;
  const std::vector<TensorInfo> args_;
  std::optional<absl::StatusOr<GraphShapes>> shapes_;  // once they are asked for
};

// Makes each result read directly the value that Identities pass on to it. A caller then sees which
// results are arguments that come back unchanged. Going back from the result, the function stops at
// the first Identity that has to stay (MustStay), reads a reference, or waits for a node that may
// fail. A result keeps its control inputs only if it is itself such an Identity. Identities that no
// result reads any more stay in the body. The body computes the same. The body must have no cycle,
// and no result may have been removed (kNoNode).
void ShortenResults(FunctionGraph& body);

// By node id: whether a node that is no result reads the node's data; control edges do not count.
// Where the entry of an argument is false, no node uses the argument's value, but a result may give
// the value back. No result may have been removed (kNoNode), and no input may be missing.
std::vector<bool> ReadNodes(const FunctionGraph& body);

// Whether the body gives argument i back as result i, and waits for nothing before it does. The
// argument may come by no Identity but the result's own. Both must be there, and not removed
// (kNoNode).
bool GivesBack(const FunctionGraph& body, size_t i);

// Sets used[i] for each argument i that the nodes of `roots` need. Leaves the other elements.
// `used` must have an element for each argument. No argument may have been removed (kNoNode).
void NoteNeededArgs(const FunctionGraph& body, const std::vector<NodeId>& roots,
                    std::vector<bool>& used);

// Lets every node that reads or waits for argument i use argument firsts[i] instead, for each i
// below firsts.size(). No argument may have been removed (kNoNode).
void ReadFirstArgs(FunctionGraph& body, const std::vector<size_t>& firsts);

}  // namespace tenon
