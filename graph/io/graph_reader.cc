// Reads a GraphDef in place: names, devices and attributes are views of the file, which the graph
// keeps. Nodes come first, then one table of all names, then the inputs, since a node may read one
// that stands behind it. ReadEdited keeps ids and storage of the graph that a pass was given.

#include "graph/io/graph_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "graph/base/at_byte.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"
#include "graph/ir/edge_limit.h"
#include "graph/ir/graph_storage.h"
#include "graph/ir/library_access.h"
#include "graph/wire/merged_message.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"

namespace tenon {
namespace {

enum GraphField : uint32_t { kNode = 1, kLibrary = 2, kVersions = 4 };
enum NodeField : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5 };

// Nesting of an attribute's entry: GraphDef, NodeDef.
constexpr int64_t kDepthOfNode = 2;

// Lookups in flight at once: enough to hide memory, few enough to stay in the first-level cache.
constexpr size_t kBlock = 32;

// An input: "^name", "name:1" or "name".
struct InputText {
  std::string_view name;
  int32_t port = 0;
  bool port_ok = true;
};

InputText ParseInput(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), kControlPort, true};
  const size_t last = text.empty() || text.back() < '0' || text.back() > '9'
                          ? text.npos
                          : text.find_last_not_of("0123456789");
  if (last == text.npos || last == 0 || text[last] != ':') return {text, 0, true};
  InputText input{text.substr(0, last), 0, true};
  const char* digits = text.data() + last + 1;
  input.port_ok = std::from_chars(digits, text.data() + text.size(), input.port).ec == std::errc();
  if (!input.port_ok) input.port = 0;
  return input;
}

// Returns the entries as one view if they stand side by side in the file, as they do in all files
// that protobuf writes; else an empty view.
std::string_view OnePiece(const std::vector<std::string_view>& entries) {
  if (entries.empty()) return {};
  const char* end = entries[0].data() + entries[0].size();
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].data() != end) return {};
    end += entries[i].size();
  }
  return {entries[0].data(), static_cast<size_t>(end - entries[0].data())};
}

}  // namespace

GraphReader::GraphReader(ReadSource source, const ImportLimits& limits, DefectLog* defects)
    : source_(std::move(source)), limits_(limits), defects_(defects) {
  graph_.source_name_ = source_.name;
  if (source_.mapped) {
    graph_.storage_->KeepMapping(source_.wire, source_.owner);
  } else {
    graph_.storage_->Keep(source_.owner);
  }
}

absl::StatusOr<Graph> GraphReader::Read(ReadSource source, const ImportLimits& limits,
                                        DefectLog* defects) {
  return GraphReader(std::move(source), limits, defects).ReadGraph();
}

absl::StatusOr<Graph> GraphReader::ReadEdited(std::string_view wire, std::string name,
                                              const Graph& before, const ImportLimits& limits,
                                              DefectLog* defects) {
  GraphReader reader({.wire = wire, .name = std::move(name)}, limits, defects);
  reader.Share(before);
  TENON_ASSIGN_OR_RETURN(Graph graph, reader.ReadGraph());
  graph.InheritPositions(before);
  return graph;
}

absl::StatusOr<Graph> GraphReader::ReadGraph() {
  TENON_RETURN_IF_ERROR(Scan());
  TENON_RETURN_IF_ERROR(ReadLibrary(library_));
  TENON_RETURN_IF_ERROR(ReadNodes());
  IndexNames();
  ResolveInputs();
  return std::move(graph_);
}

void GraphReader::Share(const Graph& before) {
  before_ = &before;
  graph_.storage_ = before.storage_;
  graph_.kinds_ = before.kinds_;
  graph_.functions_ = before.functions_;
  graph_.function_by_name_ = before.function_by_name_;
  graph_.has_library_ = before.has_library_;
  graph_.library_extra_ = before.library_extra_;
  graph_.versions_ = before.versions_;
  // Ids of the old graph stay free for nodes of the same names. Removed nodes leave theirs empty.
  graph_.nodes_.resize(before.nodes_.size());
  for (NodeId n = 0; n < before.num_node_ids(); ++n) {
    if (!before.alive(n)) continue;
    for (const Attr& a : before.attrs(n).all()) {
      if (a.value.wire().size() > kMaxInternedBytes) large_values_.insert(a.value.wire());
    }
  }
}

