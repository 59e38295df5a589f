#include "executor/api/graph/import/import_nodes.h"

#include <algorithm>
#include <queue>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/verify/verifier.h"
#include "graph/wire/merged_message.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"

namespace tenon::api {
namespace {

constexpr int64_t kMostNesting = 100;  // of messages, as protobuf reads them

// Fields of GraphDef and NodeDef.
enum GraphField : uint32_t { kNodes = 1, kLibrary = 2, kVersions = 4 };
enum NodeField : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttrs = 5 };

template <typename... Parts>
absl::Status Refuse(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

Attr AttrOfEntry(std::string_view entry) {
  Attr attr;
  WireReader reader(entry);
  WireField f;
  while (reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == 1) attr.name = f.bytes;
    if (f.number == 2) attr.value = AttrValue(f.bytes);
  }
  return attr;
}

// Of equal names the last wins, as in a protobuf map.
void SortByName(std::vector<Attr>* attrs) {
  std::stable_sort(attrs->begin(), attrs->end(),
                   [](const Attr& a, const Attr& b) { return a.name < b.name; });
  const auto last = std::unique(attrs->rbegin(), attrs->rend(),
                                [](const Attr& a, const Attr& b) { return a.name == b.name; });
  attrs->erase(attrs->begin(), last.base());
}

NodeDefText ParseNodeDef(std::string_view wire, Graph& graph) {
  NodeDefText node;
  std::string extra;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    const bool known = f.type == WireType::kBytes && f.number >= kName && f.number <= kAttrs;
    if (!known) extra.append(f.raw);
    if (!known) continue;
    if (f.number == kName) node.name = f.bytes;
    if (f.number == kOp) node.op = f.bytes;
    if (f.number == kInput) node.inputs.push_back(f.bytes);
    if (f.number == kDevice) node.device = f.bytes;
    if (f.number == kAttrs) node.attrs.push_back(AttrOfEntry(f.bytes));
  }
  SortByName(&node.attrs);
  if (!extra.empty()) node.extra = graph.Keep(extra);
  return node;
}

// Whether protobuf would parse the message.
bool Parses(WireMessage type, std::string_view wire) {
  return !CheckWire(type, wire, {kMostNesting, 1}).has_value();
}

absl::Status CheckText(const NodeDefText& node) {
  if (!IsNodeName(node.name, /*from_file=*/true))
    return Refuse("Node '", node.name, "': Node name contains invalid characters");
  if (node.op.empty()) return Refuse("Node '", node.name, "' does not specify an operation");
  bool control = false;
  for (std::string_view input : node.inputs) {
    if (!input.empty() && input[0] == '^') {
      control = true;
    } else if (control) {
      return Refuse("Node '", node.name,
                    "': Control dependencies must come after regular dependencies");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphDefText> ReadParts(std::string_view wire, Graph& graph) {
  GraphDefText def;
  MergedMessage library, versions;
  WireReader reader(wire);
  WireField f;
  bool parses = true;
  while (parses && reader.Next(&f)) {
    if (f.type != WireType::kBytes) continue;
    if (f.number == kNodes) {
      parses = Parses(WireMessage::kNodeDef, f.bytes);
      if (parses) def.nodes.push_back(ParseNodeDef(f.bytes, graph));
    } else if (f.number == kLibrary) {
      parses = Parses(WireMessage::kFunctionLibrary, f.bytes);
      library.Add(f.bytes);
    } else if (f.number == kVersions) {
      parses = Parses(WireMessage::kOpaque, f.bytes);
      versions.Add(f.bytes);
    }
  }
  if (!parses || !reader.ok()) return absl::InvalidArgumentError("Invalid GraphDef");
  const auto keep = [&graph](std::string_view bytes) { return graph.Keep(bytes); };
  def.library = library.Bytes(keep);
  def.versions = versions.Bytes(keep);
  return def;
}

}  // namespace

InputText ParseInput(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && absl::ascii_isdigit(text[begin - 1])) --begin;
  const size_t digits = text.size() - begin;
  if (begin > 0 && text[begin - 1] == ':' && digits > 0 && digits < 10) {
    int port = 0;
    for (const char c : text.substr(begin)) port = port * 10 + (c - '0');
    return {text.substr(0, begin - 1), port};
  }
  if (!text.empty() && text[0] == '^') return {text.substr(1), kControlPort};
  return {text, 0};
}

absl::StatusOr<GraphDefText> ParseGraphDef(std::string_view wire, Graph& graph) {
  TENON_ASSIGN_OR_RETURN(GraphDefText def, ReadParts(wire, graph));
  def.by_name.reserve(def.nodes.size());
  for (size_t i = 0; i < def.nodes.size(); ++i) {
    const NodeDefText& node = def.nodes[i];
    const absl::Status status = CheckText(node);
    const bool named = IsNodeName(node.name, /*from_file=*/true);
    if (named && !def.by_name.try_emplace(node.name, static_cast<int>(i)).second)
      return Refuse("Node '", node.name, "' is not unique");
    TENON_RETURN_IF_ERROR(status);
  }
  return def;
}

absl::StatusOr<NodeOrder> NodeOrder::Of(const GraphDefText& def,
                                        absl::FunctionRef<bool(const InputText&)> is_mapped) {
  NodeOrder order;
  const size_t count = def.nodes.size();
  std::vector<std::pair<int, int>> edges;  // from a node to a reader
  order.pending_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const NodeDefText& node = def.nodes[i];
    int control = 0;
    bool loops = false;
    int& pending = order.pending_[i];
    pending = static_cast<int>(node.inputs.size());
    const bool merges = node.op == "Merge" || node.op == "RefMerge";
    for (std::string_view text : node.inputs) {
      const InputText input = ParseInput(text);
      control += input.port == kControlPort;
      const auto from = def.by_name.find(input.node);
      if (merges && from != def.by_name.end() && input.port != kControlPort) {
        const std::string_view op = def.nodes[from->second].op;
        loops |= op == "NextIteration" || op == "RefNextIteration";
      }
      if (is_mapped(input)) {
        --pending;
      } else if (from == def.by_name.end()) {
        return Refuse("Node '", node.name, "': Unknown input node '", text, "'");
      } else {
        edges.emplace_back(from->second, static_cast<int>(i));
      }
    }
    // One input that comes from before the loop is enough for a Merge of the loop.
    if (loops) pending -= static_cast<int>(node.inputs.size()) - (control + 1);
  }
  order.first_reader_.resize(count + 1);
  for (const auto& [from, to] : edges) ++order.first_reader_[from + 1];
  for (size_t i = 0; i < count; ++i) order.first_reader_[i + 1] += order.first_reader_[i];
  order.readers_.resize(edges.size());
  std::vector<uint32_t> next(order.first_reader_.begin(), order.first_reader_.end());
  for (const auto& [from, to] : edges) order.readers_[next[from]++] = to;
  return order;
}

// Of the nodes that are ready, the first one in the GraphDef comes next. So nodes keep the order of
// the GraphDef as far as edges allow, and their ids follow from the GraphDef alone.
std::vector<int> NodeOrder::Take() && {
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] <= 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  std::vector<bool> added(pending_.size());
  order.reserve(pending_.size());
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    if (added[node]) continue;
    added[node] = true;
    order.push_back(node);
    for (uint32_t i = first_reader_[node]; i < first_reader_[node + 1]; ++i) {
      if (--pending_[readers_[i]] == 0) ready.push(readers_[i]);
    }
  }
  return order;
}

}  // namespace tenon::api
