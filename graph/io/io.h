// Reads graphs from files and writes them: .pb and .pbtxt, plain or packed with xz or gzip. Import
// tells them apart by content, export by the file's name. All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/base/file_bytes.h"
#include "graph/ir/graph.h"
#include "graph/verify/defect.h"
#include "graph/verify/import_limits.h"

namespace tenon {

struct Imported {
  Graph graph;
  // First those of the versions, then of nodes in file order, then of functions. Empty: the graph
  // is valid.
  std::vector<Defect> defects;
};

// Read and verify a graph. ImportFile reads a file, "-" for standard input; ImportBytes takes over
// bytes of the same formats. `defects` has every defect that Verify (graph/verify/defect.h) finds
// or that only the file shows, such as an input that names no node.
// `source_name` stands for the file in messages. A status error means that there is no graph:
// NOT_FOUND, PERMISSION_DENIED: the file cannot be read.
// INVALID_ARGUMENT: malformed content ("file:line:column: …" for text, "file: byte N: …" else),
// another kind of file, an exceeded limit, any other error of the system, white space alone, or,
// for ImportFile, an empty file. ImportBytes returns an empty graph for no bytes, and both do for
// packed bytes that unpack to none. A constant above max_const_bytes is a defect, no error.
// max_file_bytes limits files and what packed bytes unpack to, but not bytes that ImportBytes gets
// unpacked. RESOURCE_EXHAUSTED: no memory to unpack; any other lack of memory throws bad_alloc. The
// graph may map a binary file that is not packed: the file must then not be changed in place while
// the graph, a copy of it or a tensor view of it lives.
absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportLimits& limits = {});
absl::StatusOr<Imported> ImportBytes(std::string bytes, std::string source_name,
                                     const ImportLimits& limits = {});
// ImportBytes for GraphDef bytes as they are: neither text nor packed, whatever they look like. The
// graph shares the ownership of FileBytes. The only errors are INVALID_ARGUMENT for malformed bytes
// and for an exceeded limit.
absl::StatusOr<Imported> ImportBinary(std::string bytes, std::string source_name,
                                      const ImportLimits& limits = {});
absl::StatusOr<Imported> ImportBinary(FileBytes bytes, std::string source_name,
                                      const ImportLimits& limits = {});
// Imports an edited copy of `before`, which must have no defects. A node keeps the id of the node
// of its name in `before`. Functions and versions stay those of `before`; the bytes' own are
// ignored. The result shares with `before` all that did not change, and inherits positions and the
// name of the source: `source_name` is for messages only. No view of `bytes` is left. Nodes and
// versions are verified, functions are not. Errors are those of ImportBinary.
absl::StatusOr<Imported> ImportEdited(std::string_view bytes, std::string source_name,
                                      const Graph& before, const ImportLimits& limits = {});

// Imports a file for callers that need a valid graph. Errors are those of ImportFile;
// INVALID_ARGUMENT with the first defect that is no unknown op; UNIMPLEMENTED if all defects are
// unknown ops, which a plug-in may bring.
absl::StatusOr<Graph> LoadGraph(const std::string& path, const ImportLimits& limits = {});

// Returns GraphDef bytes of the live nodes in id order, attributes by name. Loses nothing that was
// imported, but inputs that did not resolve, which are defects, and what a later field replaced, as
// where a node has an attribute twice.
std::string ExportBinary(const Graph& graph);
// ExportBinary, but as TensorFlow writes graphs: each node also has the OpDef's defaults of the
// attributes that it lacks, and the full type of its results where TensorFlow notes one; a library
// is there also where it is empty. ExportNode returns the NodeDef of one live node in this form.
std::string ExportWithDefaults(const Graph& graph);
std::string ExportNode(const Graph& graph, NodeId n);
// ExportBinary, but functions keep only signature and attributes, without bodies, which are most of
// the bytes.
std::string ExportWithoutBodies(const Graph& graph);
// Returns the text form. INVALID_ARGUMENT if ExportBinary's bytes or the text are more than 2 GiB,
// which protobuf does not read, or if protobuf cannot parse the bytes. INTERNAL if protobuf cannot
// print.
absl::StatusOr<std::string> ExportText(const Graph& graph);
// ExportFile writes a file. The name's ending decides on format and compression: .pb or .pbtxt,
// then perhaps .xz or .gz. Regular files are written as a whole or not at all
// (graph/base/file_writer.h). CheckExportName returns INVALID_ARGUMENT for a name without such an
// ending, and asks nothing of the file system. ExportFile has the errors of CheckExportName, of
// ExportText for .pbtxt, of packing (graph/base/file_bytes.h) and of WriteFile.
absl::Status CheckExportName(std::string_view path);
absl::Status ExportFile(const Graph& graph, const std::string& path);

}  // namespace tenon