size_t GraphReader::HashOfEnds::operator()(std::string_view bytes) const {
  // A large constant need not be read in full to be looked for: equality is compared behind the
  // hash.
  constexpr size_t kEnd = 64;
  return absl::HashOf(bytes.size(), bytes.substr(0, kEnd),
                      bytes.substr(bytes.size() - std::min(bytes.size(), kEnd)));
}

SourcePos GraphReader::PosOf(const std::vector<SourcePos>& text_pos, size_t index,
                             std::string_view wire) const {
  if (index < text_pos.size()) return text_pos[index];
  const bool inside = wire.data() >= source_.wire.data() &&
                      wire.data() <= source_.wire.data() + source_.wire.size();
  const uint64_t within = inside ? static_cast<uint64_t>(wire.data() - source_.wire.data()) : 0;
  return {0, 0, source_.offset + within};
}

std::string GraphReader::Where(NodeId node) const { return graph_.Locate(node); }

absl::Status GraphReader::SyntaxError(std::string_view at, NodeId node,
                                      std::string_view message) const {
  const bool inside =
      at.data() >= source_.wire.data() && at.data() <= source_.wire.data() + source_.wire.size();
  const std::string where =
      !source_.text.nodes.empty() && node != kNoNode
          ? Where(node)
          : AtByte(source_.name, source_.offset + (inside ? at.data() - source_.wire.data() : 0));
  std::string in_node;
  if (node != kNoNode) in_node = absl::StrCat(", in node '", graph_.name(node), "'");
  return absl::InvalidArgumentError(Printable(absl::StrCat(where, ": ", message, in_node)));
}

// Finds the nodes and everything that is no node; the library comes after the nodes in most files,
// and op names need it.
absl::Status GraphReader::Scan() {
  WireReader reader(source_.wire);
  WireField f;
  std::string extra;
  MergedMessage library, versions;
  while (reader.Next(&f)) {
    if (f.type == WireType::kBytes && f.number == kNode) {
      node_wires_.push_back(f.bytes);
    } else if (before_ != nullptr && (f.number == kLibrary || f.number == kVersions)) {
      // A pass is shown functions without their bodies, so the library and the versions stay those
      // of before_.
      continue;
    } else if (f.type == WireType::kBytes && f.number == kLibrary) {
      graph_.has_library_ = true;
      library.Add(f.bytes);
    } else if (f.type == WireType::kBytes && f.number == kVersions) {
      const bool text = source_.text.versions.line != 0;
      defects_->set_versions_pos(text ? source_.text.versions : PosOf({}, 0, f.bytes));
      versions.Add(f.bytes);
    } else {
      extra.append(f.raw);
    }
  }
  graph_.graph_extra_ = graph_.storage_->Copy(extra);
  const auto keep = [this](std::string_view bytes) { return graph_.storage_->Copy(bytes); };
  library_ = library.Bytes(keep);
  if (before_ == nullptr) graph_.versions_ = versions.Bytes(keep);
  if (!reader.ok()) {
    const std::string after =
        node_wires_.empty()
            ? std::string()
            : absl::StrCat(" after ", node_wires_.size(), " nodes; the file may be truncated");
    return SyntaxError(source_.wire.substr(reader.offset(), 0), kNoNode,
                       absl::StrCat("malformed GraphDef", after));
  }
  if (static_cast<int64_t>(node_wires_.size()) > limits_.max_nodes) {
    return absl::InvalidArgumentError(
        absl::StrCat(source_.name, ": the graph has ", node_wires_.size(),
                     " nodes, the limit (--max-nodes) is ", limits_.max_nodes));
  }
  return absl::OkStatus();
}

