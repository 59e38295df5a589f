// The checks behind Verify and import, for callers that know a part of the answers.
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

// Collects defects and puts them in order: versions, then nodes by id (the order of the file), then
// functions. Defects of one node keep the order in which they are added. Not thread-safe.
class DefectLog {
 public:
  // Adds a defect of a node, with the message "node 'x' (Op): message".
  void AddNode(const Graph& graph, NodeId node, DefectCode code, std::string_view message);
  // Adds a defect of the graph's versions; sorts before all nodes.
  void AddVersions(const Graph& graph, DefectCode code, std::string_view message);
  // The position of the versions in the file; without it messages name the file alone.
  void set_versions_pos(SourcePos pos) { versions_pos_ = pos; }
  // Adds the defect of `node` that an earlier node, `first`, has the same name. kNoNode: the
  // earlier node is not known; the message has '?' for its place.
  void AddDuplicate(const Graph& graph, NodeId node, NodeId first);
  // Adds a defect of a function, or of a node in its body; sorts after all nodes. `node` may be
  // empty.
  void AddFunction(const Graph& graph, const FunctionEntry& function, std::string_view node,
                   DefectCode code, std::string_view message);
  size_t size() const { return found_.size(); }
  // Whether the next message may look for the name that was meant. True for the first 50 calls: a
  // search reads all names, and many would take time that grows with the square of the graph.
  bool MayHint() { return ++hints_ <= 50; }
  // The ids of the nodes that have a defect. Ids for which Graph::alive is not to be asked stand in
  // it, too: kNoNode if there is a defect of versions, and one above all ids for one of functions.
  absl::flat_hash_set<NodeId> Nodes() const;
  // The defects, in order. Ends the log.
  std::vector<Defect> Take() &&;

 private:
  std::vector<std::pair<NodeId, Defect>> found_;
  SourcePos versions_pos_;
  int hints_ = 0;
};

struct VerifyOptions {
  // The graph was just read from a file. The reader has reported holes among the inputs and names
  // that stand twice, so they are not reported again. Names of nodes, but for those in functions,
  // must be such as users may give: no underscore in front.
  bool from_file = false;
  int64_t max_const_bytes = ImportLimits().max_const_bytes;  // of one constant, decoded
  const Graph* sound = nullptr;                              // as for VerifyNodes of defect.h
  // By id: the nodes to check. Null: all of them. Cycles and shapes are those of the whole graph.
  const std::vector<bool>* only = nullptr;
  // The caller has inferred all shapes without an error, so shape functions do not run again.
  // Cycles are still looked for: shapes say nothing of control edges.
  bool shapes_are_known = false;
};

// Adds the defects of versions, nodes and functions to `log`. Nodes with a defect in `log` are left
// out of shape inference: their shape errors would follow from that defect.
void VerifyGraph(const Graph& graph, const VerifyOptions& options, DefectLog* log);

// VerifyGraph without functions: one returns the defects, the other adds them to `log`.
std::vector<Defect> VerifyNodes(const Graph& graph, const VerifyOptions& options);
void VerifyNodes(const Graph& graph, const VerifyOptions& options, DefectLog* log);

// Adds the defects of the graph's own functions: names, signatures and bodies, cycles included.
// Types within a body, which depend on the call, are not checked.
void VerifyFunctions(const Graph& graph, const VerifyOptions& options, DefectLog* log);

// A fault of an op with its attributes, the same for all nodes of the kind. Messages name the
// attribute, not the node. CheckKind returns all faults of a kind in a graph with the nodes,
// functions and producer of `graph`; of the options only max_const_bytes counts. Of `log` it uses
// MayHint alone.
struct KindDefect {
  DefectCode code;
  std::string message;
};
std::vector<KindDefect> CheckKind(const Graph& graph, const NodeKind& kind,
                                  const VerifyOptions& options, DefectLog* log);

// Returns `text` for a message of one line: control characters and bytes that are no UTF-8 become
// \xNN.
std::string Printable(std::string_view text);

// Whether `name` may be a node's name, as TensorFlow has it: a letter, a digit or a dot, then
// letters, digits and the characters ._-/, or several of these with '>' between them. In a graph
// made by a pass (not `from_file`), an underscore may come first in the name too.
bool IsNodeName(std::string_view name, bool from_file);

}  // namespace tenon
