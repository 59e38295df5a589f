// Finds what a run needs, also behind branches and loops that do not need all of their arguments.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/graph.h"

namespace tenon {

// A search against the edges of one graph. A node needs all of its inputs, with one exception: an
// If, Case or While that is marked to be written out (kWrittenOut). It needs its control inputs,
// its predicate or its first variable, and those arguments that its functions need for the outputs
// that are read and for what they do besides. TensorFlow writes such nodes out before it looks what
// a run needs. A call with the mark, which a pass makes of a branch, counts as a branch.
//
// A marked node needs all of its inputs all the same if one of its functions is missing, stays a
// call (StaysCall), calls itself, cannot be made a FunctionGraph or does not fit the node, and
// where its bodies and those of the marked nodes before it have more than kMostNodes nodes. So more
// may count as needed than a run computes, never less.
// The set of needed inputs grows with each call of Need. Not thread-safe.
class NeededArguments {
 public:
  static constexpr size_t kMostNodes = 1'000'000;

  // `graph` must outlive the object. It may get nodes and edges meanwhile; but a node whose output
  // was needed must keep its kind and the number of its inputs.
  explicit NeededArguments(const Graph& graph) : graph_(graph) {}

  // Tells that the run needs `output` or, at the control port, waits for its node. Calls `found`
  // for each input of the node that this makes needed; perhaps twice for an output that is read
  // twice. Takes time in proportion to what is new in the set.
  void Need(Output output, absl::FunctionRef<void(const Output&)> found);

  // By node id: whether `fetches` need the node. Where `ends` is true for an output or a control
  // edge, the edge does not make its node needed. Call NodesFor once, before any call of Need: the
  // search does not go beyond nodes that are needed already.
  std::vector<bool> NodesFor(absl::Span<const Output> fetches,
                             absl::FunctionRef<bool(const Output&)> ends);

  // Whether node n needs its data input `input`; true also if no output of n was needed yet.
  bool Needs(NodeId n, int input) const;

 private:
  static constexpr size_t kTop = static_cast<size_t>(-1);  // stands for the graph among frames

  struct Body {
    FunctionGraph function;
    absl::flat_hash_map<NodeId, size_t> number_of;  // of arguments, by their nodes
  };
  // The body of a function, as if it were copied for the node that calls it.
  struct Frame {
    const Body* body;
    size_t site;
    std::vector<bool> needed;                   // by node of the body
    absl::flat_hash_map<NodeId, size_t> sites;  // by node of the body that calls functions
  };
  // A marked node.
  struct Site {
    size_t frame;  // where the node is
    NodeId node;
    size_t first_arg = 0;  // its inputs before that are no arguments
    bool loop = false;
    std::vector<const Body*> bodies;  // of a loop: condition, body
    std::vector<size_t> frames;       // of the bodies, once an output is needed
    std::vector<bool> args, outputs;  // that are needed
  };

  const Graph& GraphOf(size_t frame) const;
  // The site of node n in a frame; kTop if n is none.
  size_t SiteAt(size_t frame, NodeId n);
  bool MakeSite(Site& site);
  // Null if a node that calls the function needs all of its inputs.
  const Body* BodyOf(std::string_view function);
  std::unique_ptr<const Body> MakeBody(const FunctionEntry& function);
  bool Fits(const Site& site) const;
  void NeedOutput(size_t site, int32_t port);
  void Open(size_t site);
  void NeedArg(size_t site, size_t arg);
  void NeedInFrame(size_t frame, const Output& output);

  const Graph& graph_;
  std::shared_ptr<SharedFunctions> functions_;  // null as long as none was asked for
  absl::flat_hash_map<std::string_view, std::unique_ptr<const Body>> bodies_;
  std::deque<Site> sites_;
  std::deque<Frame> frames_;
  std::vector<bool> needed_;                  // by node of the graph that is no site
  absl::flat_hash_map<NodeId, size_t> tops_;  // the graph's nodes that call functions: their sites
  std::vector<std::pair<size_t, Output>> open_;
  size_t nodes_ = 0;  // of all frames
};

}  // namespace tenon