absl::Status GraphReader::ReadLibrary(std::string_view library) {
  if (const auto fault =
          CheckWire(WireMessage::kFunctionLibrary, library, {limits_.max_depth, 1})) {
    return SyntaxError(fault->at, kNoNode,
                       absl::StrCat(fault->message, " in the function library"));
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
  if (before_ == nullptr) graph_.library_extra_ = graph_.storage_->Copy(extra);
  return absl::OkStatus();
}

void GraphReader::AddFunction(std::string_view wire) {
  const SourcePos pos = PosOf(source_.text.functions, graph_.functions_.size(), wire);
  const FunctionEntry entry = LibraryAccess::ReadFunction(wire, pos, graph_);
  graph_.function_by_name_.try_emplace(entry.name, static_cast<int32_t>(graph_.functions_.size()));
  graph_.functions_.push_back(entry);
}

absl::Status GraphReader::ReadNodes() {
  graph_.nodes_.reserve(graph_.nodes_.size() + node_wires_.size());
  input_texts_.reserve(node_wires_.size() * 2);
  for (size_t i = 0; i < node_wires_.size(); ++i) {
    TENON_RETURN_IF_ERROR(ReadNode(node_wires_[i], PosOf(source_.text.nodes, i, node_wires_[i])));
  }
  // ReadEdited leaves the ids of removed nodes unused, so this is not the number of ids.
  graph_.live_ = static_cast<int32_t>(node_wires_.size());
  if (input_texts_.size() > kMaxEdges)
    return absl::InvalidArgumentError(
        absl::StrCat(source_.name, ": more than ", kMaxEdges, " edges"));
  return absl::OkStatus();
}

absl::Status GraphReader::ReadNode(std::string_view wire, SourcePos pos) {
  Graph::Node node;
  node.place = Graph::Place(pos);
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
      case kName:
        node.name = f.bytes;
        break;
      case kOp:
        op = f.bytes;
        break;
      case kInput:
        input_texts_.push_back(f.bytes);
        break;
      case kDevice:
        node.device = f.bytes;
        break;
      default:
        attr_entries_.push_back(f.raw);
        break;
    }
  }
  // The edges get the places of their texts, which ResolveInputs looks up later.
  node.capacity = static_cast<uint32_t>(input_texts_.size()) - node.first_input;
  const NodeId id = before_ == nullptr ? AppendNode(node) : KeepNode(node);
  if (!reader.ok()) return SyntaxError(wire.substr(reader.offset(), 0), id, "malformed NodeDef");
  if (limits_.max_depth < 2) return SyntaxError(wire, id, TooDeep(limits_.max_depth));
  // Fields that the host does not read are written again as they are, so that they must be good.
  if (!extra_.empty()) {
    if (const auto fault = CheckWire(WireMessage::kNodeDef, extra_, {limits_.max_depth, 1})) {
      return SyntaxError(wire, id, fault->message);
    }
    graph_.extra_[id] = graph_.storage_->Copy(extra_);
  }
  TENON_ASSIGN_OR_RETURN(graph_.nodes_[id].kind, KindOf(op, attr_entries_, id));
  return absl::OkStatus();
}

NodeId GraphReader::AppendNode(const Graph::Node& node) {
  graph_.nodes_.push_back(node);
  return graph_.num_node_ids() - 1;
}

