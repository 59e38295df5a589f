// Defects of the function library; see verifier.h. Types inside a body depend on the caller's
// attributes and are not checked here.
#include <algorithm>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/closest.h"
#include "graph/functions/function_body.h"
#include "graph/ir/colocation.h"
#include "graph/ir/cycles.h"
#include "graph/ir/device_string.h"
#include "graph/op_defs/arg_ranges.h"
#include "graph/op_defs/op_facts.h"
#include "graph/verify/verifier.h"

namespace tenon {
namespace {

// Whether an attribute has a value such as "$T", which each call fills in: it is not known here.
bool HasPlaceholder(const AttrSet& attrs) {
  return std::any_of(attrs.all().begin(), attrs.all().end(),
                     [](const Attr& a) { return a.value.kind() == AttrKind::kPlaceholder; });
}

class FunctionVerifier {
 public:
  FunctionVerifier(const Graph& graph, const FunctionEntry& function, const VerifyOptions& options,
                   DefectLog* log)
      : graph_(graph),
        function_(function),
        options_(options),
        log_(log),
        body_(ParseFunctionBody(graph, function)) {}

  void Run() {
    if (graph_.FindFunction(function_.name) != &function_) {
      Add({}, DefectCode::kFunction,
          "another function of this name stands before it; names must be unique");
    }
    if (function_.name.empty()) Add({}, DefectCode::kFunction, "has no name");
    if (function_.signature == nullptr)
      return Add({}, DefectCode::kFunction, "its signature is no valid OpDef");
    for (const ArgDef& arg : function_.signature->inputs) args_.insert(arg.name);
    AddNames();
    for (const BodyNode& node : body_.nodes) CheckNode(node);
    CheckCycles();
    CheckReturns();
  }

 private:
  void Add(std::string_view node, DefectCode code, std::string_view message) {
    log_->AddFunction(graph_, function_, node, code, message);
  }
  void AddNode(const BodyNode& node, DefectCode code, std::string_view message) {
    Add(node.name, code, absl::StrCat("node '", node.name, "' (", node.op_name(), "): ", message));
  }

  void AddNames() {
    const std::vector<BodyNode>& nodes = body_.nodes;
    by_name_.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const bool is_new = by_name_.try_emplace(nodes[i].name, i).second;
      if (!is_new || args_.contains(nodes[i].name)) {
        AddNode(nodes[i], DefectCode::kName,
                "another node or argument of the function has this name");
      }
    }
  }

  void CheckNode(const BodyNode& node) {
    if (!IsNodeName(node.name, /*from_file=*/false))
      AddNode(node, DefectCode::kName, "is no node name");
    if (!node.device.empty()) {
      if (const absl::Status device = ParseDeviceRequest(node.device).status(); !device.ok())
        AddNode(node, DefectCode::kDevice, device.message());
    }
    for (const KindDefect& d : ChecksOf(node).defects) AddNode(node, d.code, d.message);
    bool control = false;
    for (const std::string_view input : node.inputs) {
      const bool is_control = input.starts_with('^');
      if (control && !is_control) {
        AddNode(node, DefectCode::kInput,
                absl::StrCat("data input '", input, "' follows a control input"));
      }
      control |= is_control;
      const std::string problem = CheckSource(input, &node);
      if (!problem.empty()) AddNode(node, DefectCode::kInput, problem);
    }
  }

  // What is the same for all nodes of a kind.
  struct KindChecks {
    std::vector<KindDefect> defects;
    // The results of the op, from when an input first names one.
    std::optional<absl::flat_hash_set<std::string_view>> results;
    std::optional<ArgRanges> ranges;  // none: they are not known here
  };

  KindChecks& ChecksOf(const BodyNode& node) {
    const auto [it, is_new] = kinds_.try_emplace(node.kind);
    if (!is_new) return *it->second;
    it->second = std::make_unique<KindChecks>();
    std::vector<KindDefect>& defects = it->second->defects;
    if (!HasPlaceholder(node.attrs())) {
      NodeKind kind;
      kind.op_name = node.op_name();
      kind.op = node.op();
      // Colocation names nodes of the body, and CheckKind looks for nodes of the graph.
      std::vector<Attr> attrs = node.attrs().all();
      std::erase_if(attrs, [](const Attr& a) { return a.name == kColocationAttr; });
      kind.attrs = AttrSet(std::move(attrs));
      defects = CheckKind(graph_, kind, options_, log_);
    } else if (node.op() == nullptr) {
      defects.push_back({DefectCode::kUnknownOp, "no op and no function has the op's name"});
    }
    return *it->second;
  }

  // "argument", "node:result", "node:result:index" or "^node": what is wrong with it, or empty.
  // Notes what `reader` reads, where a node does.
  std::string CheckSource(std::string_view text, const BodyNode* reader) {
    std::string_view rest = text;
    const bool control = absl::ConsumePrefix(&rest, "^");
    const size_t colon = control ? rest.npos : rest.find(':');
    const std::string_view name = rest.substr(0, colon);
    const auto it = by_name_.find(name);
    if (reader != nullptr && it != by_name_.end()) NoteRead(*reader, it->second);
    if (args_.contains(name)) return {};
    if (it == by_name_.end()) {
      ClosestName closest(name);
      if (log_->MayHint()) {
        for (const auto& [other, index] : by_name_) closest.Offer(other);
        for (const std::string_view arg : args_) closest.Offer(arg);
      }
      return absl::StrCat("'", text, "' names no node and no argument of the function",
                          closest.Hint());
    }
    if (control) return {};
    if (colon == rest.npos)
      return absl::StrCat("'", text, "' must say which result: 'node:result:0'");
    return CheckResult(body_.nodes[it->second], text, rest.substr(colon + 1));
  }

