// One instance of a function's body, as nodes of the graph that calls it.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "executor/lowering/lowering.h"
#include "graph/invalid_graph.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

constexpr std::string_view kColocationAttr = "_class";
constexpr std::string_view kColocationPrefix = "loc:@";

AttrSet WithDefaults(const OpDef& op, const AttrSet& attrs) {
  std::vector<Attr> all = attrs.all();
  for (const AttrDef& def : op.attrs) {
    if (def.has_default && attrs.Find(def.name) == nullptr)
      all.push_back({def.name, AttrValue(def.default_wire)});
  }
  std::sort(all.begin(), all.end(), [](const Attr& a, const Attr& b) { return a.name < b.name; });
  return AttrSet(std::move(all));
}

// Stateful only because of what they take or give.
bool OnlyReads(std::string_view op) {
  static constexpr std::string_view kOps[] = {"VarHandleOp",      "ReadVariableOp",
                                              "ResourceGather",   "VariableShape",
                                              "ResourceGatherNd", "VarIsInitializedOp"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

}  // namespace

// Copies a body, node by node; then sources can be resolved.
class FunctionCopy {
 public:
  FunctionCopy(Lowering& lowering, NodeId call, std::string_view prefix,
               const FunctionEntry& function, const AttrSet& attrs, int32_t site, NodeId pivot)
      : lowering_(lowering),
        graph_(lowering.graph_),
        call_(call),
        prefix_(prefix),
        function_(function),
        attrs_(attrs),
        site_(site),
        pivot_(pivot),
        loose_(lowering.IsLoose()),
        body_(lowering.BodyOf(function)) {}

  absl::StatusOr<Lowering::Instance> Make(absl::Span<const Output> args) {
    TENON_RETURN_IF_ERROR(BindArgs(args));
    for (const BodyNode& node : body_.nodes) TENON_RETURN_IF_ERROR(AddNode(node));
    for (size_t i = 0; i < body_.nodes.size(); ++i) TENON_RETURN_IF_ERROR(Connect(i));
    Lowering::Instance instance;
    for (const ArgDef& output : function_.signature->outputs) {
      const auto it = std::find_if(body_.returns.begin(), body_.returns.end(),
                                   [&](const Attr& r) { return r.name == output.name; });
      if (it == body_.returns.end())
        return absl::InvalidArgumentError(
            absl::StrCat("result '", output.name, "' is not filled by 'ret'"));
      TENON_RETURN_IF_ERROR(Sources(it->value.wire(), instance.results));
    }
    TENON_RETURN_IF_ERROR(AddEffects(instance));
    return instance;
  }

 private:
  struct Range {
    size_t first, last;
  };

  absl::Status BindArgs(absl::Span<const Output> args) {
    const OpDef& signature = *function_.signature;
    TENON_ASSIGN_OR_RETURN(const NodeTypes types, ResolveTypes(signature, attrs_));
    if (types.inputs.size() != args.size()) {
      return absl::InvalidArgumentError(absl::StrCat("the function takes ", types.inputs.size(),
                                                     " arguments, the call gives ", args.size()));
    }
    std::vector<Output> waits;
    if (pivot_ != kNoNode && !loose_) waits.push_back({pivot_, kControlPort});
    for (size_t i = 0; i < args.size(); ++i) {
      const DataType given = lowering_.TypeOf(args[i]);
      if (given != BaseType(types.inputs[i])) {
        return absl::InvalidArgumentError(absl::StrCat("argument ", i, " of the function is ",
                                                       DataTypeName(types.inputs[i]),
                                                       ", the call gives ", DataTypeName(given)));
      }
      std::vector<Output> inputs = {args[i]};
      inputs.insert(inputs.end(), waits.begin(), waits.end());
      TENON_ASSIGN_OR_RETURN(
          const NodeId arg,
          lowering_.AddTyped(call_, absl::StrCat("arg_", i), "Identity", std::move(inputs), given));
      args_.push_back(arg);
    }
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      TENON_ASSIGN_OR_RETURN(const auto range, InputRange(signature, attrs_, static_cast<int>(i)));
      arg_by_name_[signature.inputs[i].name] = {static_cast<size_t>(range.first),
                                                static_cast<size_t>(range.second)};
    }
    return absl::OkStatus();
  }

  absl::Status Within(const BodyNode& node, const absl::Status& status) const {
    return InvalidGraph(absl::Status(
        status.code(), absl::StrCat("node '", node.name, "' (", node.op_name, ") of function '",
                                    function_.name, "': ", status.message())));
  }

  absl::Status AddNode(const BodyNode& node) {
    std::vector<Graph::NewAttr> attrs;
    for (const Attr& a : node.attrs) {
      auto bound = BindAttr(a.value, attrs_);
      if (!bound.ok()) return Within(node, bound.status());
      attrs.push_back(
          {a.name, bound->has_value() ? **std::move(bound) : std::string(a.value.wire())});
      // Two instances of a loop are two loops.
      if (a.name == "frame_name") {
        if (absl::StatusOr<std::string_view> frame = a.value.AsString(); frame.ok())
          attrs.back().wire = attr::String(absl::StrCat(prefix_, "/", *frame));
      }
    }
    absl::StatusOr<NodeId> n = lowering_.Add(call_, node.name, node.op_name, {}, std::move(attrs));
    if (!n.ok()) return Within(node, n.status());
    if (!graph_.kind(*n).types_status.ok()) return Within(node, graph_.kind(*n).types_status);
    if (!node.device.empty()) {
      graph_.SetDevice(*n, node.device);
      lowering_.devices_[*n] = std::string(node.device);
    }
    lowering_.calls_.SetOrigin(*n, site_, node.name);
    if (IsFunctional(graph_, *n)) lowering_.work_.push_back(*n);
    by_name_.try_emplace(node.name, nodes_.size());
    nodes_.push_back(*n);
    return absl::OkStatus();
  }

  absl::Status Connect(size_t i) {
    const BodyNode& node = body_.nodes[i];
    const NodeId n = nodes_[i];
    std::vector<Output> data, control;
    for (std::string_view text : node.inputs) {
      const bool waits = text.starts_with('^');
      if (absl::Status status = Sources(text, waits ? control : data); !status.ok())
        return Within(node, status);
    }
    if (absl::Status status = CheckInputs(n, data); !status.ok()) return Within(node, status);
    if (pivot_ != kNoNode && WaitsForPivot(n, data.empty() && control.empty()))
      control.push_back({pivot_, kControlPort});
    graph_.SetInputs(n, data, control);
    return Colocate(n);
  }

  // All others wait for those that do.
  bool WaitsForPivot(NodeId n, bool is_source) const {
    return loose_ ? graph_.op(n)->is_stateful || IsFunctional(graph_, n) : is_source;
  }

  absl::Status CheckInputs(NodeId n, absl::Span<const Output> inputs) const {
    const TypeVector& wanted = graph_.kind(n).types.inputs;
    if (inputs.size() != wanted.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("it has ", inputs.size(), " inputs where its op takes ", wanted.size()));
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      const DataType given = graph_.output_type(inputs[i]);
      if (BaseType(given) == BaseType(wanted[i]) && (IsRef(given) || !IsRef(wanted[i]))) continue;
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " is ", DataTypeName(given),
                                                     " where its op takes ",
                                                     DataTypeName(wanted[i])));
    }
    return absl::OkStatus();
  }

  // Colocation names nodes of the body; those of the caller's function mean nothing here.
  absl::Status Colocate(NodeId n) {
    const AttrValue* attr = graph_.attrs(n).Find(kColocationAttr);
    if (attr == nullptr) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> classes, attr->AsStringList());
    std::vector<std::string> names;
    for (std::string_view c : classes) {
      if (!absl::ConsumePrefix(&c, kColocationPrefix)) continue;
      if (const auto it = by_name_.find(c); it != by_name_.end())
        names.push_back(absl::StrCat(kColocationPrefix, graph_.name(nodes_[it->second])));
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (names.empty()) {
      graph_.RemoveAttr(n, kColocationAttr);
    } else {
      graph_.SetAttr(n, kColocationAttr, attr::StringList(views));
    }
    return absl::OkStatus();
  }

  // "argument", "node:result", "node:result:index", "^node" or "^argument".
  absl::Status Sources(std::string_view text, std::vector<Output>& out) const {
    std::string_view rest = text;
    const bool control = absl::ConsumePrefix(&rest, "^");
    const size_t colon = rest.find(':');
    const std::string_view name = rest.substr(0, colon);
    const std::string_view result =
        colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
    if (const auto arg = arg_by_name_.find(name); arg != arg_by_name_.end())
      return ArgSources(arg->second, control, result, text, out);
    const auto it = by_name_.find(name);
    if (it == by_name_.end())
      return absl::InvalidArgumentError(
          absl::StrCat("'", text, "' names no node and no argument of the function"));
    const NodeId n = nodes_[it->second];
    if (control) {
      out.push_back({n, kControlPort});
      return absl::OkStatus();
    }
    return ResultSources(n, result, text, out);
  }

  absl::Status ArgSources(Range range, bool control, std::string_view index_text,
                          std::string_view text, std::vector<Output>& out) const {
    size_t index = 0;
    if (!index_text.empty()) {
      if (!absl::SimpleAtoi(index_text, &index) || index >= range.last - range.first)
        return absl::InvalidArgumentError(absl::StrCat("'", text, "' names no such argument"));
      range = {range.first + index, range.first + index + 1};
    }
    for (size_t i = range.first; i < range.last; ++i)
      out.push_back({args_[i], control ? kControlPort : 0});
    return absl::OkStatus();
  }

  absl::Status ResultSources(NodeId n, std::string_view result, std::string_view text,
                             std::vector<Output>& out) const {
    const size_t colon = result.find(':');
    const std::string_view name = result.substr(0, colon);
    const std::vector<ArgDef>& outputs = graph_.op(n)->outputs;
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const ArgDef& a) { return a.name == name; });
    if (found == outputs.end())
      return absl::InvalidArgumentError(
          absl::StrCat("'", text, "': op ", graph_.op_name(n), " has no result '", name, "'"));
    TENON_ASSIGN_OR_RETURN(auto range,
                           OutputRange(*graph_.op(n), WithDefaults(*graph_.op(n), graph_.attrs(n)),
                                       static_cast<int>(found - outputs.begin())));
    if (colon != result.npos) {
      int index = 0;
      if (!absl::SimpleAtoi(result.substr(colon + 1), &index) || index < 0 ||
          index >= range.second - range.first) {
        return absl::InvalidArgumentError(absl::StrCat("'", text, "': result '", name, "' of op ",
                                                       graph_.op_name(n), " has ",
                                                       range.second - range.first, " tensors"));
      }
      range = {range.first + index, range.first + index + 1};
    }
    for (int i = range.first; i < range.second; ++i) out.push_back({n, i});
    return absl::OkStatus();
  }

  // What a call does besides its results: the function's control outputs and whatever is stateful.
  // Nobody may see a result before that is done.
  absl::Status AddEffects(Lowering::Instance& instance) {
    std::vector<Output> effects;
    for (const Attr& entry : body_.control_returns) {
      TENON_RETURN_IF_ERROR(Sources(absl::StrCat("^", entry.value.wire()), effects));
    }
    absl::flat_hash_set<NodeId> listed;
    for (const Output& effect : effects) listed.insert(effect.node);
    for (NodeId n : nodes_) {
      if (graph_.op(n)->is_stateful && listed.insert(n).second)
        effects.push_back({n, kControlPort});
    }
    if (loose_) {
      std::erase_if(effects, [this](const Output& e) { return OnlyReads(graph_.op_name(e.node)); });
      // What the call waits for may be a check.
      if (!graph_.control_inputs(call_).empty()) effects.push_back({pivot_, kControlPort});
    }
    if (effects.empty()) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(instance.effects,
                           lowering_.Add(call_, "effects", "NoOp", std::move(effects)));
    for (Output& result : instance.results) {
      TENON_ASSIGN_OR_RETURN(
          const NodeId n,
          lowering_.AddTyped(call_, "result", "Identity",
                             {result, {instance.effects, kControlPort}}, lowering_.TypeOf(result)));
      result = {n, 0};
    }
    return absl::OkStatus();
  }

  Lowering& lowering_;
  Graph& graph_;
  NodeId call_;
  std::string_view prefix_;
  const FunctionEntry& function_;
  const AttrSet& attrs_;
  int32_t site_;
  NodeId pivot_;
  const bool loose_;
  const FunctionBody& body_;
  std::vector<NodeId> args_;   // an Identity of each
  std::vector<NodeId> nodes_;  // by node of the body
  absl::flat_hash_map<std::string_view, Range> arg_by_name_;
  absl::flat_hash_map<std::string_view, size_t> by_name_;
};