absl::StatusOr<const NodeKind*> GraphReader::KindOf(std::string_view op,
                                                    const std::vector<std::string_view>& entries,
                                                    NodeId node) {
  const std::string_view bytes = OnePiece(entries);
  // Large constants are seldom equal: looking for them costs more than it finds.
  constexpr size_t kSmallConst = 128;
  const bool lookup = bytes.size() <= (op == "Const" ? kSmallConst : kMaxInternedBytes) &&
                      (entries.empty() || !bytes.empty());
  uint64_t hash = 0;
  if (lookup) {
    hash = absl::HashOf(op, bytes);
    const auto it = known_kinds_.find(hash);
    // Equal bytes need no parsing: most nodes repeat the attributes of others.
    if (it != known_kinds_.end() && it->second.op == op && it->second.attrs == bytes)
      return it->second.kind;
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Attr> attrs, ParseAttrs(entries, node));
  const NodeKind* kind = before_ == nullptr ? graph_.Intern(op, std::move(attrs))
                                            : KeptKind(op, std::move(attrs), graph_.name(node));
  if (lookup) known_kinds_.try_emplace(hash, KnownKind{op, bytes, kind});
  return kind;
}

// Keeps the id of the node with this name in `before_`. A second node of the name gets a new id, so
// that the duplicate is reported.
NodeId GraphReader::KeepNode(Graph::Node node) {
  const NodeId was = before_->FindNode(node.name);
  node.name = was == kNoNode ? KeptText(node.name) : before_->name(was);
  const bool moved = was == kNoNode || before_->device(was) != node.device;
  node.device = moved ? KeptText(node.device) : before_->device(was);
  if (was == kNoNode || !kept_ids_.insert(was).second) return AppendNode(node);
  graph_.nodes_[was] = node;
  return was;
}

const NodeKind* GraphReader::KeptKind(std::string_view op, std::vector<Attr> attrs,
                                      std::string_view name) {
  const NodeId was = before_->FindNode(name);
  const auto same = [](const Attr& a, const Attr& b) {
    return a.name == b.name && a.value.wire() == b.value.wire();
  };
  if (was != kNoNode && before_->op_name(was) == op) {
    const std::vector<Attr>& had = before_->attrs(was).all();
    if (std::equal(attrs.begin(), attrs.end(), had.begin(), had.end(), same))
      return &before_->kind(was);
  }
  if (const NodeKind* kind = graph_.FindKind(Graph::KindHash(op, attrs), op, attrs)) return kind;
  for (Attr& a : attrs) a = {KeptText(a.name), AttrValue(KeptValue(a.value.wire()))};
  return graph_.Intern(op, std::move(attrs));
}

std::string_view GraphReader::KeptText(std::string_view text) {
  if (text.empty()) return {};
  const auto it = kept_texts_.find(text);
  return it != kept_texts_.end() ? *it : *kept_texts_.insert(graph_.storage_->Copy(text)).first;
}

std::string_view GraphReader::KeptValue(std::string_view wire) {
  if (wire.size() <= kMaxInternedBytes) return KeptText(wire);
  const auto it = large_values_.find(wire);
  return it != large_values_.end() ? *it : *large_values_.insert(graph_.storage_->Copy(wire)).first;
}

