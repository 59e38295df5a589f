// Files to graphs and back: .pb, .pbtxt and either of them packed with xz or gzip, told apart by
// content.
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
