// Replaces variables by values: each reader of a variable reads a tensor instead, through calls,
// branches and loops. Works on GraphDef messages, functions included.
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

// Replaces the uses of variables in one graph. Used once, on one thread.
class VariableFolder {
 public:
  // `graph` holds the nodes that are needed; functions of its library may be more. Variables whose
  // nodes are in `kept` stay what they are, and so do those that functions make if
  // `keep_in_functions` says so.
  VariableFolder(pb::GraphDef& graph, std::set<std::string> kept, bool keep_in_functions);

  // Each VarHandleOp and Variable of the graph becomes a Placeholder of its name, which is to take
  // its value; these names are returned. Functions that take variables are cloned; those that
  // nothing calls any more are dropped. FAILED_PRECONDITION names a variable that is written, and
  // the node; UNIMPLEMENTED what has no form on values.
  absl::StatusOr<std::vector<std::string>> Run();
  // The node of the variable that Run found to be written; empty: none.
  const std::string& written() const { return written_; }

 private:
  static constexpr int kMaxDepth = 256;  // of calls

  // A resource that is a variable.
  struct Handle {
    pb::DataType dtype;
    std::string variable;
  };
  using Handles = std::vector<std::optional<Handle>>;  // by argument or result

  // A function, as it is where some of its arguments are values instead of variables.
  struct Instance {
    std::string name;
    Handles results;
  };

  // The graph, or a function's body.
  struct Scope {
    std::string function;  // empty: the graph
    int depth = 0;
    absl::flat_hash_map<std::string, std::string> ops;      // by node, as they were
    absl::flat_hash_map<std::string, Handle> handles;       // by "node:output" or "argument:0"
    absl::flat_hash_map<std::string, std::string> renamed;  // results by another name
    std::vector<pb::NodeDef> added;
  };
  using Nodes = google::protobuf::RepeatedPtrField<pb::NodeDef>;

  // fold_variables.cc
  absl::Status RewriteNodes(Scope& scope, Nodes& nodes);
  absl::Status RewriteNode(Scope& scope, pb::NodeDef& node);
  absl::Status MakePlaceholder(Scope& scope, pb::NodeDef& node);
  absl::Status CheckReferences(const pb::NodeDef& node);
  absl::Status RefuseWrite(const std::string& variable, const std::string& function,
                           const pb::NodeDef& node);
  absl::Status RewriteReader(Scope& scope, pb::NodeDef& node, const Handle& handle);
  void RewriteGather(Scope& scope, pb::NodeDef& node, const Handle& handle);
  void PassOn(Scope& scope, pb::NodeDef& node, const Handle& handle);
  Handles InputsOf(const Scope& scope, const pb::NodeDef& node) const;
  const Handle* Find(const Scope& scope, std::string_view reference) const;
  void SetResults(Scope& scope, const pb::NodeDef& node, const Handles& results) const;

  // fold_functions.cc
  // False for a node that calls nothing.
  absl::StatusOr<bool> RewriteCall(Scope& scope, pb::NodeDef& node, const Handles& inputs);
  absl::Status RewriteTypes(const Scope& scope, pb::NodeDef& node,
                            absl::Span<const std::optional<Handle>> handles,
                            const std::string& types, const std::string& shapes) const;
  absl::StatusOr<Instance> Instantiate(const std::string& name,
                                       absl::Span<const std::optional<Handle>> args, int depth);
  std::string UniqueFunctionName(const std::string& base) const;
  void DropUncalledFunctions();

  pb::GraphDef& graph_;
  const std::set<std::string> kept_;
  const bool keep_in_functions_;
  std::string written_;
  std::map<std::string, pb::FunctionDef> library_;
  std::map<std::string, Instance> instances_;  // by function and the types of arguments
  absl::flat_hash_map<std::string, std::string> references_;  // variables of version 1
  std::vector<std::string> variables_;
};

// "node 'x' (Op) of function 'f'"; `function` is empty for the graph.
std::string NodeText(const std::string& function, const pb::NodeDef& node);

}  // namespace tenon
