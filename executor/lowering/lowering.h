// Turns functions into plain nodes before a graph is planned: calls are inlined, If, Case, While
// and For become Switch, Merge and loops of Enter and NextIteration. What the plan then sees is one
// flat graph, as TensorFlow's own executor would.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/lowering/call_sites.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon {

class InlineBudget;

// Lowers nodes of one graph. Bounded: a chain of calls may be kMaxDepth long, all bodies together
// may make kMaxNodes nodes with kMaxNameBytes of names; a function that calls itself is refused.
class Lowering {
 public:
  static constexpr int kMaxDepth = 256;
  static constexpr int32_t kMaxNodes = 1'000'000;
  static constexpr size_t kMaxNameBytes = size_t{1} << 28;

  // `devices`: by node id, the device string of the node; the nodes of a called function inherit
  // it.
  Lowering(Graph& graph, CallSites& calls, absl::Span<const std::string> devices)
      : graph_(graph), calls_(calls), devices_(devices.begin(), devices.end()) {}

  // `output` is fed: its readers read `by` instead. To be called before Run.
  void Replace(Output output, Output by) { replaced_.try_emplace(output, by); }
  // A fetch: the control output of a functional node, if that is what it is, will be asked for.
  void Note(Output fetch);
  // By node id: what else is in the graph does not run, and what it reads is not read. Before Run.
  void NoteRunning(const std::vector<bool>& runs);
  // Only calls, before the passes run: If, Case, While and For stay, and so does a call that is
  // marked for XLA or as not to be removed, one of a function marked _noinline or that has no end,
  // and each that does not fit `budget` or that `may` refuses. The passes are to see as few control
  // edges as can be (lower_calls.cc). `kept` are those of which a node of that name with these
  // outputs stays.
  struct CallsOnly {
    absl::FunctionRef<bool()> may;
    InlineBudget& budget;
    absl::flat_hash_set<NodeId> kept;
    absl::flat_hash_set<NodeId> read;  // of these, those whose outputs are fetched
  };
  void InlineOnly(CallsOnly calls);
  // Lowers those of the nodes that are functional, and what their bodies hold. Errors name the
  // node.
  absl::Status Run(absl::Span<const NodeId> nodes);
  // The output that now stands for an output of the original graph.
  Output Resolve(Output output) const;
  // Whether any node was lowered.
  bool changed() const { return inlined_; }

 private:
  static absl::Status TooManyNodes();
  absl::Status CheckSize(absl::Span<const NodeId> nodes) const;

  // An instance of a function's body.
  struct Instance {
    std::vector<Output> results;
    NodeId effects = kNoNode;  // waits for all that the body does besides its results, if anything
    std::vector<bool> used_args;  // by argument: what is read, and effects, need it
  };
  // What is asked of an instance.
  struct Demand {
    std::vector<bool> unread;   // by result; empty: none
    bool computes_all = false;  // unread results too, where that may fail
    // Of a loop: result i is argument i + first_variable of the next pass.
    std::optional<size_t> first_variable;
  };

  // lowering.cc
  absl::Status LowerNode(NodeId n);
  absl::StatusOr<NodeId> Add(NodeId from, std::string_view suffix, std::string_view op,
                             std::vector<Output> inputs, std::vector<Graph::NewAttr> attrs = {});
  absl::StatusOr<NodeId> AddTyped(NodeId from, std::string_view suffix, std::string_view op,
                                  std::vector<Output> inputs, DataType type);
  absl::StatusOr<Output> Anchor(NodeId from, Output value);
  absl::StatusOr<NodeId> Start(NodeId n);
  absl::StatusOr<NodeId> WaitFor(NodeId n, const std::vector<Output>& inputs);
  absl::StatusOr<Output> Predicate(NodeId n, Output value);
  absl::StatusOr<FuncAttr> FunctionAttr(NodeId n, std::string_view name) const;
  DataType TypeOf(Output o) const { return BaseType(graph_.output_type(o)); }
  bool IsWaitedFor(NodeId n) const { return waited_for_[n]; }
  // By output of a functional node; one that becomes a node of several outputs is read as a whole.
  std::vector<bool> UnreadOutputs(NodeId n) const;
  bool IsIdle(NodeId n) const { return n < std::ssize(idle_) && idle_[n]; }
  void SetIdle(NodeId n);
  void NoteNewNodes();
  void RedirectInputs(NodeId n);
  absl::Status CheckInputs() const;

