// Defects of the function library; see verifier.h. Types inside a body depend on the caller's
// attributes and are not checked here.
#include <algorithm>

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
bool HasPlaceholder(const BodyNode& node) {
  return std::any_of(node.attrs.begin(), node.attrs.end(),
                     [](const Attr& a) { return a.value.kind() == AttrKind::kPlaceholder; });
}

class FunctionVerifier {
 public:
  FunctionVerifier(const Graph& graph, const FunctionEntry& function, const VerifyOptions& options,
                   DefectLog* log)
      : graph_(graph), function_(function), options_(options), log_(log) {}

  void Run() {
    if (graph_.FindFunction(function_.name) != &function_) {
      Add({}, DefectCode::kFunction,
          "another function of this name stands before it; names must be unique");
    }
    if (function_.name.empty()) Add({}, DefectCode::kFunction, "has no name");
    if (function_.signature == nullptr)
      return Add({}, DefectCode::kFunction, "its signature is no valid OpDef");
    for (const ArgDef& arg : function_.signature->inputs) args_.emplace(arg.name, &arg);
    Parse();
    for (const BodyNode& node : nodes_) CheckNode(node);
    CheckCycles();
    CheckReturns();
  }

 private:
  void Add(std::string_view node, DefectCode code, std::string_view message) {
    log_->AddFunction(graph_, function_, node, code, message);
  }
  void AddNode(const BodyNode& node, DefectCode code, std::string_view message) {
    Add(node.name, code, absl::StrCat("node '", node.name, "' (", node.op_name, "): ", message));
  }

