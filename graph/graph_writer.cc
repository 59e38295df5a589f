// Graphs back to files; see io.h.
#include "graph/graph_writer.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/file_bytes.h"
#include "graph/function_library.h"
#include "graph/io.h"
#include "graph/status_macros.h"
#include "graph/text_import.h"
#include "graph/wire.h"

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

}  // namespace

std::string GraphWriter::Binary() const {
  std::string out;
  out.reserve(EstimateBytes());
  WireWriter writer(&out);
  std::string node;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n)) continue;
    node.clear();
    AppendNode(n, &node);
    writer.Bytes(1, node);
  }
  const std::vector<FunctionEntry> functions = FunctionsToWrite(graph_);
  if (graph_.has_library_ || !functions.empty()) writer.Bytes(2, Library(functions));
  if (graph_.versions_.data() != nullptr) writer.Bytes(4, graph_.versions_);
  out.append(graph_.graph_extra_);
  return out;
}

size_t GraphWriter::EstimateBytes() const {
  size_t bytes = graph_.graph_extra_.size() + graph_.library_extra_.size() + 64;
  for (const FunctionEntry& f : graph_.functions_) bytes += f.wire.size() + 8;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    if (!graph_.alive(n)) continue;
    bytes += graph_.name(n).size() + graph_.op_name(n).size() + graph_.device(n).size() + 16;
    for (const Output& from : graph_.inputs(n)) {
      if (from.node != kNoNode) bytes += graph_.name(from.node).size() + 4;
    }
    for (const Attr& a : graph_.attrs(n).all()) bytes += a.name.size() + a.value.wire().size() + 24;
  }
  return bytes;
}

void GraphWriter::AppendNode(NodeId n, std::string* out) const {
  WireWriter writer(out);
  writer.Bytes(1, graph_.name(n));
  writer.Bytes(2, graph_.op_name(n));
  for (const Output& from : graph_.inputs(n)) {
    // Holes are defects that were reported; a file cannot say them.
    if (from.node != kNoNode) writer.Bytes(3, graph_.OutputName(from));
  }
  if (!graph_.device(n).empty()) writer.Bytes(4, graph_.device(n));
  for (const Attr& a : graph_.attrs(n).all()) AppendAttr(a, out);
  if (const auto extra = graph_.extra_.find(n); extra != graph_.extra_.end())
    out->append(extra->second);
}

// Its length is known beforehand, so that large constants are copied once.
void GraphWriter::AppendAttr(const Attr& attr, std::string* out) {
  const auto length_of_varint = [](uint64_t v) {
    size_t n = 1;
    for (; v >= 0x80; v >>= 7) ++n;
    return n;
  };
  const std::string_view value = attr.value.wire();
  WireWriter writer(out);
  writer.RawVarint(5 << 3 | static_cast<uint64_t>(WireType::kBytes));
  writer.RawVarint(1 + length_of_varint(attr.name.size()) + attr.name.size() + 1 +
                   length_of_varint(value.size()) + value.size());
  writer.Bytes(1, attr.name);
  writer.Bytes(2, value);
}

std::string GraphWriter::Library(absl::Span<const FunctionEntry> functions) const {
  std::string library;
  WireWriter writer(&library);
  for (const FunctionEntry& f : functions) writer.Bytes(1, f.wire);
  library.append(graph_.library_extra_);
  return library;
}

std::string ExportBinary(const Graph& graph) { return GraphWriter(graph).Binary(); }

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
