// Turns functions into plain nodes before a graph is planned. Calls are inlined. If, Case, While
// and For become Switch, Merge and loops of Enter and NextIteration. The plan then sees one flat
// graph, as TensorFlow's own executor does.
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
#include "grappler_lite/analysis/needed_arguments.h"

namespace tenon {

class InlineBudget;

// Lowers nodes of one graph, once. `graph` and `calls` are borrowed and must outlive the object.
// Call Replace, Note, NoteRunning and InlineOnly before Run, and Resolve after it. Not thread-safe.
// Limits: calls may nest kMaxDepth deep, and all bodies together may make kMaxNodes nodes with
// kMaxNameBytes of names. A function that calls itself, directly or through others, is refused.
class Lowering {
 public:
  static constexpr int kMaxDepth = 256;
  static constexpr int32_t kMaxNodes = 1'000'000;
  static constexpr size_t kMaxNameBytes = size_t{1} << 28;

  // `devices`: by node id, one for each node id of the graph: the device string of what the node
  // becomes. The texts must outlive the object. Nodes of a called function that have no device
  // string inherit that of the call.
  Lowering(Graph& graph, CallSites& calls, absl::Span<const std::string_view> devices)
      : graph_(graph), calls_(calls), devices_(devices.begin(), devices.end()) {}

  // Lets the readers of `output`, which is fed, read `by`. The first call for an output counts.
  void Replace(Output output, Output by) { replaced_.try_emplace(output, by); }
  // Tells of a fetch: the output counts as read or, if it is a control output, as waited for,
  // although no node reads it or waits for it.
  void Note(Output fetch);
  // Tells of all fetches at once, and where `ends` is true, that an output or a control edge is
  // fed: nodes that NeededArguments does not find for them do not run, and what only these read
  // counts as unread. Without this call all nodes run.
  void NoteRunning(absl::Span<const Output> fetches, absl::FunctionRef<bool(const Output&)> ends);
  // Restricts Run to calls, for use before the passes. If, Case, While and For stay. A call stays
  // if it is marked for XLA or as not to be removed, if InlineBudget::Fits is false for its
  // function (marked _noinline, with an unknown op, calls itself, nests too deep, too large), if
  // `kept` excludes it, or if `may` returns false. None of this is an error. Control edges are as
  // few as can be, for the sake of the passes (lower_calls.cc).
  struct CallsOnly {
    absl::FunctionRef<bool()> may;  // asked last, right before a call; must outlive Run
    InlineBudget& budget;           // must outlive Run
    // The calls that are fetched: when one is inlined, an Identity, IdentityN or NoOp with its id,
    // its name and its outputs stays. One with several outputs is not inlined if some of the
    // outputs may be dead and others not.
    absl::flat_hash_set<NodeId> kept;
    absl::flat_hash_set<NodeId> read;  // of `kept`, those with outputs that are fetched
  };
  void InlineOnly(CallsOnly calls);
  // Lowers the functional nodes among `nodes`, and those in their bodies; after InlineOnly, calls
  // alone. To be called once. The last of `nodes` is lowered first: if producers come first in
  // `nodes`, results that no lowered reader needs are not computed. Errors name the node and its
  // calls.
  // RESOURCE_EXHAUSTED: too many nodes or names. UNIMPLEMENTED: a call on another task, or a loop
  // without variables. INVALID_ARGUMENT: a function calls itself, or calls nest too deep.
  // INVALID_ARGUMENT or NOT_FOUND: the graph is wrong. INTERNAL, without the calls: a node is left
  // with an input that was lowered. For the gradient of a function also the errors of
  // AddGradientFunction. After an error the graph is half lowered and must be dropped.
  absl::Status Run(absl::Span<const NodeId> nodes);
  // The output that now stands for `output` of the original graph; `output` itself if it was not
  // replaced.
  Output Resolve(Output output) const;
  // Whether Run lowered or inlined any node.
  bool changed() const { return inlined_; }

 private:
  static absl::Status TooManyNodes();
  absl::Status CheckSize(absl::Span<const NodeId> nodes) const;

