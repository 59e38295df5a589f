// Nodes are fixed-size records in one vector, and their inputs are runs of one vector of edges. A
// run that outgrows its room moves to the end and leaves a gap behind. Op and attributes of a node
// are an interned, immutable NodeKind. Names, bytes and kinds lie in a GraphStorage that copies of
// the graph share, so that a copy copies no text and no constants.

#include "graph/ir/graph.h"
#include "graph/base/node_note.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/base/at_byte.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"
#include "graph/ir/edge_limit.h"
#include "graph/ir/function_scope.h"
#include "graph/ir/graph_storage.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_registry.h"
#include "graph/op_defs/open_types.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/versions.h"

namespace tenon {
namespace {

bool SameAttrs(const std::vector<Attr>& a, const std::vector<Attr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Attr& x, const Attr& y) {
    return x.name == y.name && x.value.wire() == y.value.wire();
  });
}

size_t BytesOf(const std::vector<Attr>& attrs) {
  size_t bytes = 0;
  for (const Attr& a : attrs) bytes += a.name.size() + a.value.wire().size();
  return bytes;
}

AttrSet MissingDefaults(const OpDef& op, const AttrSet& attrs) {
  std::vector<Attr> defaults;
  for (const AttrDef& def : op.attrs) {
    if (def.has_default && attrs.Find(def.name) == nullptr) {
      defaults.push_back({def.name, AttrValue(def.default_wire)});
    }
  }
  return AttrSet(std::move(defaults));
}

NodeKind MakeKind(std::string_view op_name, const OpDef* op, std::vector<Attr> sorted_attrs) {
  NodeKind kind;
  kind.op_name = op_name;
  kind.op = op;
  kind.attrs = AttrSet(std::move(sorted_attrs));
  if (op == nullptr) {
    const absl::Status unknown = OpNotRegistered(op_name);
    kind.types_status = NoteAnswer(
        absl::UnimplementedError(absl::StrCat("no op and no function is named '", op_name, "'")),
        unknown.code(), unknown.message());
    return kind;
  }
  kind.defaults = MissingDefaults(*op, kind.attrs);
  absl::StatusOr<NodeTypes> types = ResolveTypes(*op, kind.attrs);
  if (types.ok()) {
    kind.types = *std::move(types);
  } else {
    kind.types_status = types.status();
    types = ResolveOpenTypes(*op, kind.attrs);
    if (types.ok()) kind.types = *std::move(types);
  }
  return kind;
}

}  // namespace

Graph::Graph() : storage_(std::make_shared<GraphStorage>()) {}
Graph::Graph(const Graph&) = default;
Graph& Graph::operator=(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Graph Graph::Snapshot() const {
  Graph copy = *this;
  copy.storage_ = GraphStorage::Over(storage_);
  return copy;
}

const AttrValue* Graph::attr(NodeId n, std::string_view name) const {
  const NodeKind& k = kind(n);
  const AttrValue* own = k.attrs.Find(name);
  return own != nullptr ? own : k.defaults.Find(name);
}

NodeId Graph::FindNode(std::string_view name) const {
  return by_name_.Find(NameIndex::Hash(name), [&](NodeId n) { return HasName(n, name); });
}

namespace {

// "it has 3, x:0 to x:2"
std::string OutputsThatThereAre(std::string_view node, int count) {
  if (count == 0) return "it has none";
  if (count == 1) return absl::StrCat("it has one, ", node, ":0");
  return absl::StrCat("it has ", count, ", ", node, ":0 to ", node, ":", count - 1);
}

}  // namespace

absl::StatusOr<Output> Graph::ParseOutput(std::string_view text) const {
  std::string_view name = text;
  int32_t port = 0;
  if (name.starts_with('^')) {
    name.remove_prefix(1);
    port = kControlPort;
  } else if (const size_t colon = name.rfind(':'); colon != name.npos) {
    const std::string_view digits = name.substr(colon + 1);
    // One spelling per port: no sign, no blanks, no zeros in front.
    if (!absl::SimpleAtoi(digits, &port) || port < 0 || absl::StrCat(port) != digits) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", text, "' does not end in a port number such as ':0'"));
    }
    name = name.substr(0, colon);
  }
  const NodeId n = FindNode(name);
  if (n == kNoNode) {
    ClosestName closest(name);
    for (NodeId other = 0; other < num_node_ids(); ++other) {
      if (alive(other)) closest.Offer(nodes_[other].name);
    }
    return absl::NotFoundError(absl::StrCat("no node is named '", name, "'", closest.Hint()));
  }
  if (port >= num_outputs(n)) {
    return absl::InvalidArgumentError(absl::StrCat("node '", name, "' (", op_name(n),
                                                   ") has no output ", port, "; ",
                                                   OutputsThatThereAre(name, num_outputs(n))));
  }
  return Output{n, port};
}

