// A case is all nodes of one scope. Nodes with the names want<i>, fetch, error and tol are no part
// of what runs: they say what is fetched and what is right.

#include "executor/cli/check/check_case.h"

#include <algorithm>
#include <filesystem>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "executor/state/state_makers.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

std::string_view ScopeOf(std::string_view name) { return name.substr(0, name.find('/')); }

std::optional<absl::StatusCode> CodeNamed(std::string_view name) {
  for (int code = 1; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code) {
    if (absl::StatusCodeToString(static_cast<absl::StatusCode>(code)) == name)
      return static_cast<absl::StatusCode>(code);
  }
  return std::nullopt;
}

// The node that an error message of TensorFlow names: "{{node c000/op}}". Empty if it names none,
// or a node in a function.
std::string_view NodeOfMessage(std::string_view message) {
  constexpr std::string_view kBegin = "{{node ";
  const size_t begin = message.find(kBegin);
  if (begin == message.npos || message.find("{{function_node ") != message.npos) return "";
  message.remove_prefix(begin + kBegin.size());
  return message.substr(0, message.find("}}"));
}

// Fills in a case from its special nodes.
class CaseReader {
 public:
  CaseReader(const Graph& graph, CheckCase& c) : graph_(graph), case_(c) {}

  void Read(CheckKind kind) {
    for (const NodeId n : case_.nodes) ReadNode(n, kind);
    std::sort(wants_.begin(), wants_.end());
    if (kind == CheckKind::kGradients) {
      NoteGradients();
    } else {
      NoteAnswers();
    }
  }

 private:
  void NoteAnswers() {
    if (!listed_) {
      for (const auto& [index, node] : wants_)
        case_.fetches.push_back(absl::StrCat(case_.name, "/op:", index));
      if (case_.error && wants_.empty()) case_.fetches.push_back(absl::StrCat(case_.name, "/op"));
    }
    for (size_t i = 0; i < wants_.size(); ++i)
      case_.wants.emplace_back(listed_ ? wants_[i].first : i, wants_[i].second);
    if (case_.fetches.empty())
      case_.malformed = "it fetches nothing: no want, no fetch, no error node";
    for (const auto& [fetch, node] : case_.wants) {
      if (fetch >= case_.fetches.size())
        case_.malformed = absl::StrCat("want", fetch, " has no fetch");
    }
  }

  void NoteGradients() {
    if (!case_.gradients) {
      case_.malformed = "it differentiates nothing: no wrt node";
      return;
    }
    GradientTask& task = *case_.gradients;
    task.loss = absl::StrCat(case_.name, "/loss");
    if (task.exists.empty()) task.exists.assign(task.wrt.size(), true);
    case_.fetches = {task.loss};
    case_.wants.assign(wants_.begin(), wants_.end());
    std::vector<bool> has_want(task.wrt.size());
    for (const auto& [index, node] : wants_) {
      if (index >= task.wrt.size()) {
        case_.malformed = absl::StrCat("d", index, " has no tensor in the list 'wrt'");
        return;
      }
      has_want[index] = true;
    }
    if (has_want != task.exists)
      case_.malformed = "its gradients are not those of the list 'grads'";
  }

  void ReadNode(NodeId n, CheckKind kind) {
    const std::string_view name = graph_.name(n);
    if (name.size() <= case_.name.size()) return;
    const std::string_view local = name.substr(case_.name.size() + 1);
    const std::string_view want = kind == CheckKind::kGradients ? "d" : "want";
    size_t index;
    if (absl::StartsWith(local, want) && absl::SimpleAtoi(local.substr(want.size()), &index)) {
      wants_.emplace_back(index, n);
    } else if (local == "wrt" && kind == CheckKind::kGradients) {
      ReadWrt(n);
    } else if (local == "fetch" && graph_.op_name(n) == "NoOp") {
      ReadFetch(n);
    } else if (local == "error" && graph_.op_name(n) == "NoOp") {
      ReadError(n);
    } else if (local == "tol" && graph_.op_name(n) == "NoOp") {
      ReadTolerance(n);
    }
  }

  void ReadFetch(NodeId n) {
    const AttrValue* list = graph_.attr(n, "fetch");
    const auto names = list == nullptr
                           ? absl::StatusOr<std::vector<std::string_view>>(absl::NotFoundError(""))
                           : list->AsStringList();
    if (!names.ok()) {
      case_.malformed = "its fetch node has no list 'fetch'";
      return;
    }
    listed_ = true;
    case_.fetches.assign(names->begin(), names->end());
  }

