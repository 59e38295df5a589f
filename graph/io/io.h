// Reads graphs from files and writes them: .pb and .pbtxt, plain or packed with xz or gzip. Import
// tells them apart by content, export by the file's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/verify/defect.h"
#include "graph/verify/import_limits.h"

namespace tenon {

struct Imported {
  Graph graph;
  std::vector<Defect> defects;  // in file order; empty: the graph is valid
};

// Reads and verifies a graph. "-" as a path reads standard input. Every defect of the graph is
// found and returned in `defects`. A status error means that there is no graph:
// NOT_FOUND, PERMISSION_DENIED: the file cannot be read.
// INVALID_ARGUMENT: malformed content ("file:line:column: …" for text, "file: byte N: …" else),
// another kind of file, or an exceeded limit.
absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportLimits& limits = {});
absl::StatusOr<Imported> ImportBytes(std::string bytes, std::string source_name,
                                     const ImportLimits& limits = {});
// Imports GraphDef bytes as they are: neither text nor packed, whatever they look like.
absl::StatusOr<Imported> ImportBinary(std::string bytes, std::string source_name,
                                      const ImportLimits& limits = {});
// Imports an edited copy of `before`, which must have no defects. A node keeps the id of the node
// of its name in `before`. Functions and versions stay those of `before`; the bytes' own are
// ignored. The result shares with `before` all that did not change, and inherits positions. No view
// of `bytes` is left.
absl::StatusOr<Imported> ImportEdited(std::string_view bytes, std::string source_name,
                                      const Graph& before, const ImportLimits& limits = {});

// Imports a file for callers that need a valid graph: INVALID_ARGUMENT with the first defect, or
// UNIMPLEMENTED if all defects are unknown ops.
absl::StatusOr<Graph> LoadGraph(const std::string& path, const ImportLimits& limits = {});

// Returns GraphDef bytes of the live nodes in id order. Loses nothing that was imported.
std::string ExportBinary(const Graph& graph);
// ExportBinary, but functions keep only signature and attributes, without bodies.
std::string ExportWithoutBodies(const Graph& graph);
absl::StatusOr<std::string> ExportText(const Graph& graph);  // INVALID_ARGUMENT above 2 GiB
// Writes a file. The name's ending decides on format and compression: .pb or .pbtxt, then perhaps
// .xz or .gz. CheckExportName returns INVALID_ARGUMENT for a name without such an ending. The file
// is written as a whole or not at all (graph/base/file_writer.h).
absl::Status CheckExportName(std::string_view path);
absl::Status ExportFile(const Graph& graph, const std::string& path);

}  // namespace tenon
