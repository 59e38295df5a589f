// One instance of a function's body, as nodes of the graph that calls it.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/lowering/lowering.h"
#include "graph/body_sources.h"
#include "graph/colocation.h"
#include "graph/invalid_graph.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "grappler_lite/op_traits.h"

namespace tenon {
namespace {

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
        body_(lowering.BodyOf(function)),
        sources_(lowering.graph_) {}

  absl::StatusOr<Lowering::Instance> Make(absl::Span<const Output> args) {
    TENON_RETURN_IF_ERROR(BindArgs(args));
    for (const BodyNode& node : body_.nodes) TENON_RETURN_IF_ERROR(AddNode(node));
    for (size_t i = 0; i < body_.nodes.size(); ++i) TENON_RETURN_IF_ERROR(Connect(i));
    Lowering::Instance instance;
    const auto source_of = SourcesOfResults(body_.returns);
    for (const ArgDef& output : function_.signature->outputs) {
      const auto it = source_of.find(output.name);
      if (it == source_of.end())
        return absl::InvalidArgumentError(
            absl::StrCat("result '", output.name, "' is not filled by 'ret'"));
      TENON_RETURN_IF_ERROR(sources_.Append(it->second, instance.results));
    }
    TENON_RETURN_IF_ERROR(AddEffects(instance));
    return instance;
  }

 private:
  absl::Status BindArgs(absl::Span<const Output> args) {
    const OpDef& signature = *function_.signature;
    TENON_ASSIGN_OR_RETURN(const NodeTypes types, ResolveTypes(signature, attrs_));
    if (types.inputs.size() != args.size()) {
      return absl::InvalidArgumentError(absl::StrCat("the function takes ", types.inputs.size(),
                                                     " arguments, the call gives ", args.size()));
    }
    std::vector<NodeId> nodes;
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
      nodes.push_back(arg);
    }
    args_ = nodes;
    return sources_.SetArgs(signature, attrs_, std::move(nodes));
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
    sources_.AddNode(node.name, *n);
    nodes_.push_back(*n);
    return absl::OkStatus();
  }

  absl::Status Connect(size_t i) {
    const BodyNode& node = body_.nodes[i];
    const NodeId n = nodes_[i];
    std::vector<Output> data, control;
    for (std::string_view text : node.inputs) {
      const bool waits = text.starts_with('^');
      if (absl::Status status = sources_.Append(text, waits ? control : data); !status.ok())
        return Within(node, status);
    }
    if (absl::Status status = CheckInputs(graph_, n, data); !status.ok())
      return Within(node, status);
    if (pivot_ != kNoNode && WaitsForPivot(n, data.empty() && control.empty()))
      control.push_back({pivot_, kControlPort});
    graph_.SetInputs(n, data, control);
    return Colocate(n);
  }

  // All others wait for those that do.
  bool WaitsForPivot(NodeId n, bool is_source) const {
    return loose_ ? graph_.op(n)->is_stateful || IsFunctional(graph_, n) : is_source;
  }

  // Colocation names nodes of the body; those of the caller's function mean nothing here.
  absl::Status Colocate(NodeId n) {
    const AttrValue* attr = graph_.attrs(n).Find(kColocationAttr);
    if (attr == nullptr) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> classes, attr->AsStringList());
    std::vector<std::string> names;
    for (std::string_view c : classes) {
      if (!absl::ConsumePrefix(&c, kColocationPrefix)) continue;
      if (const NodeId with = sources_.FindNode(c); with != kNoNode)
        names.push_back(absl::StrCat(kColocationPrefix, graph_.name(with)));
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (names.empty()) {
      graph_.RemoveAttr(n, kColocationAttr);
    } else {
      graph_.SetAttr(n, kColocationAttr, attr::StringList(views));
    }
    return absl::OkStatus();
  }

  // What a call does besides its results: the function's control outputs, whatever is stateful, and
  // that all arguments are there. Nobody may see a result before that is done.
  absl::Status AddEffects(Lowering::Instance& instance) {
    std::vector<Output> effects;
    for (const Attr& entry : body_.control_returns) {
      TENON_RETURN_IF_ERROR(sources_.Append(absl::StrCat("^", entry.value.wire()), effects));
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
      AddUnusedArgs(instance.results, effects);
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

  // Arguments that nothing reads are computed all the same, if that may fail.
  void AddUnusedArgs(absl::Span<const Output> results, std::vector<Output>& effects) const {
    absl::flat_hash_set<NodeId> unused(args_.begin(), args_.end());
    for (const Output& result : results) unused.erase(result.node);
    for (const Output& effect : effects) unused.erase(effect.node);
    for (NodeId n : nodes_) {
      for (const Output& in : graph_.inputs(n)) unused.erase(in.node);
    }
    for (NodeId arg : args_) {
      if (unused.contains(arg) && MayFail(arg)) effects.push_back({arg, kControlPort});
    }
  }

  // Whether anything that n is made of may, as far as ops tell.
  bool MayFail(NodeId n) const {
    constexpr size_t kMostNodes = 64;
    std::vector<NodeId> open = {n};
    absl::flat_hash_set<NodeId> seen = {n};
    while (!open.empty()) {
      const NodeId m = open.back();
      open.pop_back();
      const std::string_view op = graph_.op_name(m);
      const bool is_given = IsPlaceholder(graph_, m) || op == "VarHandleOp";
      if (!is_given && !NeverFails(op)) return true;
      for (const Output& in : graph_.inputs(m)) {
        if (seen.insert(in.node).second) open.push_back(in.node);
      }
      if (seen.size() > kMostNodes) return true;
    }
    return false;
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
  BodySources sources_;
};

const FunctionBody& Lowering::BodyOf(const FunctionEntry& function) {
  const auto it = bodies_.find(&function);
  if (it != bodies_.end()) return *it->second;
  return *bodies_
              .emplace(&function,
                       std::make_unique<FunctionBody>(ParseFunctionBody(graph_, function)))
              .first->second;
}

// How many calls `call` stands in. A function that calls itself has no end written out.
absl::StatusOr<int> Lowering::ChainDepth(NodeId call, std::string_view function) const {
  int depth = 0;
  for (int32_t site = calls_.SiteOf(call); site >= 0; site = calls_.site(site).caller) {
    if (calls_.site(site).function == function) {
      return absl::InvalidArgumentError(
          absl::StrCat("it calls function '", function,
                       "', of whose body it is a part; a function may not call itself"));
    }
    if (++depth >= kMaxDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("calls of functions are nested more than ", kMaxDepth, " deep"));
    }
  }
  return depth;
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
  TENON_RETURN_IF_ERROR(ChainDepth(call, entry->name).status());
  const int32_t site = calls_.Add({entry->name, calls_.NameOf(graph_, call), calls_.SiteOf(call)});
  const AttrSet bound = WithDefaults(*entry->signature, attrs);
  return FunctionCopy(*this, call, prefix, *entry, bound, site, pivot).Make(args);
}

}  // namespace tenon