std::string Graph::OutputName(Output o) const {
  if (o.node == kNoNode) return "<missing>";
  if (o.is_control()) return absl::StrCat("^", name(o.node));
  return o.port == 0 ? std::string(name(o.node)) : absl::StrCat(name(o.node), ":", o.port);
}

uint64_t Graph::KindHash(std::string_view op_name, const std::vector<Attr>& attrs) {
  if (BytesOf(attrs) > kMaxInternedBytes) return 0;
  uint64_t h = absl::HashOf(op_name, attrs.size());
  for (const Attr& a : attrs) h = absl::HashOf(h, a.name, a.value.wire());
  return h | 1;
}

const NodeKind* Graph::FindKind(uint64_t hash, std::string_view op_name,
                                const std::vector<Attr>& sorted_attrs) const {
  const auto it = hash == 0 ? kinds_.end() : kinds_.find(hash);
  if (it == kinds_.end()) return nullptr;
  const NodeKind& found = *it->second;
  if (found.op_name != op_name || !SameAttrs(found.attrs.all(), sorted_attrs)) return nullptr;
  // A plug-in may have registered the op since.
  return found.op != nullptr || FindOp(op_name) == nullptr ? &found : nullptr;
}

const NodeKind* Graph::AddKind(uint64_t hash, std::string_view op_name, const OpDef* op,
                               std::vector<Attr> sorted_attrs) {
  const std::string_view kept =
      op != nullptr ? std::string_view(op->name) : storage_->Copy(op_name);
  const NodeKind* kind = storage_->Add(MakeKind(kept, op, std::move(sorted_attrs)));
  if (hash == 0) return kind;
  // Nodes that share a kind mostly stand near each other. A table that held a million kinds would
  // cost more, in memory that is seldom in the cache, than to make a kind again now and then.
  constexpr size_t kMostKinds = 1 << 15;
  if (kinds_.size() >= kMostKinds) kinds_.clear();
  // Of two kinds with one hash the later one is found from now on; the other is only no longer
  // shared.
  kinds_[hash] = kind;
  return kind;
}

const NodeKind* Graph::Intern(std::string_view op_name, std::vector<Attr> sorted_attrs) {
  const uint64_t hash = KindHash(op_name, sorted_attrs);
  if (const NodeKind* same = FindKind(hash, op_name, sorted_attrs)) return same;
  return AddKind(hash, op_name, FindOp(op_name), std::move(sorted_attrs));
}

const NodeKind* Graph::InternNew(std::string_view op_name, std::vector<NewAttr> attrs) {
  const auto by_name = [](const NewAttr& a, const NewAttr& b) { return a.name < b.name; };
  // Most callers give the attributes in order, and the sort would allocate.
  if (!std::is_sorted(attrs.begin(), attrs.end(), by_name))
    std::stable_sort(attrs.begin(), attrs.end(), by_name);
  std::vector<Attr> sorted;
  sorted.reserve(attrs.size());
  for (const NewAttr& a : attrs) {
    // The last of equal names wins, as in a protobuf map.
    if (!sorted.empty() && sorted.back().name == a.name) sorted.pop_back();
    sorted.push_back({a.name, AttrValue(a.wire)});
  }
  const uint64_t hash = KindHash(op_name, sorted);
  if (const NodeKind* same = FindKind(hash, op_name, sorted)) return same;
  const OpDef* op = FindOp(op_name);
  for (Attr& a : sorted) {
    const AttrDef* def = op == nullptr ? nullptr : op->FindAttr(a.name);
    a.name = def == nullptr ? storage_->Copy(a.name) : std::string_view(def->name);
    a.value = AttrValue(storage_->Copy(a.value.wire()));
  }
  return AddKind(hash, op_name, op, std::move(sorted));
}