  void Parse() {
    FunctionBody body = ParseFunctionBody(graph_, function_);
    nodes_ = std::move(body.nodes);
    returns_ = std::move(body.returns);
    control_returns_ = std::move(body.control_returns);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const bool is_new = by_name_.try_emplace(nodes_[i].name, i).second;
      if (!is_new || args_.contains(nodes_[i].name)) {
        AddNode(nodes_[i], DefectCode::kName,
                "another node or argument of the function has this name");
      }
    }
  }

  void CheckNode(const BodyNode& node) {
    if (!IsNodeName(node.name, /*from_file=*/false))
      AddNode(node, DefectCode::kName, "is no node name");
    if (const absl::Status device = ParseDeviceRequest(node.device).status(); !device.ok())
      AddNode(node, DefectCode::kDevice, device.message());
    if (!HasPlaceholder(node)) {
      NodeKind kind;
      kind.op_name = node.op_name;
      kind.op = node.op;
      // Colocation names nodes of the body, and CheckKind looks for nodes of the graph.
      std::vector<Attr> attrs = node.attrs;
      std::erase_if(attrs, [](const Attr& a) { return a.name == kColocationAttr; });
      kind.attrs = AttrSet(std::move(attrs));
      for (const KindDefect& d : CheckKind(graph_, kind, options_, log_))
        AddNode(node, d.code, d.message);
    } else if (node.op == nullptr) {
      AddNode(node, DefectCode::kUnknownOp, "no op and no function has the op's name");
    }
    bool control = false;
    for (const std::string_view input : node.inputs) {
      const bool is_control = input.starts_with('^');
      if (control && !is_control) {
        AddNode(node, DefectCode::kInput,
                absl::StrCat("data input '", input, "' follows a control input"));
      }
      control |= is_control;
      const std::string problem = CheckSource(input);
      if (!problem.empty()) AddNode(node, DefectCode::kInput, problem);
    }
  }

  // "argument", "node:result", "node:result:index" or "^node": what is wrong with it, or empty.
  std::string CheckSource(std::string_view text) const {
    std::string_view rest = text;
    const bool control = absl::ConsumePrefix(&rest, "^");
    const size_t colon = control ? rest.npos : rest.find(':');
    const std::string_view name = rest.substr(0, colon);
    if (const auto it = args_.find(name); it != args_.end()) return {};
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) {
      ClosestName closest(name);
      if (log_->MayHint()) {
        for (const auto& [other, index] : by_name_) closest.Offer(other);
        for (const auto& [other, arg] : args_) closest.Offer(other);
      }
      return absl::StrCat("'", text, "' names no node and no argument of the function",
                          closest.Hint());
    }
    if (control) return {};
    if (colon == rest.npos)
      return absl::StrCat("'", text, "' must say which result: 'node:result:0'");
    return CheckResult(nodes_[it->second], text, rest.substr(colon + 1));
  }

  std::string CheckResult(const BodyNode& node, std::string_view text,
                          std::string_view result) const {
    if (node.op == nullptr) return {};
    const size_t colon = result.find(':');
    const std::string_view name = result.substr(0, colon);
    int index = 0;
    if (colon != result.npos &&
        (!absl::SimpleAtoi(result.substr(colon + 1), &index) || index < 0)) {
      return absl::StrCat("'", text, "' does not end in an index such as ':0'");
    }
    const Results& results = ResultsOf(node);
    if (!results.names.contains(name)) {
      return absl::StrCat("'", text, "': op ", node.op_name, " has no result '", name, "'");
    }
    const ArgRanges::Range* range = results.ranges.ok() ? results.ranges->Find(name) : nullptr;
    if (range == nullptr || index < range->second - range->first) return {};
    return absl::StrCat("'", text, "': result '", name, "' of op ", node.op_name, " has ",
                        range->second - range->first, " tensors");
  }

  // The results of a node's op; made when an input first names one.
  struct Results {
    absl::flat_hash_set<std::string_view> names;
    absl::StatusOr<ArgRanges> ranges;  // an error: they are not known here
  };

  const Results& ResultsOf(const BodyNode& node) const {
    const auto [it, is_new] = results_.try_emplace(&node);
    Results& results = it->second;
    if (!is_new) return results;
    for (const ArgDef& output : node.op->outputs) results.names.insert(output.name);
    if (!HasPlaceholder(node))
      results.ranges = ArgRanges::Of(*node.op, AttrSet(node.attrs), node.op->outputs);
    return results;
  }

  // The node that an input text names; -1 for an argument, and if there is none.
  int32_t SourceOf(std::string_view input) const {
    absl::ConsumePrefix(&input, "^");
    const auto it = by_name_.find(input.substr(0, input.find(':')));
    return it == by_name_.end() ? -1 : static_cast<int32_t>(it->second);
  }

  // As in a graph, only a NextIteration may feed back, into a Merge.
  void CheckCycles() {
    std::vector<Read> reads;
    bool in_order = true;  // as most bodies are: producers before consumers, and no cycle
    for (size_t n = 0; n < nodes_.size(); ++n) {
      for (const std::string_view input : nodes_[n].inputs) {
        const int32_t from = SourceOf(input);
        if (from < 0) continue;
        const bool is_loop =
            IsMerge(FactsOfOp(nodes_[n].op)) && IsNextIteration(FactsOfOp(nodes_[from].op));
        if (is_loop) continue;
        reads.emplace_back(static_cast<int32_t>(n), from);
        in_order &= static_cast<size_t>(from) < n;
      }
    }
    if (in_order) return;
    const auto name = [&](int32_t n) { return nodes_[n].name; };
    for (const std::vector<int32_t>& cycle : FindCycles(std::ssize(nodes_), reads)) {
      AddNode(nodes_[cycle[0]], DefectCode::kCycle,
              absl::StrCat("is part of a cycle: ", DescribeCycle(reads, cycle, name),
                           "; only a NextIteration may feed back, into a Merge"));
    }
  }

  void CheckReturns() {
    absl::flat_hash_set<std::string_view> outputs;
    for (const ArgDef& output : function_.signature->outputs) outputs.insert(output.name);
    for (const Attr& entry : returns_) {
      if (!outputs.contains(entry.name)) {
        Add({}, DefectCode::kFunction,
            absl::StrCat("'ret' fills '", entry.name, "', which is no result of it"));
      }
      const std::string_view source = entry.value.wire();
      const std::string problem =
          absl::StartsWith(source, "^")
              ? absl::StrCat("'", source, "' is a control input, which has no value")
              : CheckSource(source);
      if (!problem.empty())
        Add({}, DefectCode::kFunction, absl::StrCat("result '", entry.name, "': ", problem));
    }
    const auto source_of = SourcesOfResults(returns_);
    for (const ArgDef& output : function_.signature->outputs) {
      if (!source_of.contains(output.name)) {
        Add({}, DefectCode::kFunction,
            absl::StrCat("result '", output.name, "' is not filled by 'ret'"));
      }
    }
    for (const Attr& entry : control_returns_) {
      if (by_name_.contains(entry.value.wire())) continue;
      Add({}, DefectCode::kFunction,
          absl::StrCat("'control_ret' names '", entry.value.wire(), "', which is no node of it"));
    }
  }

  const Graph& graph_;
  const FunctionEntry& function_;
  const VerifyOptions& options_;
  DefectLog* log_;
  std::vector<BodyNode> nodes_;
  std::vector<Attr> returns_;  // value: the bytes of a text, not of an AttrValue
  std::vector<Attr> control_returns_;
  absl::flat_hash_map<std::string_view, size_t> by_name_;
  absl::flat_hash_map<std::string_view, const ArgDef*> args_;
  mutable absl::flat_hash_map<const BodyNode*, Results> results_;
};

}  // namespace

void VerifyFunctions(const Graph& graph, const VerifyOptions& options, DefectLog* log) {
  for (const FunctionEntry& function : graph.functions())
    FunctionVerifier(graph, function, options, log).Run();
}

}  // namespace tenon
