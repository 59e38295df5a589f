// Files to graphs and back: .pb, .pbtxt and either of them packed with xz or gzip, told apart by
// content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

struct ImportLimits {
  int64_t max_nodes = 10'000'000;
  int64_t max_const_bytes = int64_t{16} << 30;  // of one constant, decoded
  int64_t max_depth = 100;                      // nesting of messages
  int64_t max_file_bytes = int64_t{64} << 30;   // after decompression
};

enum class DefectCode : uint8_t {
  kSyntax,      // bytes that are no GraphDef
  kLimit,       // a limit of ImportLimits
  kName,        // malformed or duplicate node name
  kUnknownOp,   // no OpDef
  kArity,       // number of inputs does not fit the OpDef
  kInput,       // unknown node, bad port, data input after a control input
  kType,        // input type does not match
  kAttr,        // missing, ill-typed or not allowed
  kCycle,       // outside legal loops
  kColocation,  // _class names an unknown node
  kDevice,      // malformed device string
  kConst,       // tensor that does not decode
  kShape,       // a shape function refuses the node
  kPlugin,      // a plug-in's shape function fails: no fault of the graph
  kFunction,    // malformed or duplicate function
  kNoFunction,  // an attribute names a function that is not there
  kVersion,     // producer, min_consumer, deprecated op
  kKernel,      // no device can run the node: what import does not look for
  kSignature,   // of a SavedModel: a signature, saver or asset that names no tensor of the graph
};

struct Defect {
  DefectCode code;
  std::string where;             // "file:line:col" or "file:offset"
  std::string node;              // empty for file-level defects
  std::string message;           // what is wrong, in which node, what would be right
  bool in_function = false;      // of the library
  std::string ToString() const;  // "where: message"
};

// Whether the graph can do without the part that has the defect: a node of an unknown op, or one
// that calls what is not there, may not be needed.
inline bool MayBeUnused(const Defect& defect) {
  return defect.code == DefectCode::kUnknownOp || defect.code == DefectCode::kNoFunction;
}

struct Imported {
  Graph graph;
  std::vector<Defect> defects;  // in file order; empty: the graph is valid
};

// Reads and verifies. Status errors are for what is no graph at all: NOT_FOUND, PERMISSION_DENIED
// for the file, INVALID_ARGUMENT with "file:line:col: …" (text) or "file:offset: …" for syntax.
// Everything else is a defect; all are found. "-" reads standard input.
absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportLimits& limits = {});
absl::StatusOr<Imported> ImportBytes(std::string bytes, std::string source_name,
                                     const ImportLimits& limits = {});
// A GraphDef's bytes: neither text nor packed, whatever they look like.
absl::StatusOr<Imported> ImportBinary(std::string bytes, std::string source_name,
                                      const ImportLimits& limits = {});
// The nodes of an edited copy of `before`, which has no defects, as somebody else wrote it: those
// whose names were there have the ids that they had. Functions and versions stay, whatever the
// bytes say of them. What did not change is shared with `before`, positions are inherited, and
// nothing points into the bytes afterwards.
absl::StatusOr<Imported> ImportEdited(std::string_view bytes, std::string source_name,
                                      const Graph& before, const ImportLimits& limits = {});

// For callers that want a valid graph or an error: INVALID_ARGUMENT with the first defect
// (UNIMPLEMENTED if all are unknown ops).
absl::StatusOr<Graph> LoadGraph(const std::string& path, const ImportLimits& limits = {});

// Every defect of a graph in memory: what import finds, for graphs that passes or plug-ins changed.
std::vector<Defect> Verify(const Graph& graph);
// Those of its nodes, not of functions. `sound` is a graph without defects of which this one is an
// edited copy: names and attributes that it has too are not looked at again.
std::vector<Defect> VerifyNodes(const Graph& graph, const Graph* sound = nullptr);

// GraphDef bytes of the live nodes in id order; lossless for what was imported.
std::string ExportBinary(const Graph& graph);
// The same with functions that have interfaces and attributes, but no bodies.
std::string ExportWithoutBodies(const Graph& graph);
absl::StatusOr<std::string> ExportText(const Graph& graph);  // INVALID_ARGUMENT beyond 2 GiB
// Format and compression follow the file name's extensions: .pb, .pbtxt, then .xz or .gz.
// INVALID_ARGUMENT for a name that has none of them.
absl::Status CheckExportName(std::string_view path);
absl::Status ExportFile(const Graph& graph, const std::string& path);

}  // namespace tenon