// `entries` are the raw fields of the node's attr map, tags included.
absl::StatusOr<std::vector<Attr>> GraphReader::ParseAttrs(
    const std::vector<std::string_view>& entries, NodeId node) {
  std::vector<Attr> attrs;
  attrs.reserve(entries.size());
  bool sorted = true;
  for (const std::string_view raw : entries) {
    WireField entry;
    WireReader outer(raw);
    outer.Next(&entry);
    if (const auto fault =
            CheckWire(WireMessage::kAttrEntry, entry.bytes, {limits_.max_depth, kDepthOfNode})) {
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
  std::stable_sort(attrs.begin(), attrs.end(),
                   [](const Attr& a, const Attr& b) { return a.name < b.name; });
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
  NameIndex& index = graph_.by_name_;
  index.Reserve(graph_.nodes_.size());
  // By blocks, so that the waits for the memory of the slots overlap.
  std::array<uint64_t, kBlock> hashes;
  for (size_t begin = 0; begin < graph_.nodes_.size(); begin += kBlock) {
    const size_t count = std::min(kBlock, graph_.nodes_.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = NameIndex::Hash(graph_.nodes_[begin + i].name);
      index.Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const auto n = static_cast<NodeId>(begin + i);
      if (!graph_.alive(n)) continue;
      const std::string_view name = graph_.name(n);
      const auto same = [&](NodeId other) { return graph_.HasName(other, name); };
      const NodeId first = index.Find(hashes[i], same);
      if (first == NameIndex::kEmpty) {
        index.Insert(hashes[i], n);
      } else {
        defects_->AddDuplicate(graph_, n, first);
      }
    }
  }
}

// Looks up a block of inputs at once: each step fetches the memory that the next one reads, so that
// the waits overlap.
void GraphReader::ResolveBlock(size_t begin, size_t end) {
  struct Lookup {
    InputText text;
    uint64_t hash;
    NodeId guess;
  };
  std::array<Lookup, kBlock> lookups;
  const NameIndex& index = graph_.by_name_;
  const std::span<Lookup> block(lookups.data(), end - begin);
  for (size_t i = 0; i < block.size(); ++i) {
    block[i].text = ParseInput(input_texts_[begin + i]);
    block[i].hash = NameIndex::Hash(block[i].text.name);
    index.Prefetch(block[i].hash);
  }
  for (Lookup& l : block) {
    l.guess = index.Guess(l.hash);
    if (l.guess >= 0) __builtin_prefetch(&graph_.nodes_[l.guess]);
  }
  for (const Lookup& l : block) {
    if (l.guess >= 0) __builtin_prefetch(graph_.nodes_[l.guess].name.data());
  }
  for (size_t i = 0; i < block.size(); ++i) {
    const Lookup& l = block[i];
    const auto same = [&](NodeId n) { return graph_.HasName(n, l.text.name); };
    const NodeId found = l.guess >= 0 && same(l.guess) ? l.guess : index.Find(l.hash, same);
    graph_.edges_[begin + i] = {l.text.port_ok ? found : kNoNode, l.text.port};
  }
}

void GraphReader::ResolveInputs() {
  graph_.edges_.resize(input_texts_.size());
  for (size_t begin = 0; begin < input_texts_.size(); begin += kBlock) {
    ResolveBlock(begin, std::min(begin + kBlock, input_texts_.size()));
  }
  for (NodeId n = 0; n < graph_.num_node_ids(); ++n) OrderInputs(n);
}

// Counts data and control inputs and puts the control inputs last, where a good file has them.
void GraphReader::OrderInputs(NodeId n) {
  Graph::Node& node = graph_.nodes_[n];
  const std::span<Output> inputs(graph_.edges_.data() + node.first_input, node.capacity);
  bool in_order = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string_view text = input_texts_[node.first_input + i];
    if (inputs[i].node == kNoNode) ReportHole(n, text);
    if (inputs[i].is_control()) {
      ++node.num_control;
    } else if (node.num_control > 0 && in_order) {
      in_order = false;
      BadInput(n,
               absl::StrCat("data input '", text,
                            "' follows a control input; control inputs ('^name') must come last"));
    }
  }
  node.num_data = node.capacity - node.num_control;
  if (!in_order)
    std::stable_partition(inputs.begin(), inputs.end(), [](Output o) { return !o.is_control(); });
}

void GraphReader::ReportHole(NodeId n, std::string_view text) {
  const InputText input = ParseInput(text);
  if (!input.port_ok) {
    return BadInput(n, absl::StrCat("input '", text, "' has a port number that no node can have"));
  }
  ClosestName closest(input.name);
  if (defects_->MayHint()) {
    for (const Graph::Node& other : graph_.nodes_) closest.Offer(other.name);
  }
  BadInput(n, absl::StrCat("input '", text, "' names no node of the graph", closest.Hint()));
}

void GraphReader::BadInput(NodeId node, std::string_view message) {
  defects_->AddNode(graph_, node, DefectCode::kInput, message);
}

}  // namespace tenon
