// Graphs back to files; see io.h.
#include "graph/io/graph_writer.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "graph/io/text_import.h"
#include "graph/op_defs/attr_entry.h"
#include "graph/op_defs/node_full_type.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

struct ExportFormat {
  bool text = false, xz = false, gz = false;
};

absl::StatusOr<ExportFormat> FormatOf(std::string_view path) {
  std::string_view name = path;
  ExportFormat format;
  format.xz = absl::ConsumeSuffix(&name, ".xz");
  format.gz = !format.xz && absl::ConsumeSuffix(&name, ".gz");
  format.text = absl::EndsWith(name, ".pbtxt");
  if (format.text || absl::EndsWith(name, ".pb")) return format;
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path,
      "': the name must end in .pb or .pbtxt, with .xz or .gz after it for a packed file"));
}

// The tag of GraphDef.node: field 1, bytes.
constexpr uint64_t kNodeTag = uint64_t{1} << 3 | static_cast<uint64_t>(WireType::kBytes);

constexpr uint32_t kFullTypeField = 7;  // NodeDef.experimental_type

bool HasFullType(std::string_view extra) {
  WireReader reader(extra);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kFullTypeField) return true;
  }
  return false;
}

// Returns a FunctionDef without its nodes and without the sources of results and control outputs.
std::string WithoutBody(std::string_view function) {
  constexpr uint32_t kNodes = 3, kReturns = 4, kControlReturns = 6;
  std::string out;
  WireReader reader(function);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number != kNodes && f.number != kReturns && f.number != kControlReturns)
      out.append(f.raw);
  }
  return out;
}

}  // namespace

std::string GraphWriter::Binary() const {
  std::string out;
  // A string that grows by doubling may take twice the bytes of the graph.
  out.reserve(EstimateBytes());
  WireWriter writer(&out);
  NodeParts parts;  // scratch
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n)) continue;
    // The length comes first, so that large constants are copied once.
    FindParts(n, &parts);
    writer.RawVarint(kNodeTag);
    writer.RawVarint(parts.bytes);
    AppendParts(parts, &out);
  }
  const std::vector<FunctionEntry> functions = FunctionsToWrite(graph_);
  // TensorFlow writes the library of a graph also where it is empty.
  const bool as_tensorflow = attrs_ == Attrs::kWithDefaults;
  if (graph_.has_library_ || as_tensorflow || !functions.empty())
    writer.Bytes(2, Library(functions));
  if (graph_.versions_.data() != nullptr) writer.Bytes(4, graph_.versions_);
  out.append(graph_.graph_extra_);
  return out;
}

size_t GraphWriter::EstimateBytes() const {
  size_t bytes = graph_.graph_extra_.size() + graph_.library_extra_.size() + 64;
  if (functions_ == Functions::kWhole) {
    for (const FunctionEntry& f : graph_.functions_) bytes += f.wire.size() + 8;
  }
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n)) continue;
    bytes += graph_.name(n).size() + graph_.op_name(n).size() + graph_.device(n).size() + 16;
    for (const Output& from : graph_.inputs(n)) {
      if (from.node != kNoNode) bytes += graph_.name(from.node).size() + 4;
    }
    for (const Attr& a : graph_.attrs(n).all()) bytes += a.name.size() + a.value.wire().size() + 24;
    if (attrs_ == Attrs::kOwn) continue;
    for (const Attr& a : graph_.kind(n).defaults.all())
      bytes += a.name.size() + a.value.wire().size() + 24;
  }
  return bytes;
}

// Appends name, op, inputs and device.
void GraphWriter::AppendHead(NodeId n, std::string* out) const {
  WireWriter writer(out);
  writer.Bytes(1, graph_.name(n));
  writer.Bytes(2, graph_.op_name(n));
  for (const Output& from : graph_.inputs(n)) {
    // Holes are defects that were reported; a file cannot say them.
    if (from.node != kNoNode) writer.Bytes(3, graph_.OutputName(from));
  }
  if (!graph_.device(n).empty()) writer.Bytes(4, graph_.device(n));
}