  void ReadWrt(NodeId n) {
    const AttrValue *wrt = graph_.attr(n, "wrt"), *grads = graph_.attr(n, "grads");
    if (wrt == nullptr) return;
    GradientTask& task = case_.gradients.emplace();
    for (const std::string_view name :
         wrt->AsStringList().value_or(std::vector<std::string_view>()))
      task.wrt.emplace_back(name);
    if (grads != nullptr) task.exists = grads->AsBoolList().value_or(std::vector<bool>());
  }

  void ReadError(NodeId n) {
    const AttrValue* code = graph_.attr(n, "code");
    const std::string_view text =
        code == nullptr ? std::string_view() : code->AsString().value_or("");
    const std::optional<absl::StatusCode> named = CodeNamed(text);
    if (named) {
      const AttrValue* message = graph_.attr(n, "message");
      case_.error = ExpectedError{
          *named, std::string(message == nullptr ? "" : message->AsString().value_or("")), {}};
      const NodeId failing = FailingNode(case_.error->message);
      if (failing != kNoNode) case_.error->nodes = {failing};
    } else {
      case_.malformed = absl::StrCat("its error node has the unknown code '", text, "'");
    }
  }

  // The node that the expected error names; kNoNode if it names none.
  NodeId FailingNode(std::string_view message) const {
    return graph_.FindNode(NodeOfMessage(message));
  }

  void ReadTolerance(NodeId n) {
    Tolerance tolerance;
    const auto read = [&](std::string_view name) {
      const AttrValue* value = graph_.attr(n, name);
      return value == nullptr ? 0.0 : static_cast<double>(value->AsFloat().value_or(0));
    };
    tolerance.rtol = read("rtol");
    tolerance.atol = read("atol");
    tolerance.equal_nan = true;
    tolerance.integers = true;
    case_.tolerance = tolerance;
  }

  const Graph& graph_;
  CheckCase& case_;
  bool listed_ = false;
  std::vector<std::pair<size_t, NodeId>> wants_;
};

std::vector<CheckCase> CasesOf(const Graph& graph, CheckKind kind) {
  std::vector<CheckCase> cases;
  absl::flat_hash_map<std::string_view, size_t> by_scope;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const std::string_view scope = ScopeOf(graph.name(n));
    if (kind == CheckKind::kGradients && graph.name(n) == "nograd") continue;
    const auto [it, fresh] = by_scope.try_emplace(scope, cases.size());
    if (fresh) cases.emplace_back().name = scope;
    cases[it->second].nodes.push_back(n);
  }
  for (CheckCase& c : cases) CaseReader(graph, c).Read(kind);
  return cases;
}

// Adds the nodes of other scopes that the case needs.
void AddReached(const Graph& graph, CheckCase& c) {
  absl::flat_hash_set<NodeId> known(c.nodes.begin(), c.nodes.end());
  const auto add = [&](NodeId n) {
    if (n != kNoNode && known.insert(n).second) c.nodes.push_back(n);
  };
  for (const std::string& fetch : c.fetches) {
    const absl::StatusOr<Output> output = graph.ParseOutput(fetch);
    if (output.ok()) add(output->node);
  }
  if (c.gradients) {
    for (const NodeId n : NodesOfOutputs(graph, c.gradients->wrt)) add(n);
  }
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    const NodeId n = c.nodes[i];
    for (const Output& input : graph.inputs(n)) add(input.node);
  }
}

// Adds the needed nodes that depend on `nodes`, over data and control edges.
void AddDependents(const Graph& graph, const std::vector<bool>& needed,
                   std::vector<NodeId>& nodes) {
  const Fanouts fanouts(graph);
  absl::flat_hash_set<NodeId> known(nodes.begin(), nodes.end());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Fanouts::Use& use : fanouts.of(nodes[i])) {
      if (needed[use.node] && known.insert(use.node).second) nodes.push_back(use.node);
    }
  }
}

// Adds what makes the tables, arrays and variables that `nodes` read: stateful nodes with handles.
void AddOwnersOfState(const Graph& graph, std::vector<NodeId>& nodes) {
  for (size_t i = 0, count = nodes.size(); i < count; ++i) {
    for (const Output& in : graph.data_inputs(nodes[i])) {
      const DataType type = graph.output_type(in);
      const bool is_handle =
          type == DataType::kResource || type == DataType::kString || IsRef(type);
      const OpDef* const op = graph.op(in.node);
      if (is_handle && op != nullptr && op->is_stateful) nodes.push_back(in.node);
    }
  }
}

