// Replaces the variables of a graph by values: each reader of a variable reads a tensor instead,
// also through calls, branches and loops. Works on GraphDef messages, functions included.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/graph_def.pb.h"

namespace tenon {

// Folds the variables of one graph. One object makes one Run, on one thread. The graph must outlive
// the object. After an error the graph is half rewritten and must be dropped.
class VariableFolder {
 public:
  // `graph` holds the nodes that are needed; its library may hold more functions than are called. A
  // variable stays as it is if its node is in `kept`. Variables that functions make stay if
  // `keep_in_functions` is true; otherwise they are errors. The constructor takes the functions out
  // of `graph`, and Run puts back those that are called.
  VariableFolder(pb::GraphDef& graph, std::set<std::string> kept, bool keep_in_functions);

  // Turns each variable of the graph that does not stay into a Placeholder of the same name, which
  // the caller makes a constant. Returns these names. Clones functions that take variables, and
  // drops functions that nothing calls. An op that takes a handle and is not known to only read it
  // or pass it on counts as a write, also where no run reaches it. Of a variable of version 1 an
  // input counts as a write if the registered op takes it by reference. FAILED_PRECONDITION names a
  // variable that is written, and the node; a variable that shares a result of a branch or loop
  // with another resource; or a function that makes a variable. UNIMPLEMENTED names a call that has
  // no form on values. INVALID_ARGUMENT: calls are nested more than kMaxDepth
  // deep, a function calls itself, a call names a function that the library lacks, or a reader asks
  // for another type.
  absl::StatusOr<std::vector<std::string>> Run();
  // The node of the variable for which Run failed because it is written, or shares a result with
  // another resource; empty if Run did not fail for such a reason.
  const std::string& written() const { return written_; }

 private:
  static constexpr int kMaxDepth = 256;  // of nested calls

  // A resource input or result that is a variable.
  struct Handle {
    pb::DataType dtype;
    std::string variable;  // its node in the graph
    int argument = -1;     // in a function: the argument by which it came
  };
  // By argument or result; empty for one that is no variable.
  using Handles = std::vector<std::optional<Handle>>;

  // A function in the form that takes values for some arguments in place of variables.
  struct Instance {
    std::string name;  // in the library
    // The results that are variables, which become values. Each came by an argument.
    Handles results;

    // The same with the variables that a call passes in `args`.
    Instance CalledWith(absl::Span<const std::optional<Handle>> args) const;
  };

  // The graph, or the body of a function.
  struct Scope {
    std::string function;                               // empty for the graph
    int depth = 0;                                      // of calls around it
    absl::flat_hash_map<std::string, std::string> ops;  // by node: the ops before any rewriting
    absl::flat_hash_map<std::string, Handle> handles;   // by "node:output" or "argument:0"
    // References to results that have another name now, and their new text.
    absl::flat_hash_map<std::string, std::string> renamed;
    // Nodes to append; appending at once would move the nodes that are being rewritten.
    std::vector<pb::NodeDef> added;
  };
  using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;

  // fold_variables.cc
  // Rewrites the nodes of a scope, producers first, so that each node knows which inputs are
  // variables.
  absl::Status RewriteNodes(Scope& scope, Nodes& nodes);
  absl::Status RewriteNode(Scope& scope, pb::NodeDef& node);
  // Makes a Placeholder of a variable of the graph. A variable of a function is an error.
  absl::Status MakePlaceholder(Scope& scope, pb::NodeDef& node);
  // Refuses a node that takes a variable of version 1 by reference.
  absl::Status CheckReferences(const pb::NodeDef& node);
  // The error for a written variable. Sets written_.
  absl::Status RefuseWrite(const std::string& variable, const std::string& function,
                           const pb::NodeDef& node);
  // Rewrites a node that takes a handle and is no call. Ops that only read have a form on values;
  // any other op counts as a write.
  absl::Status RewriteReader(Scope& scope, pb::NodeDef& node, const Handle& handle);
  void RewriteGather(Scope& scope, pb::NodeDef& node, const Handle& handle);
  // Lets a node that passes the handle on pass the value on.
  void PassOn(Scope& scope, pb::NodeDef& node, const Handle& handle);
  // By data input: the variable that it is, if it is one.
  Handles InputsOf(const Scope& scope, const pb::NodeDef& node) const;
  // The variable that a reference names; null if it is none. References of functions name results,
  // those of the graph number outputs.
  const Handle* Find(const Scope& scope, std::string_view reference) const;
  void SetResults(Scope& scope, const pb::NodeDef& node, const Handles& results) const;

  // Rewrites a call, branch or loop and the functions that it calls. Returns false for other nodes.
  absl::StatusOr<bool> RewriteCall(Scope& scope, pb::NodeDef& node, const Handles& inputs);
  // FAILED_PRECONDITION, and sets written_, where a result is a variable in one list and none in
  // the other.
  absl::Status CheckSame(const Scope& scope, const pb::NodeDef& node,
                         absl::Span<const std::optional<Handle>> one,
                         absl::Span<const std::optional<Handle>> other);
  // Adapts the attributes `types` and `shapes` of a call to values in place of handles.
  absl::Status RewriteTypes(const Scope& scope, pb::NodeDef& node,
                            absl::Span<const std::optional<Handle>> handles,
                            const std::string& types, const std::string& shapes) const;
  // The form of a function in which the arguments in `args` are values, with the results of a call
  // that passes them. Makes it at the first call; recursive, at most kMaxDepth deep.
  absl::StatusOr<Instance> Instantiate(const std::string& name,
                                       absl::Span<const std::optional<Handle>> args, int depth);
  std::string UniqueFunctionName(const std::string& base) const;
  void DropUncalledFunctions();

  pb::GraphDef& graph_;
  const std::set<std::string> kept_;
  const bool keep_in_functions_;
  std::string written_;
  std::map<std::string, pb::FunctionDef> library_;
  std::map<std::string, Instance> instances_;  // by function and the types of its arguments
  // Variables of version 1: the op, by node.
  absl::flat_hash_map<std::string, std::string> references_;
  std::vector<std::string> variables_;
};

// "node 'x' (Op) of function 'f'"; `function` is empty for the graph.
std::string NodeText(const std::string& function, const pb::NodeDef& node);

}  // namespace tenon