  // One copy of a function's body in the graph.
  struct Instance {
    std::vector<Output> results;
    // Waits for all that the body does besides its results; kNoNode if it does nothing else.
    NodeId effects = kNoNode;
    // By argument: whether effects, or a result that is read, need it.
    std::vector<bool> used_args;
  };
  // The demands on a copy of a body.
  struct Demand {
    std::vector<bool> unread;   // by result: no node reads it; empty: all are read
    bool computes_all = false;  // unread results are computed too, where that may fail
    // Set for the body of a loop: result i is argument i + first_variable of the next pass.
    std::optional<size_t> first_variable;
  };

  // lowering.cc
  absl::Status LowerNode(NodeId n);
  // Adds a node named `from`/`suffix` that is a part of what `from` becomes.
  absl::StatusOr<NodeId> Add(NodeId from, std::string_view suffix, std::string_view op,
                             std::vector<Output> inputs, std::vector<Graph::NewAttr> attrs = {});
  // Adds such a node with the attribute T.
  absl::StatusOr<NodeId> AddTyped(NodeId from, std::string_view suffix, std::string_view op,
                                  std::vector<Output> inputs, DataType type);
  // A control output that is alive when, and only when, `value` is.
  absl::StatusOr<Output> Anchor(NodeId from, Output value);
  // A node that waits for the control inputs of n and, if n computes all its arguments, for these;
  // kNoNode if there is nothing to wait for.
  absl::StatusOr<NodeId> Start(NodeId n);
  // Whether the run fails if an argument of n does, though nothing reads the argument. False for
  // nodes but For that are marked to be written out (kWrittenOut), unless they call a function that
  // stays a call.
  bool ComputesAllArgs(NodeId n);
  absl::StatusOr<NodeId> WaitFor(NodeId n, const std::vector<Output>& inputs);
  // `value` as a bool.
  absl::StatusOr<Output> Predicate(NodeId n, Output value);
  absl::StatusOr<FuncAttr> FunctionAttr(NodeId n, std::string_view name) const;
  DataType TypeOf(Output o) const { return BaseType(graph_.output_type(o)); }
  bool IsWaitedFor(NodeId n) const { return waited_for_[n]; }
  // By output of a functional node: whether no node reads it. A kept node of several outputs counts
  // as read as a whole.
  std::vector<bool> UnreadOutputs(NodeId n) const;
  bool IsIdle(NodeId n) const { return n < std::ssize(idle_) && idle_[n]; }
  void SetIdle(NodeId n);
  // Notes what the nodes read and wait for that were added since the last call.
  void NoteNewNodes();
  // Lets n read what replaces its inputs.
  void RedirectInputs(NodeId n);
  // INTERNAL if a node reads a node that was lowered.
  absl::Status CheckInputs() const;

  // lower_calls.cc
  absl::Status LowerCall(NodeId n);
  absl::Status LowerGradient(NodeId n);
  absl::Status ReplaceResults(NodeId n, const Instance& body);
  absl::Status BecomeIdentity(NodeId n, absl::Span<const Output> results);
  // A node for which stateful nodes of a loose body wait; kNoNode: they need not wait.
  absl::StatusOr<NodeId> LooseStart(NodeId n);
  // Whether bodies may be looser than calls (lower_calls.cc).
  bool IsLoose() const { return calls_only_.has_value() && !strict_; }
  // Whether CallsOnly allows to inline n. Takes the call from the budget if so.
  bool MayInline(NodeId n);
  bool MayHaveDeadResults(const FunctionEntry& function);

