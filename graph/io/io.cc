// The stages of an import: read, unpack, tell text from binary, read the nodes, verify. Defects of
// a graph are collected. Errors of syntax end the import.

#include "graph/io/io.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "graph/io/file_kind.h"
#include "graph/io/graph_reader.h"
#include "graph/io/text_import.h"
#include "graph/verify/verifier.h"

namespace tenon {
namespace {

size_t MaxFileBytes(const ImportLimits& limits) {
  return static_cast<size_t>(std::max<int64_t>(limits.max_file_bytes, 0));
}

ReadSource BinarySource(FileBytes file, std::string name) {
  return {file.bytes, std::move(file.owner), std::move(name), {}, file.mapped};
}

absl::StatusOr<ReadSource> ToSource(FileBytes file, std::string name, const ImportLimits& limits) {
  if (!LooksLikeText(file.bytes)) return BinarySource(std::move(file), std::move(name));
  TENON_ASSIGN_OR_RETURN(TextGraph text, ParseGraphText(file.bytes, name, limits.max_depth));
  FileBytes wire = BytesOf(std::move(text.wire));
  return ReadSource{wire.bytes, std::move(wire.owner), std::move(name), std::move(text.positions)};
}

// Kinds of other files are looked for after unpacking and before parsing, so that a user reads what
// the file is instead of a syntax error.
absl::StatusOr<Imported> Import(FileBytes file, const std::string& name,
                                const ImportLimits& limits) {
  TENON_ASSIGN_OR_RETURN(file, Unpack(std::move(file), name, MaxFileBytes(limits)));
  if (!file.bytes.empty() && file.bytes.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos)
    return absl::InvalidArgumentError(
        absl::StrCat(name, ":1: holds nothing but white space: there is no graph in it"));
  if (const std::string_view other = WhatItIsInstead(file.bytes); !other.empty())
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", other));
  absl::StatusOr<ReadSource> source = ToSource(std::move(file), name, limits);
  absl::StatusOr<Imported> imported = source.ok() ? ImportSource(*std::move(source), limits)
                                                  : absl::StatusOr<Imported>(source.status());
  if (imported.ok()) return imported;
  const std::string_view other = WhatItsNameSays(name);
  if (other.empty()) return imported;
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", other));
}

}  // namespace

absl::StatusOr<Imported> ImportSource(ReadSource source, const ImportLimits& limits) {
  DefectLog log;
  TENON_ASSIGN_OR_RETURN(Graph graph, GraphReader::Read(std::move(source), limits, &log));
  VerifyGraph(graph, {.from_file = true, .max_const_bytes = limits.max_const_bytes}, &log);
  return Imported{std::move(graph), std::move(log).Take()};
}

absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportLimits& limits) {
  TENON_ASSIGN_OR_RETURN(FileBytes file, ReadFile(path, MaxFileBytes(limits)));
  const std::string name = path == "-" ? "<stdin>" : path;
  if (file.bytes.empty())
    return absl::InvalidArgumentError(absl::StrCat(name, ": is empty: there is no graph in it"));
  return Import(std::move(file), name, limits);
}

absl::StatusOr<Imported> ImportBytes(std::string bytes, std::string source_name,
                                     const ImportLimits& limits) {
  return Import(BytesOf(std::move(bytes)), source_name, limits);
}

absl::StatusOr<Imported> ImportBinary(std::string bytes, std::string source_name,
                                      const ImportLimits& limits) {
  return ImportBinary(BytesOf(std::move(bytes)), std::move(source_name), limits);
}

absl::StatusOr<Imported> ImportBinary(FileBytes bytes, std::string source_name,
                                      const ImportLimits& limits) {
  return ImportSource(BinarySource(std::move(bytes), std::move(source_name)), limits);
}

absl::StatusOr<Imported> ImportEdited(std::string_view bytes, std::string source_name,
                                      const Graph& before, const ImportLimits& limits) {
  DefectLog log;
  TENON_ASSIGN_OR_RETURN(
      Graph graph, GraphReader::ReadEdited(bytes, std::move(source_name), before, limits, &log));
  VerifyNodes(graph, {.max_const_bytes = limits.max_const_bytes, .sound = &before}, &log);
  return Imported{std::move(graph), std::move(log).Take()};
}

absl::StatusOr<Graph> LoadGraph(const std::string& path, const ImportLimits& limits) {
  TENON_ASSIGN_OR_RETURN(Imported imported, ImportFile(path, limits));
  if (imported.defects.empty()) return std::move(imported.graph);
  const auto is_unknown_op = [](const Defect& d) { return d.code == DefectCode::kUnknownOp; };
  // Unknown ops are reported only if nothing else is wrong: a plug-in may bring them, other defects
  // stay.
  const auto other =
      std::find_if_not(imported.defects.begin(), imported.defects.end(), is_unknown_op);
  if (other == imported.defects.end())
    return absl::UnimplementedError(imported.defects.front().ToString());
  return absl::InvalidArgumentError(other->ToString());
}

}  // namespace tenon