// If the expected error names no node, the op under test is at fault: c000/op, or a node that is
// needed of the op that the file is named for, or what shares a table or an array with such a node,
// or what depends on one of these: mistakes of a table show in the nodes that use it. Without these
// any fetched node may be at fault, and any other node that is needed and is no constant.
void AddFailingNodes(const Graph& graph, std::string_view op, CheckCase& c) {
  if (!c.error || !c.error->nodes.empty()) return;
  const std::vector<NodeId> roots = NodesOfOutputs(graph, c.fetches);
  const std::vector<bool> needed = NeededBy(graph, roots);
  const NodeId named = graph.FindNode(absl::StrCat(c.name, "/op"));
  std::vector<NodeId>& nodes = c.error->nodes;
  for (const NodeId n : c.nodes) {
    if (n == named || (needed[n] && graph.op_name(n) == op)) nodes.push_back(n);
  }
  if (!nodes.empty()) {
    AddOwnersOfState(graph, nodes);
    AddDependents(graph, needed, nodes);
    return;
  }
  c.error->any_node = true;
  for (const NodeId n : c.nodes) {
    const bool fetched = std::ranges::find(roots, n) != roots.end();
    if (fetched || (needed[n] && graph.op_name(n) != "Const")) nodes.push_back(n);
  }
}

// Drops scopes that are no cases if a case needs their nodes: they are there for these cases.
void DropLenders(const Graph& graph, std::vector<CheckCase>& cases) {
  absl::flat_hash_set<std::string_view> lenders;
  for (const CheckCase& c : cases) {
    for (const NodeId n : c.nodes) {
      const std::string_view scope = ScopeOf(graph.name(n));
      if (scope != c.name) lenders.insert(scope);
    }
  }
  std::erase_if(
      cases, [&](const CheckCase& c) { return !c.malformed.empty() && lenders.contains(c.name); });
}

// Gives each defect to the case of its scope, and to the cases that need its node.
void NoteDefects(const Graph& graph, const std::vector<Defect>& defects,
                 std::vector<CheckCase>& cases) {
  absl::flat_hash_map<std::string_view, std::vector<CheckCase*>> of_scope, of_node;
  for (CheckCase& c : cases) {
    of_scope[c.name].push_back(&c);
    for (const NodeId n : c.nodes) {
      if (ScopeOf(graph.name(n)) != c.name) of_node[graph.name(n)].push_back(&c);
    }
  }
  const auto note = [](const Defect& defect, const std::vector<CheckCase*>& concerned) {
    for (CheckCase* c : concerned) {
      c->defects.push_back(defect);
      if (defect.code == DefectCode::kUnknownOp) c->unknown_op = true;
    }
  };
  for (const Defect& defect : defects) {
    note(defect, of_scope[ScopeOf(defect.node)]);
    note(defect, of_node[defect.node]);
  }
}

}  // namespace

std::string OpOfFile(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.'));
}

absl::StatusOr<CheckFile> ReadCheckFile(const std::string& path, const ImportLimits& limits,
                                        CheckKind kind) {
  TENON_ASSIGN_OR_RETURN(Imported imported, ImportFile(path, limits));
  CheckFile file{std::move(imported.graph), {}};
  file.cases = CasesOf(file.graph, kind);
  for (CheckCase& c : file.cases) AddReached(file.graph, c);
  DropLenders(file.graph, file.cases);
  const std::string op = OpOfFile(path);
  for (CheckCase& c : file.cases) AddFailingNodes(file.graph, op, c);
  const bool has_cases = std::any_of(file.cases.begin(), file.cases.end(),
                                     [](const CheckCase& c) { return c.malformed.empty(); });
  if (!has_cases && !imported.defects.empty())
    return absl::InvalidArgumentError(imported.defects.front().ToString());
  NoteDefects(file.graph, imported.defects, file.cases);
  return file;
}

Graph GraphOfCase(const CheckFile& file, const CheckCase& c) {
  Graph graph = file.graph;
  std::vector<bool> keep(graph.num_node_ids());
  for (const NodeId n : c.nodes) keep[n] = true;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && !keep[n]) graph.RemoveNode(n);
  }
  return graph;
}

Tolerance DefaultTolerance(DataType dtype) {
  Tolerance tolerance;
  tolerance.equal_nan = true;
  switch (dtype) {
    case DataType::kDouble:
    case DataType::kComplex128:
      tolerance.rtol = 1e-9;
      tolerance.atol = 1e-12;
      break;
    case DataType::kHalf:
    case DataType::kBfloat16:
      tolerance.rtol = tolerance.atol = 1e-2;
      break;
    case DataType::kFloat:
    case DataType::kComplex64:
      break;
    default:  // 8-bit floats, and types that are no floats
      tolerance.rtol = tolerance.atol = 0;
      break;
  }
  return tolerance;
}

}  // namespace tenon::cli
