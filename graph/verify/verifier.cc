// One sweep over the nodes, with the checks of a kind once for all nodes that share it. Defects are
// collected, not returned at the first: a user repairs a file with one list.

#include "graph/verify/verifier.h"

#include <algorithm>
#include <climits>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"
#include "graph/ir/cycles.h"
#include "graph/ir/device_string.h"
#include "graph/shapes/shape_inference.h"
#include "graph/wire/versions.h"
#include "graph/wire/wire_check.h"

namespace tenon {
namespace {

// Take sorts defects by node. Those of functions come last.
constexpr NodeId kAfterAllNodes = INT_MAX;

std::string Count(size_t n, std::string_view what) {
  return absl::StrCat(n, " ", what, n == 1 ? "" : "s");
}

// One sweep over the nodes. Checks that depend on op and attributes alone run once per NodeKind:
// most nodes share their kind with others.
class Verifier {
 public:
  Verifier(const Graph& graph, const VerifyOptions& options, DefectLog* log)
      : graph_(graph), options_(options), log_(log) {}

  void Run() {
    CheckVersions();
    NodeId first_new = 0;
    // The kinds of a sound graph are sound: only new kinds and the names of new nodes are checked.
    if (options_.sound != nullptr) {
      first_new = options_.sound->num_node_ids();
      for (NodeId n = 0; n < first_new; ++n) {
        if (options_.sound->alive(n)) Saw(options_.sound->kind(n));
      }
    }
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (!graph_.alive(n) || (options_.only != nullptr && !(*options_.only)[n])) continue;
      if (n >= first_new) CheckName(n);
      CheckDevice(n);
      for (const KindDefect& d : KindDefects(graph_.kind(n))) Add(n, d.code, d.message);
      CheckInputs(n);
    }
    // Inference walks in topological order, so that it finds cycles on the way; without it the
    // order is made for that alone.
    if (!options_.shapes_are_known) return CheckCyclesAndShapes();
    if (!TopologicalOrder(graph_).ok()) CheckCycles();
  }

 private:
  void Add(NodeId n, DefectCode code, std::string_view message) {
    log_->AddNode(graph_, n, code, message);
  }
  void CheckVersions();
  void CheckName(NodeId n);
  void CheckDevice(NodeId n);
  bool Saw(const NodeKind& kind);
  std::span<const KindDefect> KindDefects(const NodeKind& kind);
  void CheckInputs(NodeId n);
  bool CheckSource(NodeId n, size_t i, Output from);
  void CheckType(NodeId n, size_t i, Output from);
  void CheckCyclesAndShapes();
  void CheckCycles();

