// Makes a Graph of GraphDef bytes in place: names, attributes and constants stay views of the
// bytes.
// Private to graph/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/io/io.h"
#include "graph/ir/graph.h"
#include "graph/verify/import_limits.h"
#include "graph/verify/verifier.h"

namespace tenon {

// Positions of a graph's parts in the text that the bytes were made from, one for each node and
// each function in the order of the bytes; empty for binary files.
struct TextPositions {
  std::vector<SourcePos> nodes;
  std::vector<SourcePos> functions;
  SourcePos versions;
};

// The bytes to read, and what messages need to know of them.
struct ReadSource {
  std::string_view wire;              // the GraphDef
  std::shared_ptr<const void> owner;  // keeps `wire` alive; the graph shares it
  std::string name;                   // the file, for messages
  TextPositions text;
  bool mapped = false;  // `wire` lies in a mapped file
  uint64_t offset = 0;  // of `wire` in its file, in bytes
};

// Reads and verifies a graph. Defects are those of ImportBytes (io.h), errors those of
// GraphReader::Read.
absl::StatusOr<Imported> ImportSource(ReadSource source, const ImportLimits& limits);

class GraphReader {
 public:
  // Reads a graph. Adds to `defects` only what the text of names and inputs shows: a name that
  // stands twice, an input that names no node or has no possible port number, a data input behind a
  // control input. The verifier makes all other checks. An input that does not resolve becomes a
  // hole (kNoNode). Inputs may name later nodes. Of nodes of one name, inputs mean the first. Takes
  // linear time. Of the limits, max_nodes and max_depth count.
  // INVALID_ARGUMENT "file: byte N: …" (in nodes of a text "file:line:column: …"): malformed bytes,
  // or too deep nesting. INVALID_ARGUMENT "file: …": too many nodes or edges. `defects` is then of
  // no use.
  static absl::StatusOr<Graph> Read(ReadSource source, const ImportLimits& limits,
                                    DefectLog* defects);

  // Reads an edited copy of `before`, written by a pass or plug-in. A node keeps the id that the
  // node of its name had in `before`; other nodes get ids behind all of `before`. The id of a
  // node that the bytes lack stays unused: alive() is false. Functions and
  // versions are those of `before`; the bytes' own are ignored. The result shares the storage of
  // `before` and each part that did not change, and inherits positions and the name of the source:
  // `name` is for messages only. No view of `wire` is left. Errors as of Read.
  static absl::StatusOr<Graph> ReadEdited(std::string_view wire, std::string name,
                                          const Graph& before, const ImportLimits& limits,
                                          DefectLog* defects);

 private:
  GraphReader(ReadSource source, const ImportLimits& limits, DefectLog* defects);
  absl::StatusOr<Graph> ReadGraph();
  void Share(const Graph& before);

  absl::Status Scan();
  absl::Status ReadLibrary(std::string_view library);
  void AddFunction(std::string_view wire);
  absl::Status ReadNodes();
  absl::Status ReadNode(std::string_view wire, SourcePos pos);
  NodeId AppendNode(const Graph::Node& node);
  absl::StatusOr<const NodeKind*> KindOf(std::string_view op,
                                         const std::vector<std::string_view>& entries, NodeId node);
  absl::StatusOr<std::vector<Attr>> ParseAttrs(const std::vector<std::string_view>& entries,
                                               NodeId node);
  // For an edited graph: return the part of `before` with this content, or a copy.
  NodeId KeepNode(Graph::Node node);
  const NodeKind* KeptKind(std::string_view op, std::vector<Attr> attrs, std::string_view name);
  std::string_view KeptText(std::string_view text);
  std::string_view KeptValue(std::string_view wire);
  void IndexNames();
  void ResolveInputs();
  void ResolveBlock(size_t begin, size_t end);
  void OrderInputs(NodeId n);
  void ReportHole(NodeId n, std::string_view text);
  void BadInput(NodeId node, std::string_view message);

  std::string Where(NodeId node) const;
  absl::Status SyntaxError(std::string_view at, NodeId node, std::string_view message) const;
  SourcePos PosOf(const std::vector<SourcePos>& text_pos, size_t index,
                  std::string_view wire) const;

  ReadSource source_;
  const ImportLimits& limits_;
  DefectLog* defects_;
  Graph graph_;
  std::vector<std::string_view> node_wires_;
  std::string_view library_;
  // Input texts of all nodes. Those of node n begin at graph_.nodes_[n].first_input; data and
  // control inputs stand in the file's order.
  std::vector<std::string_view> input_texts_;
  // Scratch of ReadNode; members, so that the memory is allocated once.
  std::vector<std::string_view> attr_entries_;
  std::string extra_;
  // Kinds by a hash of the op and the attribute bytes: most nodes of a graph repeat the op and
  // attributes of another node, and are not parsed then.
  struct KnownKind {
    std::string_view op;
    std::string_view attrs;
    const NodeKind* kind;
  };
  absl::flat_hash_map<uint64_t, KnownKind> known_kinds_;
  const Graph* before_ = nullptr;  // null unless the graph is an edited one
  absl::flat_hash_set<NodeId> kept_ids_;
  absl::flat_hash_set<std::string_view> kept_texts_;
  // Hashes the length and 64 bytes of each end: hashing whole weights would cost more than the
  // rest.
  struct HashOfEnds {
    size_t operator()(std::string_view bytes) const;
  };
  absl::flat_hash_set<std::string_view, HashOfEnds>
      large_values_;  // values of `before_` above kMaxInternedBytes
};

}  // namespace tenon
