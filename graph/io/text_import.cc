// The text form through protobuf's TextFormat, for all that ParsePlainGraphText leaves to it.
// Places of nodes and functions come from the parser's tree of locations.

#include "graph/io/text_import.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <climits>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/base/status_macros.h"
#include "graph/io/plain_text.h"
#include "graph/verify/verifier.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"
#include "proto/graph_def.pb.h"
#include "proto/saved_model.pb.h"

namespace tenon {
namespace {

namespace gp = google::protobuf;

using ParseInfo = gp::TextFormat::ParseInfoTree;

// TextFormat recurses: nesting beyond this would eat the stack whatever the caller's limit.
constexpr int64_t kMaxTextDepth = 1000;

class FirstError : public gp::io::ErrorCollector {
 public:
  explicit FirstError(int64_t max_depth) : max_depth_(max_depth) {}

  void AddError(int line, gp::io::ColumnNumber column, const std::string& message) override {
    if (failed_) return;
    failed_ = true;
    line_ = line;
    column_ = column;
    // In the user's terms: neither the library's limit nor our package is any.
    if (message.starts_with("Message is too deep")) {
      message_ = TooDeep(max_depth_);
      return;
    }
    message_ = absl::StrReplaceAll(message, {{"tenon.pb.", ""}});
    if (message_.ends_with('.')) message_.pop_back();
    if (message_.ends_with("got: ")) message_ += "the end of the file";
  }
  void AddWarning(int, gp::io::ColumnNumber, const std::string&) override {}

  int line() const { return line_; }
  int column() const { return column_; }
  const std::string& message() const { return message_; }

 private:
  const int64_t max_depth_;
  bool failed_ = false;
  int line_ = 0;
  int column_ = 0;
  std::string message_ = "not a GraphDef in text form";
};

const gp::FieldDescriptor* NodeField() {
  return pb::GraphDef::descriptor()->FindFieldByName("node");
}
const gp::FieldDescriptor* LibraryField() {
  return pb::GraphDef::descriptor()->FindFieldByName("library");
}

SourcePos ToPos(gp::TextFormat::ParseLocation at) {
  return {static_cast<uint32_t>(at.line + 1), static_cast<uint32_t>(at.column + 1), 0};
}

std::vector<SourcePos> NodePositions(const ParseInfo& info, int count) {
  std::vector<SourcePos> positions(count);
  for (int i = 0; i < count; ++i) positions[i] = ToPos(info.GetLocation(NodeField(), i));
  return positions;
}

std::vector<SourcePos> FunctionPositions(const ParseInfo& info, const pb::GraphDef& graph) {
  std::vector<SourcePos> positions(graph.library().function_size());
  const ParseInfo* library = info.GetTreeForNested(LibraryField(), -1);
  const gp::FieldDescriptor* function =
      pb::FunctionDefLibrary::descriptor()->FindFieldByName("function");
  for (size_t i = 0; library != nullptr && i < positions.size(); ++i) {
    positions[i] = ToPos(library->GetLocation(function, static_cast<int>(i)));
  }
  return positions;
}

// ", in node 'x'" where the parser was inside a node when it stopped.
std::string InNode(const pb::GraphDef& partial, const ParseInfo& info, const FirstError& error) {
  if (partial.node_size() == 0) return {};
  const int last = partial.node_size() - 1;
  const int node_line = info.GetLocation(NodeField(), last).line;
  const int library_line = info.GetLocation(LibraryField(), -1).line;
  if (partial.node(last).name().empty() || node_line > error.line() || library_line > node_line)
    return {};
  return absl::StrCat(", in node '", partial.node(last).name(), "'");
}

// Whether the bytes begin with a binary field `node` whose bytes are fields themselves. No text
// does. The count of control bytes below would take a graph that begins with a long name for text.
bool BeginsWithNode(std::string_view bytes) {
  WireReader graph(bytes);
  WireField node, field;
  if (!graph.Next(&node) || node.number != pb::GraphDef::kNodeFieldNumber ||
      node.type != WireType::kBytes || node.bytes.empty())
    return false;
  WireReader fields(node.bytes);
  while (fields.Next(&field)) {
    if (field.type != WireType::kBytes) return false;
  }
  return fields.ok();
}

TextPositions PositionsOf(const ParseInfo& info, const pb::GraphDef& graph) {
  TextPositions positions;
  positions.nodes = NodePositions(info, graph.node_size());
  positions.functions = FunctionPositions(info, graph);
  if (graph.has_versions())
    positions.versions =
        ToPos(info.GetLocation(pb::GraphDef::descriptor()->FindFieldByName("versions"), -1));
  return positions;
}

absl::StatusOr<std::string> Serialize(const gp::Message& message, const std::string& name) {
  if (message.ByteSizeLong() > INT_MAX)
    return absl::InvalidArgumentError(absl::StrCat(name, ": the graph has more than 2 GiB"));
  std::string wire;
  gp::io::StringOutputStream stream(&wire);
  gp::io::CodedOutputStream coded(&stream);
  // Attributes in one order, so that equal nodes are equal bytes.
  coded.SetSerializationDeterministic(true);
  message.SerializePartialToCodedStream(&coded);
  coded.Trim();
  return wire;
}

// Parses `text` into `message` and the positions into `info`, also up to an error. `where` returns
// an addition to the error's message.
absl::Status ParseText(std::string_view text, const std::string& name, int64_t max_depth,
                       gp::Message& message, ParseInfo& info,
                       absl::FunctionRef<std::string(const FirstError&)> where) {
  if (text.size() > INT_MAX)
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": text of more than 2 GiB; use the binary form"));
  // Our messages are in the status; protobuf would print its own.
  const gp::LogSilencer silence;
  max_depth = std::clamp<int64_t>(max_depth, 2, kMaxTextDepth);
  FirstError error(max_depth);
  gp::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&info);
  // The message itself is the first level.
  parser.SetRecursionLimit(static_cast<int>(max_depth - 1));
  gp::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&input, &message)) return absl::OkStatus();
  return absl::InvalidArgumentError(Printable(absl::StrCat(
      name, ":", error.line() + 1, ":", error.column() + 1, ": ", error.message(), where(error))));
}

}  // namespace