  // inline_function.cc
  // Copies the body of a function into the graph, for node `call`. `prefix` makes names of frames
  // unique. Nodes of the body that have no inputs wait for `pivot`, unless it is kNoNode; in a
  // loose body stateful nodes wait for it, and calls.
  absl::StatusOr<Instance> Inline(NodeId call, std::string_view prefix, const FuncAttr& function,
                                  absl::Span<const Output> args, NodeId pivot, Demand demand);
  absl::StatusOr<Instance> Inline(NodeId call, std::string_view prefix, std::string_view function,
                                  const AttrSet& attrs, absl::Span<const Output> args, NodeId pivot,
                                  Demand demand);
  // The number of calls around `call`; an error if `function` is one of them, or if there are too
  // many.
  absl::StatusOr<int> ChainDepth(NodeId call, std::string_view function) const;
  // INVALID_ARGUMENT if `args`, of `call`, are not what the function takes.
  absl::Status CheckArgs(NodeId call, const TypeVector& takes, absl::Span<const Output> args) const;
  // Parses the body at the first call; the reference lives as long as this object.
  const FunctionBody& BodyOf(const FunctionEntry& function);

  // lower_branches.cc
  absl::Status LowerIf(NodeId n);
  absl::Status LowerCase(NodeId n);
  absl::Status LowerBranches(NodeId n, absl::Span<const FuncAttr> branches, bool binary);
  // INVALID_ARGUMENT if the results of a branch are not what `types`, the node's outputs, say.
  static absl::Status CheckResults(std::string_view function, const TypeVector& results,
                                   const TypeVector& types);
  // INVALID_ARGUMENT if the function of a branch takes other arguments than `args`, or gives other
  // results than `types`.
  absl::Status CheckFit(NodeId n, const FuncAttr& branch, absl::Span<const Output> args,
                        const TypeVector& types) const;
  // What stands for a branch that does not fit: a node that ends the run with the error `why`.
  absl::StatusOr<Instance> Misfit(NodeId n, const absl::Status& why, NodeId pivot,
                                  const TypeVector& types);

  // The nodes that carry the variables of a loop round, by variable.
  struct Loop {
    std::vector<NodeId> merges, switches;
    NodeId first_pass = kNoNode;  // nodes of the condition wait for it
    NodeId body = kNoNode;        // nodes of the body wait for it
    // By variable: its next value is needed by no node that runs; may be empty.
    std::vector<bool> idle;
  };
  absl::Status LowerWhile(NodeId n);
  absl::StatusOr<NodeId> AddEnter(NodeId n, Output value, bool constant, NodeId start);
  // `value` from outside of the loop of n, as nodes of the loop read it.
  absl::StatusOr<Output> Invariant(NodeId n, Output value);
  absl::StatusOr<Loop> OpenLoop(NodeId n, absl::Span<const Output> values, NodeId start);
  absl::Status DivideLoop(NodeId n, Output condition, Loop& loop);
  Demand DemandOf(NodeId n) const;
  absl::Status CloseLoop(NodeId n, absl::Span<const Output> next, const Loop& loop);
  absl::Status LeaveLoop(NodeId n, size_t first, const Loop& loop);
  // INVALID_ARGUMENT if `next` has not the types of the variables.
  absl::Status CheckBody(std::string_view function, absl::Span<const Output> variables,
                         absl::Span<const Output> next) const;

  // lower_for.cc
  absl::Status LowerFor(NodeId n);

  friend class ForNumbers;
  friend class FunctionCopy;

  Graph& graph_;
  CallSites& calls_;
  std::vector<std::string_view> devices_;
  std::vector<NodeId> work_;
  // Outputs, control outputs too, by what replaces them.
  absl::flat_hash_map<Output, Output> replaced_;
  NeededArguments needs_{graph_};     // of what is read
  std::vector<bool> waited_for_;      // by node id: a node waits for it by a control edge
  absl::flat_hash_set<Output> read_;  // outputs of functional nodes
  std::vector<bool> idle_;            // by node id: no node that runs needs it
  NodeId noted_ = 0;                  // NoteNewNodes has seen the nodes before this one
  absl::flat_hash_map<std::string_view, std::unique_ptr<FunctionBody>> bodies_;
  absl::flat_hash_map<std::string, std::string> gradients_;  // of functions, by function
  std::optional<CallsOnly> calls_only_;
  bool strict_ = false;  // some value may be dead, change, or belong to a loop
  bool inlined_ = false;
  int32_t added_ = 0;
  size_t name_bytes_ = 0;
};

}  // namespace tenon
