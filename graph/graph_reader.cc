#include "graph/graph_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "graph/closest.h"
#include "graph/graph_storage.h"
#include "graph/status_macros.h"
#include "graph/wire.h"
#include "graph/wire_check.h"

namespace tenon {
namespace {

enum GraphField : uint32_t { kNode = 1, kLibrary = 2, kVersions = 4 };
enum NodeField : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5 };

// Messages around an attribute's entry: the graph and the node.
constexpr int64_t kDepthOfNode = 2;
// A graph with more edges than this would overflow the 32-bit edge index.
constexpr size_t kMaxEdges = size_t{1} << 31;
// Closest-name searches cost a sweep over all names; a file with a thousand bad inputs gets no more hints than this.
constexpr int kMaxHints = 50;

// The entries as one piece of the file, if they stand side by side.
std::string_view OnePiece(const std::vector<std::string_view>& entries) {
  if (entries.empty()) return {};
  const char* end = entries[0].data() + entries[0].size();
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].data() != end) return {};
    end += entries[i].size();
  }
  return {entries[0].data(), static_cast<size_t>(end - entries[0].data())};
}

// Joins a singular message field that comes several times: protobuf merges them, which is to concatenate their bytes.
std::string_view Merge(std::string_view before, std::string_view more, GraphStorage* storage) {
  return before.empty() ? more : storage->Copy(absl::StrCat(before, more));
}

}  // namespace

GraphReader::GraphReader(ReadSource source, const ImportLimits& limits, DefectLog* defects)
    : source_(std::move(source)), limits_(limits), defects_(defects) {
  graph_.source_name_ = source_.name;
  graph_.storage_->Keep(source_.owner);
}

absl::StatusOr<Graph> GraphReader::Read(ReadSource source, const ImportLimits& limits, DefectLog* defects) {
  GraphReader reader(std::move(source), limits, defects);
  TENON_RETURN_IF_ERROR(reader.Scan());
  TENON_RETURN_IF_ERROR(reader.ReadLibrary(reader.library_));
  TENON_RETURN_IF_ERROR(reader.ReadNodes());
  reader.IndexNames();
  reader.ResolveInputs();
  return std::move(reader.graph_);
}

SourcePos GraphReader::PosOf(const std::vector<SourcePos>& text_pos, size_t index, std::string_view wire) const {
  if (index < text_pos.size()) return text_pos[index];
  const bool inside = wire.data() >= source_.wire.data() && wire.data() < source_.wire.data() + source_.wire.size();
  return {0, 0, inside ? static_cast<uint64_t>(wire.data() - source_.wire.data()) : 0};
}

std::string GraphReader::Where(NodeId node) const { return graph_.Locate(node); }

absl::Status GraphReader::SyntaxError(std::string_view at, NodeId node, std::string_view message) const {
  const bool inside = at.data() >= source_.wire.data() && at.data() <= source_.wire.data() + source_.wire.size();
  const std::string where = !source_.node_pos.empty() && node != kNoNode
                                ? Where(node)
                                : absl::StrCat(source_.name, ":", inside ? at.data() - source_.wire.data() : 0);
  std::string in_node;
  if (node != kNoNode) in_node = absl::StrCat(" in node '", graph_.name(node), "'");
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", message, in_node));
}

// Finds the nodes and everything that is no node; the library comes after the nodes in most files, and op names need it.
absl::Status GraphReader::Scan() {
  WireReader reader(source_.wire);
  WireField f;
  std::string extra;
  while (reader.Next(&f)) {
    if (f.type == WireType::kBytes && f.number == kNode) {
      node_wires_.push_back(f.bytes);
    } else if (f.type == WireType::kBytes && f.number == kLibrary) {
      graph_.has_library_ = true;
      library_ = Merge(library_, f.bytes, graph_.storage_.get());
    } else if (f.type == WireType::kBytes && f.number == kVersions) {
      graph_.versions_ = Merge(graph_.versions_, f.bytes, graph_.storage_.get());
    } else {
      extra.append(f.raw);
    }
  }
  graph_.graph_extra_ = graph_.storage_->Copy(extra);
  if (!reader.ok()) {
    const std::string after =
        node_wires_.empty() ? std::string() : absl::StrCat(" after ", node_wires_.size(), " nodes; the file may be truncated");
    return SyntaxError(source_.wire.substr(reader.offset(), 0), kNoNode, absl::StrCat("malformed GraphDef", after));
  }
  if (static_cast<int64_t>(node_wires_.size()) > limits_.max_nodes) {
    return absl::InvalidArgumentError(absl::StrCat(source_.name, ": the graph has ", node_wires_.size(),
                                                   " nodes, the limit (--max-nodes) is ", limits_.max_nodes));
  }
  return absl::OkStatus();
}