  const Graph& graph_;
  const VerifyOptions& options_;
  DefectLog* log_;
  std::vector<bool> seen_;  // by NodeKind::index
  absl::flat_hash_map<const NodeKind*, std::vector<KindDefect>> bad_kinds_;
  absl::flat_hash_set<std::string_view> good_devices_;
  std::string_view last_device_;  // of these
};

void Verifier::CheckVersions() {
  const Versions versions = ParseVersions(graph_.versions_wire());
  if (!versions.ok) log_->AddVersions(graph_, DefectCode::kVersion, "malformed VersionDef");
  if (versions.producer < 0) {
    log_->AddVersions(graph_, DefectCode::kVersion,
                      absl::StrCat("GraphDef producer version ", versions.producer, " is below 0"));
  }
  if (versions.min_consumer > kGraphDefVersion) {
    log_->AddVersions(
        graph_, DefectCode::kVersion,
        absl::StrCat("the graph asks for a reader of GraphDef version ", versions.min_consumer,
                     " or above; this one reads version ", kGraphDefVersion));
  }
  for (const int bad : versions.bad_consumers) {
    if (bad != kGraphDefVersion) continue;
    log_->AddVersions(graph_, DefectCode::kVersion,
                      absl::StrCat("the graph excludes readers of GraphDef version ", bad,
                                   " (bad_consumers), as this one is"));
    break;
  }
}

void Verifier::CheckName(NodeId n) {
  const std::string_view name = graph_.name(n);
  if (!IsNodeName(name, options_.from_file)) {
    Add(n, DefectCode::kName,
        "is no node name: it must start with a letter, a digit or '.', and go on with these and "
        "'_', '-' or '/'; behind a '>' it must start anew");
  }
  if (options_.from_file) return;  // the reader has reported duplicates
  const NodeId first = graph_.FindNode(name);
  if (first != n) log_->AddDuplicate(graph_, n, first);
}

void Verifier::CheckDevice(NodeId n) {
  const std::string_view device = graph_.device(n);
  if (device == last_device_ || device.empty() || good_devices_.contains(device)) return;
  const absl::Status status = ParseDeviceRequest(device).status();
  if (status.ok()) {
    last_device_ = device;
    good_devices_.insert(device);
  } else {
    Add(n, DefectCode::kDevice, status.message());
  }
}

// Whether the kind was seen before. Marks it as seen.
bool Verifier::Saw(const NodeKind& kind) {
  if (kind.index >= seen_.size()) seen_.resize(std::max<size_t>(kind.index + 1, seen_.size() * 2));
  const bool before = seen_[kind.index];
  seen_[kind.index] = true;
  return before;
}

std::span<const KindDefect> Verifier::KindDefects(const NodeKind& kind) {
  if (!Saw(kind)) {
    std::vector<KindDefect> found = CheckKind(graph_, kind, options_, log_);
    if (!found.empty()) bad_kinds_.emplace(&kind, std::move(found));
  }
  if (bad_kinds_.empty()) return {};
  const auto it = bad_kinds_.find(&kind);
  return it == bad_kinds_.end() ? std::span<const KindDefect>() : it->second;
}

// Whether the source of input i exists. Reports a missing one, unless the reader did.
bool Verifier::CheckSource(NodeId n, size_t i, Output from) {
  if (from.node == kNoNode && options_.from_file) return false;
  if (from.node >= 0 && from.node < graph_.num_node_ids() && graph_.alive(from.node)) return true;
  Add(n, DefectCode::kInput,
      absl::StrCat("input ", i, " comes from a node that is not in the graph"));
  return false;
}

void Verifier::CheckType(NodeId n, size_t i, Output from) {
  const DataType wanted = graph_.kind(n).types.inputs[i];
  const DataType given = graph_.output_type(from);
  // A reference may be read as a value, never a value as a reference.
  if (given == wanted || (!IsRef(wanted) && BaseType(given) == wanted)) return;
  Add(n, DefectCode::kType,
      absl::StrCat("input ", i, " ('", graph_.OutputName(from), "') has type ", DataTypeName(given),
                   " where ", DataTypeName(wanted), " is expected"));
}

void Verifier::CheckInputs(NodeId n) {
  const NodeKind& kind = graph_.kind(n);
  // The types of an unknown op, or of one with bad attributes, say nothing: that defect is reported
  // once, not at each edge.
  const bool known = kind.op != nullptr && kind.types_status.ok();
  const std::span<const Output> inputs = graph_.inputs(n);
  const auto num_data = static_cast<size_t>(graph_.num_inputs(n));
  if (known && num_data != kind.types.inputs.size()) {
    Add(n, DefectCode::kArity,
        absl::StrCat("has ", Count(num_data, "input"), " where the op takes ",
                     kind.types.inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Output from = inputs[i];
    if (!CheckSource(n, i, from) || from.is_control()) continue;
    const NodeKind& producer = graph_.kind(from.node);
    if (producer.op == nullptr || !producer.types_status.ok()) continue;
    const size_t outputs = producer.types.outputs.size();
    if (from.port < 0 || static_cast<size_t>(from.port) >= outputs) {
      Add(n, DefectCode::kInput,
          absl::StrCat("input ", i, " is output ", from.port, " of node '", graph_.name(from.node),
                       "' (", producer.op_name, "), which has ", Count(outputs, "output")));
    } else if (known && i < kind.types.inputs.size()) {
      CheckType(n, i, from);
    }
  }
}

// Reports errors of shape functions, which are errors for every feed. Nodes with another defect are
// skipped: their shape errors would follow from that defect. Infer fails on cycles, which are then
// reported.
void Verifier::CheckCyclesAndShapes() {
  std::vector<std::pair<NodeId, absl::Status>> errors;
  ShapeOptions options;
  options.errors = &errors;
  const absl::flat_hash_set<NodeId> bad = log_->Nodes();
  if (!bad.empty()) options.skip = &bad;
  if (!GraphShapes::Infer(graph_, options).ok()) return CheckCycles();
  for (const auto& [n, status] : errors)
    Add(n, IsPluginFault(status) ? DefectCode::kPlugin : DefectCode::kShape, status.message());
}

void Verifier::CheckCycles() {
  for (const std::vector<NodeId>& cycle : FindCycles(graph_)) {
    Add(cycle.front(), DefectCode::kCycle,
        absl::StrCat("is part of a cycle: ", DescribeCycle(graph_, cycle),
                     "; only a NextIteration may feed back, into a Merge"));
  }
}

}  // namespace

bool IsNodeName(std::string_view name, bool from_file) {
  if (name.empty()) return false;
  const char first = name[0];
  // TensorFlow reserves names with '_' in front: files must not have any, passes may make some.
  if (!absl::ascii_isalnum(first) && first != '.' && (from_file || first != '_')) return false;
  for (size_t i = 1; i < name.size(); ++i) {
    const char c = name[i];
    if (absl::ascii_isalnum(c) || c == '.') continue;
    // What follows '>' begins as a name does.
    if (name[i - 1] == '>' || (c != '_' && c != '-' && c != '/' && c != '>')) return false;
  }
  return name.back() != '>';
}

std::string Printable(std::string_view text) {
  std::string out;
  size_t i = 0;
  while (i < text.size()) {
    const auto b = static_cast<uint8_t>(text[i]);
    const size_t length = b < 0x80 ? 1 : b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2;
    const std::string_view one = text.substr(i, length);
    if (absl::ascii_iscntrl(b) || !IsUtf8(one)) {
      absl::StrAppend(&out, "\\x", absl::Hex(b, absl::kZeroPad2));
      ++i;
    } else {
      out.append(one);
      i += one.size();
    }
  }
  return out;
}

void DefectLog::AddNode(const Graph& graph, NodeId node, DefectCode code,
                        std::string_view message) {
  found_.emplace_back(node, Defect{code, graph.Locate(node), std::string(graph.name(node)),
                                   Printable(absl::StrCat("node '", graph.name(node), "' (",
                                                          graph.op_name(node), "): ", message))});
}

void DefectLog::AddDuplicate(const Graph& graph, NodeId node, NodeId first) {
  AddNode(graph, node, DefectCode::kName,
          absl::StrCat("a node of this name stands at ",
                       first == kNoNode ? "?" : graph.Locate(first), "; names must be unique"));
}

void DefectLog::AddVersions(const Graph& graph, DefectCode code, std::string_view message) {
  found_.emplace_back(kNoNode, Defect{code, graph.Locate(versions_pos_), "", Printable(message)});
}

void DefectLog::AddFunction(const Graph& graph, const FunctionEntry& function,
                            std::string_view node, DefectCode code, std::string_view message) {
  found_.emplace_back(kAfterAllNodes,
                      Defect{code, graph.Locate(function.pos), std::string(node),
                             Printable(absl::StrCat("function '", function.name, "': ", message)),
                             /*in_function=*/true});
}

std::string Defect::ToString() const {
  return where.empty() ? message : absl::StrCat(where, ": ", message);
}

absl::flat_hash_set<NodeId> DefectLog::Nodes() const {
  absl::flat_hash_set<NodeId> nodes;
  for (const auto& [node, defect] : found_) nodes.insert(node);
  return nodes;
}

std::vector<Defect> DefectLog::Take() && {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Defect> defects;
  defects.reserve(found_.size());
  for (auto& [node, defect] : found_) defects.push_back(std::move(defect));
  return defects;
}

void VerifyGraph(const Graph& graph, const VerifyOptions& options, DefectLog* log) {
  Verifier(graph, options, log).Run();
  VerifyFunctions(graph, options, log);
}

std::vector<Defect> Verify(const Graph& graph) {
  DefectLog log;
  VerifyGraph(graph, VerifyOptions(), &log);
  return std::move(log).Take();
}

void VerifyNodes(const Graph& graph, const VerifyOptions& options, DefectLog* log) {
  Verifier(graph, options, log).Run();
}

std::vector<Defect> VerifyNodes(const Graph& graph, const VerifyOptions& options) {
  DefectLog log;
  VerifyNodes(graph, options, &log);
  return std::move(log).Take();
}

std::vector<Defect> VerifyNodes(const Graph& graph, const Graph* sound) {
  VerifyOptions options;
  options.sound = sound;
  return VerifyNodes(graph, options);
}

}  // namespace tenon