Output* Graph::ReserveInputs(NodeId n, size_t count) {
  Node& node = nodes_[n];
  if (count > node.capacity) {
    // The last run grows in place.
    if (node.first_input + node.capacity == edges_.size()) {
      edges_.resize(node.first_input + count);
      node.capacity = static_cast<uint32_t>(count);
    } else {
      const size_t capacity = std::max<size_t>(count, size_t{2} * node.capacity);
      const size_t first = edges_.size();
      edges_.resize(first + capacity);
      std::copy_n(edges_.begin() + node.first_input, node.num_data + node.num_control,
                  edges_.begin() + first);
      node.first_input = static_cast<uint32_t>(first);
      node.capacity = static_cast<uint32_t>(capacity);
    }
  }
  return edges_.data() + node.first_input;
}

absl::Status Graph::CheckNewNode(std::string_view name, uint64_t hash,
                                 std::span<const Output> inputs) const {
  if (by_name_.Find(hash, [&](NodeId n) { return HasName(n, name); }) != kNoNode)
    return absl::AlreadyExistsError(absl::StrCat("a node is named '", name, "' already"));
  if (edges_.size() + inputs.size() > kMaxEdges)
    return absl::ResourceExhaustedError("the graph has too many edges");
  for (const Output& in : inputs) {
    if (in.node < 0 || in.node >= num_node_ids()) {
      return absl::InvalidArgumentError(
          absl::StrCat("an input of node '", name, "' names no node: id ", in.node));
    }
  }
  return absl::OkStatus();
}

NodeId Graph::Append(Node node, uint64_t hash, std::span<const Output> inputs) {
  // A copy: the span may be a view of edges_.
  absl::InlinedVector<Output, 8> all(inputs.begin(), inputs.end());
  const auto control = std::stable_partition(all.begin(), all.end(),
                                             [](const Output& in) { return !in.is_control(); });
  const NodeId n = num_node_ids();
  node.first_input = static_cast<uint32_t>(edges_.size());
  node.num_data = static_cast<uint32_t>(control - all.begin());
  node.num_control = static_cast<uint32_t>(all.end() - control);
  node.capacity = static_cast<uint32_t>(all.size());
  edges_.insert(edges_.end(), all.begin(), all.end());
  nodes_.push_back(node);
  // Without memory for its name there is no node.
  try {
    by_name_.Insert(hash, n);
  } catch (...) {
    nodes_.pop_back();
    throw;
  }
  ++live_;
  return n;
}

absl::StatusOr<NodeId> Graph::AddNode(std::string_view name, std::string_view op,
                                      std::span<const Output> inputs, std::vector<NewAttr> attrs,
                                      std::string_view device, SourcePos pos) {
  const uint64_t hash = NameIndex::Hash(name);
  TENON_RETURN_IF_ERROR(CheckNewNode(name, hash, inputs));
  Node node;
  node.name = storage_->Copy(name);
  node.kind = InternNew(op, std::move(attrs));
  node.device = storage_->Copy(device);
  node.place = Place(pos);
  return Append(node, hash, inputs);
}

absl::StatusOr<NodeId> Graph::AddNode(NodeViews views, std::span<const Output> inputs) {
  const uint64_t hash = NameIndex::Hash(views.name);
  TENON_RETURN_IF_ERROR(CheckNewNode(views.name, hash, inputs));
  Node node;
  node.name = views.name;
  node.kind = Intern(views.op, std::move(views.attrs));
  node.device = views.device;
  const NodeId n = Append(node, hash, inputs);
  if (!views.extra.empty()) extra_[n] = views.extra;
  return n;
}