const FunctionBody& Lowering::BodyOf(const FunctionEntry& function) {
  const auto it = bodies_.find(&function);
  if (it != bodies_.end()) return *it->second;
  return *bodies_
              .emplace(&function,
                       std::make_unique<FunctionBody>(ParseFunctionBody(graph_, function)))
              .first->second;
}

// A function that calls itself has no end written out.
absl::Status Lowering::CheckChain(NodeId call, std::string_view function) const {
  int depth = 1;
  for (int32_t site = calls_.SiteOf(call); site >= 0; site = calls_.site(site).caller) {
    if (calls_.site(site).function == function) {
      return absl::InvalidArgumentError(
          absl::StrCat("it calls function '", function,
                       "', of whose body it is a part; a function may not call itself"));
    }
    if (++depth > kMaxDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("calls of functions are nested more than ", kMaxDepth, " deep"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Lowering::Instance> Lowering::Inline(NodeId call, std::string_view prefix,
                                                    const FuncAttr& function,
                                                    absl::Span<const Output> args, NodeId pivot) {
  return Inline(call, prefix, function.name, ParseFuncAttrs(function), args, pivot);
}

absl::StatusOr<Lowering::Instance> Lowering::Inline(NodeId call, std::string_view prefix,
                                                    std::string_view function, const AttrSet& attrs,
                                                    absl::Span<const Output> args, NodeId pivot) {
  const FunctionEntry* entry = graph_.FindFunction(function);
  if (entry == nullptr)
    return absl::NotFoundError(absl::StrCat("no function is named '", function, "'"));
  if (entry->signature == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("the signature of function '", function, "' is no valid OpDef"));
  TENON_RETURN_IF_ERROR(CheckChain(call, entry->name));
  const int32_t site = calls_.Add({entry->name, calls_.NameOf(graph_, call), calls_.SiteOf(call)});
  const AttrSet bound = WithDefaults(*entry->signature, attrs);
  return FunctionCopy(*this, call, prefix, *entry, bound, site, pivot).Make(args);
}

}  // namespace tenon