  std::string CheckResult(const BodyNode& node, std::string_view text, std::string_view result) {
    if (node.op() == nullptr) return {};
    const size_t colon = result.find(':');
    const std::string_view name = result.substr(0, colon);
    int index = 0;
    if (colon != result.npos &&
        (!absl::SimpleAtoi(result.substr(colon + 1), &index) || index < 0)) {
      return absl::StrCat("'", text, "' does not end in an index such as ':0'");
    }
    const KindChecks& checks = WithResults(node);
    if (!checks.results->contains(name)) {
      return absl::StrCat("'", text, "': op ", node.op_name(), " has no result '", name, "'");
    }
    const ArgRanges::Range* range = checks.ranges.has_value() ? checks.ranges->Find(name) : nullptr;
    if (range == nullptr || index < range->second - range->first) return {};
    return absl::StrCat("'", text, "': result '", name, "' of op ", node.op_name(), " has ",
                        range->second - range->first, " tensors");
  }

  const KindChecks& WithResults(const BodyNode& node) {
    KindChecks& checks = ChecksOf(node);
    if (checks.results.has_value()) return checks;
    checks.results.emplace();
    for (const ArgDef& output : node.op()->outputs) checks.results->insert(output.name);
    if (HasPlaceholder(node.attrs())) return checks;
    absl::StatusOr<ArgRanges> ranges = ArgRanges::Of(*node.op(), node.attrs(), node.op()->outputs);
    if (ranges.ok()) checks.ranges = *std::move(ranges);
    return checks;
  }

  // Cycles consist of such edges. As in a graph, only a NextIteration may feed back, into a Merge.
  void NoteRead(const BodyNode& reader, size_t from) {
    const bool is_loop =
        IsMerge(FactsOfOp(reader.op())) && IsNextIteration(FactsOfOp(body_.nodes[from].op()));
    if (is_loop) return;
    const auto n = static_cast<size_t>(&reader - body_.nodes.data());
    reads_.emplace_back(static_cast<int32_t>(n), static_cast<int32_t>(from));
    in_order_ &= from < n;
  }

  void CheckCycles() {
    if (in_order_) return;
    const auto name = [&](int32_t n) { return body_.nodes[n].name; };
    for (const std::vector<int32_t>& cycle : FindCycles(std::ssize(body_.nodes), reads_)) {
      AddNode(body_.nodes[cycle[0]], DefectCode::kCycle,
              absl::StrCat("is part of a cycle: ", DescribeCycle(reads_, cycle, name),
                           "; only a NextIteration may feed back, into a Merge"));
    }
  }

  void CheckReturns() {
    absl::flat_hash_set<std::string_view> outputs;
    for (const ArgDef& output : function_.signature->outputs) outputs.insert(output.name);
    for (const Attr& entry : body_.returns) {
      if (!outputs.contains(entry.name)) {
        Add({}, DefectCode::kFunction,
            absl::StrCat("'ret' fills '", entry.name, "', which is no result of it"));
      }
      const std::string_view source = entry.value.wire();
      const std::string problem =
          absl::StartsWith(source, "^")
              ? absl::StrCat("'", source, "' is a control input, which has no value")
              : CheckSource(source, nullptr);
      if (!problem.empty())
        Add({}, DefectCode::kFunction, absl::StrCat("result '", entry.name, "': ", problem));
    }
    const auto source_of = SourcesOfResults(body_.returns);
    for (const ArgDef& output : function_.signature->outputs) {
      if (!source_of.contains(output.name)) {
        Add({}, DefectCode::kFunction,
            absl::StrCat("result '", output.name, "' is not filled by 'ret'"));
      }
    }
    for (const Attr& entry : body_.control_returns) {
      if (by_name_.contains(entry.value.wire())) continue;
      Add({}, DefectCode::kFunction,
          absl::StrCat("'control_ret' names '", entry.value.wire(), "', which is no node of it"));
    }
  }

  const Graph& graph_;
  const FunctionEntry& function_;
  const VerifyOptions& options_;
  DefectLog* log_;
  const FunctionBody body_;
  absl::flat_hash_map<std::string_view, size_t> by_name_;
  absl::flat_hash_set<std::string_view> args_;
  absl::flat_hash_map<const BodyKind*, std::unique_ptr<KindChecks>> kinds_;
  std::vector<Read> reads_;  // by nodes from nodes
  bool in_order_ = true;     // as most bodies are: producers before consumers, and no cycle
};

}  // namespace

void VerifyFunctions(const Graph& graph, const VerifyOptions& options, DefectLog* log) {
  for (const FunctionEntry& function : graph.functions())
    FunctionVerifier(graph, function, options, log).Run();
}

}  // namespace tenon
