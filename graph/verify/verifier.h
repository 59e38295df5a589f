// The checks behind Verify and import, for those who know part of the answers already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph/ir/graph.h"
#include "graph/verify/defect.h"
#include "graph/verify/import_limits.h"

namespace tenon {

// Defects with their place in the file's order.
class DefectLog {
 public:
  // "node 'x' (Op): message"
  void AddNode(const Graph& graph, NodeId node, DefectCode code, std::string_view message);
  // About the graph's versions; sorts before all nodes.
  void AddVersions(const Graph& graph, DefectCode code, std::string_view message);
  void set_versions_pos(SourcePos pos) { versions_pos_ = pos; }
  // About a function or a node in its body; sorts after all nodes. `node` may be empty.
  // That `node` has the name of `first`, which is kNoNode if no node is found by it.
  void AddTwin(const Graph& graph, NodeId node, NodeId first);
  void AddFunction(const Graph& graph, const FunctionEntry& function, std::string_view node,
                   DefectCode code, std::string_view message);
  size_t size() const { return found_.size(); }
  // Those that have a defect.
  absl::flat_hash_set<NodeId> Nodes() const;
  // In file order.
  std::vector<Defect> Take() &&;

 private:
  std::vector<std::pair<NodeId, Defect>> found_;
  SourcePos versions_pos_;
};

struct VerifyOptions {
  // The graph was just read: holes among the inputs and names that stand twice have been reported,
  // and names must be those that a user may give.
  bool from_file = false;
  int64_t max_const_bytes = ImportLimits().max_const_bytes;
  const Graph* sound = nullptr;  // as for VerifyNodes
  // Shapes have been found without an error. They say nothing of control edges.
  bool shapes_are_known = false;
};

void VerifyGraph(const Graph& graph, const VerifyOptions& options, DefectLog* log);

// As that of graph/verify/defect.h.
std::vector<Defect> VerifyNodes(const Graph& graph, const VerifyOptions& options);
void VerifyNodes(const Graph& graph, const VerifyOptions& options, DefectLog* log);

// Function library: names, signatures and bodies (graph/verify/verify_functions.cc).
void VerifyFunctions(const Graph& graph, const VerifyOptions& options, DefectLog* log);

// What is wrong with an op and its attributes, whatever the node. Message texts name the attribute,
// not the node.
struct KindDefect {
  DefectCode code;
  std::string message;
};
std::vector<KindDefect> CheckKind(const Graph& graph, const NodeKind& kind,
                                  const VerifyOptions& options);

// `text` for a message of one line: control characters and what is no UTF-8 as \xNN.
std::string Printable(std::string_view text);

// Whether `name` may be a node's: letters, digits and ._-/>\ after a letter, digit or dot (or, made
// by a pass, an underscore).
bool IsNodeName(std::string_view name, bool from_file);

}  // namespace tenon