  // lower_calls.cc
  absl::Status LowerCall(NodeId n);
  absl::Status ReplaceResults(NodeId n, const Instance& body);
  absl::Status BecomeIdentity(NodeId n, absl::Span<const Output> results);
  absl::StatusOr<NodeId> LooseStart(NodeId n);
  bool IsLoose() const { return calls_only_.has_value() && !strict_; }
  bool MayInline(NodeId n);
  bool MayHaveDeadResults(const FunctionEntry& function);

  // inline_function.cc
  absl::StatusOr<Instance> Inline(NodeId call, std::string_view prefix, const FuncAttr& function,
                                  absl::Span<const Output> args, NodeId pivot, Demand demand);
  absl::StatusOr<Instance> Inline(NodeId call, std::string_view prefix, std::string_view function,
                                  const AttrSet& attrs, absl::Span<const Output> args, NodeId pivot,
                                  Demand demand);
  absl::StatusOr<int> ChainDepth(NodeId call, std::string_view function) const;
  const FunctionBody& BodyOf(const FunctionEntry& function);

  // lower_branches.cc
  absl::Status LowerIf(NodeId n);
  absl::Status LowerCase(NodeId n);
  absl::Status LowerBranches(NodeId n, absl::Span<const FuncAttr> branches, bool binary);

  // lower_loops.cc
  // The variables of a loop on their way round it.
  struct Loop {
    std::vector<NodeId> merges, switches;
    NodeId first_pass = kNoNode;  // control: the condition may be computed
    NodeId body = kNoNode;        // control: the body is to be run
    std::vector<bool> idle;       // by variable: nothing that runs needs what it becomes; or empty
  };
  absl::Status LowerWhile(NodeId n);
  absl::StatusOr<NodeId> AddEnter(NodeId n, Output value, bool constant, NodeId start);
  absl::StatusOr<Output> Invariant(NodeId n, Output value);
  absl::StatusOr<Loop> OpenLoop(NodeId n, absl::Span<const Output> values, NodeId start);
  absl::Status DivideLoop(NodeId n, Output condition, Loop& loop);
  Demand DemandOf(NodeId n) const;
  absl::Status CloseLoop(NodeId n, absl::Span<const Output> next, const Loop& loop);
  absl::Status LeaveLoop(NodeId n, size_t first, const Loop& loop);
  absl::Status CheckBody(std::string_view function, absl::Span<const Output> variables,
                         absl::Span<const Output> next) const;

  // lower_for.cc
  absl::Status LowerFor(NodeId n);

  friend class ForNumbers;
  friend class FunctionCopy;

  Graph& graph_;
  CallSites& calls_;
  std::vector<std::string> devices_;
  std::vector<NodeId> work_;
  absl::flat_hash_map<Output, Output> replaced_;  // control outputs too
  std::vector<bool> waited_for_;                  // by node id: has control consumers
  absl::flat_hash_set<Output> read_;              // outputs of functional nodes
  std::vector<bool> idle_;                        // by node id: nothing that runs needs it
  NodeId noted_ = 0;                              // nodes before it have been looked at
  absl::flat_hash_map<const FunctionEntry*, std::unique_ptr<FunctionBody>> bodies_;
  std::optional<CallsOnly> calls_only_;
  bool strict_ = false;  // values may be dead, change, or belong to loops
  bool inlined_ = false;
  int32_t added_ = 0;
  size_t name_bytes_ = 0;
};

}  // namespace tenon