std::string_view Graph::Keep(std::string_view bytes) { return storage_->Copy(bytes); }

void Graph::KeepAlive(std::shared_ptr<const void> owner) { storage_->Keep(std::move(owner)); }

void Graph::SetExtra(NodeId n, std::string_view fields) {
  if (fields.empty()) {
    extra_.erase(n);
  } else {
    extra_[n] = storage_->Copy(fields);
  }
}

std::string_view Graph::extra(NodeId n) const {
  const auto it = extra_.find(n);
  return it == extra_.end() ? std::string_view() : it->second;
}

void Graph::RemoveLastNode() {
  const Node& last = nodes_.back();
  // What stands behind the last node's edges are gaps that edits have left.
  if (last.first_input + last.capacity == edges_.size()) edges_.resize(last.first_input);
  RemoveNode(num_node_ids() - 1);
  nodes_.pop_back();
}

std::string Graph::UniqueName(std::string_view base) const {
  if (FindNode(base) == kNoNode) return std::string(base);
  const auto taken = [&](uint64_t i) { return FindNode(absl::StrCat(base, "_", i)) != kNoNode; };
  // Doubling, then bisection: a graph may have a million nodes of one base, and each look-up must
  // not be one of a million.
  uint64_t high = 1;
  while (taken(high)) high *= 2;
  // Between a taken and a free number lies the end of a run of taken ones.
  uint64_t low = high / 2;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (taken(middle) ? low : high) = middle;
  }
  return absl::StrCat(base, "_", high);
}

void Graph::RemoveNode(NodeId n) {
  if (!alive(n)) return;
  const std::string_view was = name(n);
  // The index holds one node of each name. A file may give a name to several.
  const bool found = FindNode(was) == n;
  nodes_[n].kind = nullptr;
  nodes_[n].num_data = nodes_[n].num_control = 0;
  extra_.erase(n);
  --live_;
  if (!found) return;
  const uint64_t hash = NameIndex::Hash(was);
  by_name_.Erase(hash, n);
  // Fewer names than nodes: a file gives several nodes one name, and perhaps this one.
  if (by_name_.size() == static_cast<size_t>(live_)) return;
  const auto next = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& other) {
    return other.kind != nullptr && other.name == was;
  });
  if (next != nodes_.end()) by_name_.Insert(hash, static_cast<NodeId>(next - nodes_.begin()));
}

void Graph::SetInput(NodeId n, int i, Output from) { edges_[nodes_[n].first_input + i] = from; }

void Graph::SetInputs(NodeId n, std::span<const Output> data, std::span<const Output> control) {
  // The spans may be views of edges_.
  absl::InlinedVector<Output, 8> all(data.begin(), data.end());
  all.insert(all.end(), control.begin(), control.end());
  const auto num_data = static_cast<uint32_t>(data.size());
  std::copy(all.begin(), all.end(), ReserveInputs(n, all.size()));
  nodes_[n].num_data = num_data;
  nodes_[n].num_control = static_cast<uint32_t>(all.size()) - num_data;
}

void Graph::AddControlInput(NodeId n, NodeId from) {
  for (const Output& in : control_inputs(n)) {
    if (in.node == from) return;
  }
  const size_t count = inputs(n).size();
  ReserveInputs(n, count + 1)[count] = {from, kControlPort};
  ++nodes_[n].num_control;
}

void Graph::SetDevice(NodeId n, std::string_view device) {
  if (nodes_[n].device != device) nodes_[n].device = storage_->Copy(device);
}

void Graph::ReplaceAttr(NodeId n, std::string_view name, const NewAttr* attr) {
  std::vector<Attr> attrs = kind(n).attrs.all();
  std::erase_if(attrs, [&](const Attr& a) { return a.name == name; });
  if (attr != nullptr) {
    const auto place =
        std::find_if(attrs.begin(), attrs.end(), [&](const Attr& a) { return a.name > name; });
    attrs.insert(place, {storage_->Copy(name), AttrValue(storage_->Copy(attr->wire))});
  }
  nodes_[n].kind = Intern(op_name(n), std::move(attrs));
}