absl::StatusOr<TextGraph> ParseGraphText(std::string_view text, const std::string& name,
                                         int64_t max_depth) {
  std::optional<TextGraph> plain = ParsePlainGraphText(text, max_depth);
  return plain ? *std::move(plain) : ParseGraphTextWithProtobuf(text, name, max_depth);
}

absl::StatusOr<TextGraph> ParseGraphTextWithProtobuf(std::string_view text, const std::string& name,
                                                     int64_t max_depth) {
  pb::GraphDef graph;
  ParseInfo info;
  TENON_RETURN_IF_ERROR(ParseText(text, name, max_depth, graph, info, [&](const FirstError& error) {
    return InNode(graph, info, error);
  }));
  TENON_ASSIGN_OR_RETURN(std::string wire, Serialize(graph, name));
  return TextGraph{std::move(wire), PositionsOf(info, graph)};
}

absl::StatusOr<TextSavedModel> ParseSavedModelText(std::string_view text, const std::string& name,
                                                   int64_t max_depth) {
  pb::SavedModel model;
  ParseInfo info;
  TENON_RETURN_IF_ERROR(ParseText(text, name, max_depth, model, info,
                                  [](const FirstError&) { return std::string(); }));
  TextSavedModel parsed;
  const gp::FieldDescriptor* meta = pb::SavedModel::descriptor()->FindFieldByName("meta_graphs");
  const gp::FieldDescriptor* graph = pb::MetaGraphDef::descriptor()->FindFieldByName("graph_def");
  for (int i = 0; i < model.meta_graphs_size(); ++i) {
    const ParseInfo* in_meta = info.GetTreeForNested(meta, i);
    const ParseInfo* in_graph = in_meta == nullptr ? nullptr : in_meta->GetTreeForNested(graph, -1);
    parsed.graphs.push_back(in_graph == nullptr
                                ? TextPositions()
                                : PositionsOf(*in_graph, model.meta_graphs(i).graph_def()));
  }
  TENON_ASSIGN_OR_RETURN(parsed.wire, Serialize(model, name));
  return parsed;
}

absl::StatusOr<std::string> PrintGraphText(std::string_view wire, size_t limit) {
  pb::GraphDef graph;
  absl::Status too_large = absl::InvalidArgumentError(
      absl::StrCat("the graph's text has more than ", limit, " bytes; use the binary form"));
  if (wire.size() > limit) return too_large;
  const gp::LogSilencer silence;
  if (!graph.ParsePartialFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return absl::InvalidArgumentError("the graph's bytes are no GraphDef");
  }
  std::string text;
  gp::TextFormat::Printer printer;
  if (!printer.PrintToString(graph, &text))
    return absl::InternalError("printing the graph as text failed");
  if (text.size() > limit) return too_large;
  return text;
}

bool LooksLikeText(std::string_view bytes) {
  if (BeginsWithNode(bytes)) return false;
  const std::string_view sample = bytes.substr(0, 4096);
  // The byte order mark of UTF-8, which some editors write.
  if (sample.starts_with("\xef\xbb\xbf")) return true;
  size_t controls = 0;
  for (const char c : sample) {
    const auto b = static_cast<uint8_t>(c);
    controls += b == 0x7f || (b < 0x20 && (b < '\t' || b > '\r'));
  }
  const size_t first = sample.find_first_not_of(" \t\r\n\v\f");
  if (first == sample.npos) return true;
  const char c = sample[first];
  const bool starts_as_text =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#' || c == '[';
  // A binary graph has a control byte (a tag or a length) every few dozen bytes.
  return controls == 0 ? starts_as_text || bytes.size() > 1
                       : starts_as_text && controls * 128 < sample.size();
}

}  // namespace tenon