absl::Status GraphReader::ReadLibrary(std::string_view library) {
  if (const auto fault = CheckWire(WireMessage::kFunctionLibrary, library, limits_.max_depth - 1)) {
    return SyntaxError(fault->at, kNoNode, absl::StrCat(fault->message, " in the function library"));
  }
  WireReader reader(library);
  WireField f;
  std::string extra;
  while (reader.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) {
      AddFunction(f.bytes);
    } else {
      extra.append(f.raw);
    }
  }
  graph_.library_extra_ = graph_.storage_->Copy(extra);
  return absl::OkStatus();
}

void GraphReader::AddFunction(std::string_view wire) {
  FunctionEntry entry{{}, wire, nullptr, PosOf(source_.function_pos, graph_.functions_.size(), wire)};
  std::string_view signature;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) signature = Merge(signature, f.bytes, graph_.storage_.get());
  }
  WireReader fields(signature);
  while (fields.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) entry.name = f.bytes;
  }
  if (absl::StatusOr<OpDef> op = OpDefFromWire(signature); op.ok()) entry.signature = graph_.storage_->Add(*std::move(op));
  graph_.function_by_name_.try_emplace(entry.name, static_cast<int32_t>(graph_.functions_.size()));
  graph_.functions_.push_back(entry);
}

absl::Status GraphReader::ReadNodes() {
  graph_.nodes_.reserve(node_wires_.size());
  input_texts_.reserve(node_wires_.size() * 2);
  for (size_t i = 0; i < node_wires_.size(); ++i) {
    TENON_RETURN_IF_ERROR(ReadNode(node_wires_[i], PosOf(source_.node_pos, i, node_wires_[i])));
  }
  graph_.live_ = graph_.num_node_ids();
  if (input_texts_.size() > kMaxEdges) return absl::InvalidArgumentError(absl::StrCat(source_.name, ": too many edges"));
  return absl::OkStatus();
}

absl::Status GraphReader::ReadNode(std::string_view wire, SourcePos pos) {
  const NodeId id = graph_.num_node_ids();
  Graph::Node& node = graph_.nodes_.emplace_back();
  node.pos = pos;
  node.first_input = static_cast<uint32_t>(input_texts_.size());
  std::string_view op;
  attr_entries_.clear();
  extra_.clear();
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes || f.number > kAttr) {
      extra_.append(f.raw);
      continue;
    }
    switch (f.number) {
      case kName: node.name = f.bytes; break;
      case kOp: op = f.bytes; break;
      case kInput: input_texts_.push_back(f.bytes); break;
      case kDevice: node.device = f.bytes; break;
      default: attr_entries_.push_back(f.raw); break;
    }
  }
  if (!reader.ok()) return SyntaxError(wire.substr(reader.offset(), 0), id, "malformed NodeDef");
  node.capacity = static_cast<uint32_t>(input_texts_.size()) - node.first_input;
  if (!extra_.empty()) {
    if (const auto fault = CheckWire(WireMessage::kNodeDef, extra_, limits_.max_depth - 1)) {
      return SyntaxError(wire, id, fault->message);
    }
    graph_.extra_[id] = graph_.storage_->Copy(extra_);
  }
  TENON_ASSIGN_OR_RETURN(node.kind, KindOf(op, attr_entries_, id));
  return absl::OkStatus();
}

absl::StatusOr<const NodeKind*> GraphReader::KindOf(std::string_view op, const std::vector<std::string_view>& entries,
                                                    NodeId node) {
  const std::string_view bytes = OnePiece(entries);
  const bool lookup = bytes.size() <= kMaxInternedBytes && (entries.empty() || !bytes.empty());
  uint64_t hash = 0;
  if (lookup) {
    hash = absl::HashOf(op, bytes);
    const auto it = known_kinds_.find(hash);
    if (it != known_kinds_.end() && it->second.op == op && it->second.attrs == bytes) return it->second.kind;
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Attr> attrs, ParseAttrs(entries, node));
  const NodeKind* kind = graph_.Intern(op, std::move(attrs));
  if (lookup) known_kinds_.try_emplace(hash, KnownKind{op, bytes, kind});
  return kind;
}