void Graph::SetAttr(NodeId n, std::string_view name, std::string wire) {
  const NewAttr attr{name, std::move(wire)};
  ReplaceAttr(n, name, &attr);
}

void Graph::RemoveAttr(NodeId n, std::string_view name) {
  if (attrs(n).Find(name) != nullptr) ReplaceAttr(n, name, nullptr);
}

void Graph::SetKind(NodeId n, std::string_view op, std::vector<NewAttr> attrs) {
  nodes_[n].kind = InternNew(op, std::move(attrs));
}

void Graph::BecomeOp(NodeId n, std::string_view op, std::vector<NewAttr> attrs) {
  const TypeVector outputs = kind(n).types.outputs;
  std::vector<NewAttr> all;  // the last of equal names wins
  for (const Attr& own : this->attrs(n).all()) {
    // Noted shapes stay true as long as the outputs have the same types, which is asked at the end.
    const bool stays = own.name == kOutputShapesAttr || !NumbersInputsOrOutputs(own.name);
    if (own.name.starts_with('_') && own.name != "_kernel" && stays)
      all.push_back({own.name, std::string(own.value.wire())});
  }
  std::move(attrs.begin(), attrs.end(), std::back_inserter(all));
  SetKind(n, op, std::move(all));
  if (kind(n).types.outputs != outputs) RemoveAttr(n, kOutputShapesAttr);
}

absl::Status Graph::MakeConst(NodeId n, const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(NewAttrs attrs, ConstAttrs(value));
  const std::vector<Output> control(control_inputs(n).begin(), control_inputs(n).end());
  BecomeOp(n, "Const", std::move(attrs));
  SetInputs(n, {}, control);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Graph::ConstValue(NodeId n) const {
  const AttrValue* value = attrs(n).Find("value");
  if (value == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("node '", name(n), "' (", op_name(n), ") has no attribute 'value'"));
  }
  TENON_ASSIGN_OR_RETURN(const std::string_view wire, value->AsTensorWire());
  return TensorFromWire(wire, storage_);
}

void Graph::DropPages(const Tensor& view) const {
  storage_->DropPages({static_cast<const char*>(view.data()), view.bytes()});
}

const FunctionEntry* Graph::FindFunction(std::string_view name) const {
  if (!functions_.empty()) {
    const auto it = function_by_name_.find(name);
    if (it != function_by_name_.end()) return &functions_[it->second];
  }
  const FunctionScope* shared = storage_->functions().get();
  return shared == nullptr ? nullptr : shared->Find(name);
}

const OpDef* Graph::FindOp(std::string_view name) const {
  // A function of the library hides an op of its name, as in TensorFlow.
  if (const FunctionEntry* function = FindFunction(name)) return function->signature;
  return OpRegistry::Global().Find(name);
}

void Graph::SetVersions(std::string_view wire) { versions_ = storage_->Copy(wire); }

int Graph::producer() const { return ParseVersions(versions_).producer; }

std::string Graph::Locate(NodeId n) const {
  const SourcePos at = pos(n);
  return at.line == 0 && at.offset == 0 ? absl::StrCat("node '", name(n), "'") : Locate(at);
}

std::string Graph::Locate(SourcePos pos) const {
  if (pos.line != 0) return absl::StrCat(source_name_, ":", pos.line, ":", pos.column);
  if (pos.offset != 0) return AtByte(source_name_, pos.offset);
  return source_name_;
}

void Graph::InheritPositions(const Graph& before) {
  source_name_ = before.source_name_;
  for (Node& node : nodes_) {
    const NodeId was = before.FindNode(node.name);
    node.place = was == kNoNode ? Place() : before.nodes_[was].place;
  }
}

}  // namespace tenon