void GraphWriter::FindParts(NodeId n, NodeParts* parts) const {
  parts->head.clear();
  AppendHead(n, &parts->head);
  parts->attrs = graph_.attrs(n).all();
  if (attrs_ == Attrs::kWithDefaults && !graph_.kind(n).defaults.all().empty()) {
    const std::vector<Attr>& defaults = graph_.kind(n).defaults.all();
    parts->attrs.insert(parts->attrs.end(), defaults.begin(), defaults.end());
    std::sort(parts->attrs.begin(), parts->attrs.end(),
              [](const Attr& a, const Attr& b) { return a.name < b.name; });
  }
  const auto extra = graph_.extra_.find(n);
  parts->extra = extra == graph_.extra_.end() ? std::string_view() : extra->second;
  parts->full_type.clear();
  const OpDef* const op = graph_.kind(n).op;
  if (attrs_ == Attrs::kWithDefaults && op != nullptr && !HasFullType(parts->extra)) {
    const std::string type = NodeFullType(*op, parts->attrs);
    if (!type.empty()) WireWriter(&parts->full_type).Bytes(kFullTypeField, type);
  }
  parts->bytes = parts->head.size() + parts->extra.size() + parts->full_type.size();
  for (const Attr& a : parts->attrs) parts->bytes += AttrEntryBytes(a);
}

void GraphWriter::AppendParts(const NodeParts& parts, std::string* out) {
  out->append(parts.head);
  for (const Attr& a : parts.attrs) AppendAttrEntry(a, out);
  out->append(parts.extra);
  out->append(parts.full_type);
}

std::string GraphWriter::Node(NodeId n) const {
  NodeParts parts;
  FindParts(n, &parts);
  std::string out;
  out.reserve(parts.bytes);
  AppendParts(parts, &out);
  return out;
}

std::string GraphWriter::Library(absl::Span<const FunctionEntry> functions) const {
  std::string library;
  WireWriter writer(&library);
  for (const FunctionEntry& f : functions) {
    if (functions_ == Functions::kWhole) {
      writer.Bytes(1, f.wire);
    } else {
      writer.Bytes(1, WithoutBody(f.wire));
    }
  }
  library.append(graph_.library_extra_);
  return library;
}

std::string ExportBinary(const Graph& graph) { return GraphWriter(graph).Binary(); }

std::string ExportWithDefaults(const Graph& graph) {
  return GraphWriter(graph, GraphWriter::Functions::kWhole, GraphWriter::Attrs::kWithDefaults)
      .Binary();
}

std::string ExportNode(const Graph& graph, NodeId n) {
  return GraphWriter(graph, GraphWriter::Functions::kWhole, GraphWriter::Attrs::kWithDefaults)
      .Node(n);
}

std::string ExportWithoutBodies(const Graph& graph) {
  return GraphWriter(graph, GraphWriter::Functions::kWithoutBodies).Binary();
}

absl::StatusOr<std::string> ExportText(const Graph& graph) {
  return PrintGraphText(ExportBinary(graph));
}

absl::Status CheckExportName(std::string_view path) { return FormatOf(path).status(); }

absl::Status ExportFile(const Graph& graph, const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const ExportFormat format, FormatOf(path));
  std::string bytes;
  if (format.text) {
    TENON_ASSIGN_OR_RETURN(bytes, ExportText(graph));
  } else {
    bytes = ExportBinary(graph);
  }
  if (format.xz) {
    TENON_ASSIGN_OR_RETURN(bytes, PackXz(bytes));
  } else if (format.gz) {
    TENON_ASSIGN_OR_RETURN(bytes, PackGzip(bytes));
  }
  return WriteFile(path, bytes);
}

}  // namespace tenon