// `entries` are the raw fields of the node's attr map, tags included.
absl::StatusOr<std::vector<Attr>> GraphReader::ParseAttrs(const std::vector<std::string_view>& entries, NodeId node) {
  std::vector<Attr> attrs;
  attrs.reserve(entries.size());
  bool sorted = true;
  for (const std::string_view raw : entries) {
    WireField entry;
    WireReader outer(raw);
    outer.Next(&entry);
    if (const auto fault = CheckWire(WireMessage::kAttrEntry, entry.bytes, limits_.max_depth - kDepthOfNode)) {
      return SyntaxError(fault->at, node, fault->message);
    }
    Attr attr;
    WireReader reader(entry.bytes);
    WireField f;
    while (reader.Next(&f)) {
      if (f.type != WireType::kBytes) continue;
      if (f.number == 1) attr.name = f.bytes;
      if (f.number == 2) attr.value = AttrValue(f.bytes);
    }
    sorted &= attrs.empty() || attrs.back().name < attr.name;
    attrs.push_back(attr);
  }
  if (sorted) return attrs;
  std::stable_sort(attrs.begin(), attrs.end(), [](const Attr& a, const Attr& b) { return a.name < b.name; });
  // Of entries with one key the last counts.
  size_t kept = 0;
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (i + 1 < attrs.size() && attrs[i].name == attrs[i + 1].name) continue;
    attrs[kept++] = attrs[i];
  }
  attrs.resize(kept);
  return attrs;
}

void GraphReader::IndexNames() {
  graph_.by_name_.reserve(graph_.nodes_.size());
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) graph_.by_name_.try_emplace(graph_.nodes_[n].name, n);
}

void GraphReader::BadInput(NodeId node, std::string_view message) {
  defects_->AddNode(graph_, node, DefectCode::kInput, message);
}

Output GraphReader::ResolveInput(NodeId node, std::string_view text, NodeId guess) {
  std::string_view name = text;
  int32_t port = 0;
  bool port_ok = true;
  if (name.starts_with('^')) {
    name.remove_prefix(1);
    port = kControlPort;
  } else if (!name.empty() && name.back() >= '0' && name.back() <= '9') {
    const size_t last = name.find_last_not_of("0123456789");
    if (last != name.npos && last > 0 && name[last] == ':') {
      port_ok = std::from_chars(name.data() + last + 1, name.data() + name.size(), port).ec == std::errc();
      name = name.substr(0, last);
    }
  }
  // Chains are common. Where names repeat, the guess may not be the first of its name.
  const bool guessed = guess >= 0 && port_ok && graph_.nodes_[guess].name == name;
  if (guessed && graph_.by_name_.size() == graph_.nodes_.size()) return {guess, port};
  const auto it = graph_.by_name_.find(name);
  if (it == graph_.by_name_.end()) {
    ClosestName closest(name);
    if (defects_->size() < kMaxHints) {
      for (const Graph::Node& other : graph_.nodes_) closest.Offer(other.name);
    }
    BadInput(node, absl::StrCat("input '", text, "' names no node of the graph", closest.Hint()));
    return {kNoNode, port};
  }
  if (!port_ok) {
    BadInput(node, absl::StrCat("input '", text, "' has a port number that no node can have"));
    return {kNoNode, 0};
  }
  return {it->second, port};
}

// Data inputs first, then control inputs, in place of the texts. A data input after a control input is a defect.
void GraphReader::ResolveInputs() {
  graph_.edges_.resize(input_texts_.size());
  std::vector<Output> control;
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
    Graph::Node& node = graph_.nodes_[n];
    control.clear();
    Output* out = graph_.edges_.data() + node.first_input;
    bool in_order = true;
    for (uint32_t i = 0; i < node.capacity; ++i) {
      const std::string_view text = input_texts_[node.first_input + i];
      const Output from = ResolveInput(n, text, n - 1);
      if (from.is_control()) {
        control.push_back(from);
        continue;
      }
      if (!control.empty() && in_order) {
        in_order = false;
        BadInput(n, absl::StrCat("data input '", text, "' follows a control input; control inputs ('^name') must come last"));
      }
      *out++ = from;
    }
    node.num_control = static_cast<uint32_t>(control.size());
    node.num_data = node.capacity - node.num_control;
    std::copy(control.begin(), control.end(), out);
  }
}

}  // namespace tenon
