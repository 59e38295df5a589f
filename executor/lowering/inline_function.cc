// Copies a function's body into the graph that calls the function.
#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/lowering/lowering.h"
#include "graph/base/annotate.h"
#include "graph/base/invalid_graph.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/functions/body_sources.h"
#include "graph/ir/colocation.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {

// One copy of a body. Adds all nodes first and connects them then, as nodes of a body may stand in
// any order.
class FunctionCopy {
 public:
  FunctionCopy(Lowering& lowering, NodeId call, std::string_view prefix,
               const FunctionEntry& function, const AttrSet& attrs, int32_t site, NodeId pivot,
               Lowering::Demand demand)
      : lowering_(lowering),
        graph_(lowering.graph_),
        call_(call),
        prefix_(prefix),
        function_(function),
        attrs_(attrs),
        site_(site),
        pivot_(pivot),
        demand_(std::move(demand)),
        loose_(lowering.IsLoose()),
        body_(lowering.BodyOf(function)),
        sources_(lowering.graph_) {}

  absl::StatusOr<Lowering::Instance> Make(absl::Span<const Output> args) {
    TENON_RETURN_IF_ERROR(BindArgs(args));
    nodes_.reserve(body_.nodes.size());
    sources_.Reserve(body_.nodes.size());
    for (const BodyNode& node : body_.nodes) TENON_RETURN_IF_ERROR(AddNode(node));
    for (size_t i = 0; i < body_.nodes.size(); ++i) TENON_RETURN_IF_ERROR(Connect(i));
    MarkIdle();
    Lowering::Instance instance;
    const auto source_of = SourcesOfResults(body_.returns);
    for (const ArgDef& output : function_.signature->outputs) {
      const auto it = source_of.find(output.name);
      if (it == source_of.end()) {
        return WithoutResult(absl::InvalidArgumentError(
                                 absl::StrCat("result '", output.name, "' is not filled by 'ret'")),
                             output, " missing.");
      }
      const absl::Status found = sources_.Append(it->second, instance.results);
      if (!found.ok())
        return WithoutResult(found, output, absl::StrCat(" -> ", it->second, " is not found."));
    }
    TENON_RETURN_IF_ERROR(AddEffects(instance));
    return instance;
  }

 private:
  // With TensorFlow's answer for a result that nothing in the body gives.
  static absl::Status WithoutResult(absl::Status status, const ArgDef& result,
                                    std::string_view why) {
    const std::string type = result.type == DataType::kInvalid
                                 ? result.type_attr
                                 : std::string(DataTypeSpecName(result.type));
    return NoteAnswerAlone(std::move(status), absl::StatusCode::kInvalidArgument,
                           absl::StrCat("Return ", result.name, why, "\n\tIn function output ",
                                        result.name, ":", type));
  }

  absl::Status BindArgs(absl::Span<const Output> args) {
    first_ = graph_.num_node_ids();
    const OpDef& signature = *function_.signature;
    TENON_ASSIGN_OR_RETURN(const NodeTypes types, ResolveTypes(signature, attrs_));
    TENON_RETURN_IF_ERROR(lowering_.CheckArgs(call_, types.inputs, args));
    std::vector<NodeId> nodes;
    std::vector<Output> waits;
    if (pivot_ != kNoNode && !loose_) waits.push_back({pivot_, kControlPort});
    for (size_t i = 0; i < args.size(); ++i) {
      std::vector<Output> inputs = {args[i]};
      inputs.insert(inputs.end(), waits.begin(), waits.end());
      TENON_ASSIGN_OR_RETURN(const NodeId arg,
                             lowering_.AddTyped(call_, absl::StrCat("arg_", i), "Identity",
                                                std::move(inputs), lowering_.TypeOf(args[i])));
      nodes.push_back(arg);
    }
    args_ = nodes;
    return sources_.SetArgs(signature, attrs_, std::move(nodes));
  }

  absl::Status Within(const BodyNode& node, const absl::Status& status) const {
    return InvalidGraph(Annotate(status, absl::StrCat("node '", node.name, "' (", node.op_name(),
                                                      ") of function '", function_.name, "': ")));
  }

  // The attributes of a kind's nodes in this copy. Those with large constants are not kept.
  absl::StatusOr<std::vector<Graph::NewAttr>> AttrsOf(const BodyKind& kind) {
    if (const auto known = attrs_of_kinds_.find(&kind); known != attrs_of_kinds_.end())
      return known->second;
    std::vector<Graph::NewAttr> attrs;
    size_t bytes = 0;
    for (const Attr& a : kind.attrs.all()) {
      TENON_ASSIGN_OR_RETURN(std::optional<std::string> bound, BindAttr(a.value, attrs_));
      attrs.push_back(
          {a.name, bound.has_value() ? *std::move(bound) : std::string(a.value.wire())});
      // Two copies of a loop are two loops, so each needs its own frame.
      if (a.name == "frame_name") {
        if (absl::StatusOr<std::string_view> frame = a.value.AsString(); frame.ok())
          attrs.back().wire = attr::String(absl::StrCat(prefix_, "/", *frame));
      }
      bytes += attrs.back().wire.size();
    }
    if (bytes <= kMaxInternedBytes) attrs_of_kinds_.emplace(&kind, attrs);
    return attrs;
  }

  absl::Status AddNode(const BodyNode& node) {
    auto attrs = AttrsOf(*node.kind);
    if (!attrs.ok()) return Within(node, attrs.status());
    absl::StatusOr<NodeId> n =
        lowering_.Add(call_, node.name, node.op_name(), {}, *std::move(attrs));
    if (!n.ok()) return Within(node, n.status());
    if (!graph_.kind(*n).types_status.ok()) return Within(node, graph_.kind(*n).types_status);
    if (!node.device.empty()) {
      graph_.SetDevice(*n, node.device);
      lowering_.devices_[*n] = graph_.device(*n);
    }
    if (!node.debug_info.empty()) graph_.SetExtra(*n, node.debug_info);
    lowering_.calls_.SetOrigin(*n, site_, node.name);
    if (IsFunctional(graph_, *n)) lowering_.work_.push_back(*n);
    sources_.AddNode(node.name, *n);
    nodes_.push_back(*n);
    return absl::OkStatus();
  }

  absl::Status Connect(size_t i) {
    const BodyNode& node = body_.nodes[i];
    const NodeId n = nodes_[i];
    data_.clear();
    control_.clear();
    for (std::string_view text : node.inputs) {
      const bool waits = text.starts_with('^');
      if (absl::Status status = sources_.Append(text, waits ? control_ : data_); !status.ok()) {
        return NoteAnswerAlone(Within(node, status), absl::StatusCode::kInvalidArgument,
                               absl::StrCat("input ", text, " is not found: {{node ", node.name,
                                            "}}\n\tIn {{node ", node.name, "}}"));
      }
    }
    if (absl::Status status = CheckInputs(graph_, n, data_); !status.ok())
      return Within(node, status);
    if (pivot_ != kNoNode && WaitsForPivot(n, data_.empty() && control_.empty()))
      control_.push_back({pivot_, kControlPort});
    graph_.SetInputs(n, data_, control_);
    return Colocate(n);
  }

  // A node with inputs waits through them. Without the pivot a node without inputs would run before
  // the call does, or in each branch.
  bool WaitsForPivot(NodeId n, bool is_source) const {
    return loose_ ? graph_.op(n)->is_stateful || IsFunctional(graph_, n) : is_source;
  }

  // Keeps the colocation constraints that name nodes of the body. Names of the caller's function
  // mean nothing here.
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

  // Adds the node that waits for all that the call does besides its results: the control outputs of
  // the function, stateful nodes, and that all arguments are there. No result may be seen before
  // that is done.
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
      std::erase_if(effects, [this](const Output& e) { return graph_.facts(e.node).only_reads; });
      // The call may wait for a check, which must pass before a result is seen.
      if (!graph_.control_inputs(call_).empty()) effects.push_back({pivot_, kControlPort});
    }
    for (const Output& effect : effects) Need(effect, instance.results);
    for (size_t i = 0; i < instance.results.size(); ++i) {
      if (!IsUnread(i)) Need(instance.results[i], instance.results);
    }
    TENON_RETURN_IF_ERROR(AddUnreadResults(instance.results, effects));
    if (loose_ && demand_.computes_all) AddUnusedArgs(effects);
    for (NodeId arg : args_) {
      instance.used_args.push_back(Has(needed_, arg));
      if (!demand_.computes_all && !Has(needed_, arg)) lowering_.SetIdle(arg);
    }
    if (effects.empty()) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(instance.effects,
                           lowering_.Add(call_, "effects", "NoOp", std::move(effects)));
    for (size_t i = 0; i < instance.results.size(); ++i) {
      Output& result = instance.results[i];
      TENON_ASSIGN_OR_RETURN(
          const NodeId n,
          lowering_.AddTyped(call_, "result", "Identity",
                             {result, {instance.effects, kControlPort}}, lowering_.TypeOf(result)));
      if (IsUnread(i)) lowering_.SetIdle(n);
      result = {n, 0};
    }
    return absl::OkStatus();
  }

  bool IsUnread(size_t result) const {
    return result < demand_.unread.size() && demand_.unread[result];
  }

  // Marks nodes of the body that do nothing for its results and effects: they do not run. Only of
  // use if a call, branch or loop in the body can then leave results out.
  void MarkIdle() {
    if (std::ranges::none_of(nodes_, [this](NodeId n) { return IsFunctional(graph_, n); })) return;
    std::vector<Output> ends;
    // Malformed references are errors of Make, which comes to them later.
    for (const Attr& entry : body_.returns) sources_.Append(entry.value.wire(), ends).IgnoreError();
    for (const Attr& entry : body_.control_returns)
      sources_.Append(absl::StrCat("^", entry.value.wire()), ends).IgnoreError();
    std::vector<bool> runs;
    for (const Output& end : ends) Reach(end.node, runs);
    for (NodeId n : nodes_) {
      if (graph_.op(n)->is_stateful) Reach(n, runs);
    }
    for (NodeId n : nodes_) {
      if (!Has(runs, n)) lowering_.SetIdle(n);
    }
  }

  // Sets of nodes of this copy, by the id of the node less first_.
  bool IsOwn(NodeId n) const { return n >= first_; }
  bool Has(const std::vector<bool>& set, NodeId n) const {
    return IsOwn(n) && n - first_ < std::ssize(set) && set[n - first_];
  }
  bool Put(std::vector<bool>& set, NodeId n) const {
    if (!IsOwn(n) || Has(set, n)) return false;
    if (n - first_ >= std::ssize(set)) set.resize(graph_.num_node_ids() - first_, false);
    set[n - first_] = true;
    return true;
  }
  bool IsArg(NodeId n) const { return IsOwn(n) && n - first_ < std::ssize(args_); }

  // Adds n and all nodes of this copy to which edges lead from it to `reached`.
  void Reach(NodeId n, std::vector<bool>& reached) const {
    std::vector<NodeId> open;
    const auto put = [&](NodeId m) {
      if (Put(reached, m)) open.push_back(m);
    };
    put(n);
    while (!open.empty()) {
      const NodeId m = open.back();
      open.pop_back();
      for (const Output& in : graph_.inputs(m)) put(in.node);
    }
  }

  // Marks what `output` needs. A loop variable that is needed is needed from the pass before too,
  // so its result counts as well.
  void Need(Output output, absl::Span<const Output> results) {
    std::vector<Output> open = {output};
    while (!open.empty()) {
      const Output o = open.back();
      open.pop_back();
      if (!IsOwn(o.node)) continue;
      if (!o.is_control() && IsFunctional(graph_, o.node)) read_.insert(o);
      if (Put(needed_, o.node) && demand_.first_variable.has_value() && IsArg(o.node)) {
        const int64_t variable = o.node - first_ - static_cast<int64_t>(*demand_.first_variable);
        if (variable >= 0 && variable < std::ssize(results)) open.push_back(results[variable]);
      }
      lowering_.needs_.Need(o, [&](const Output& in) { open.push_back(in); });
    }
  }

  // Whether o is computed anyway. A call, branch or loop that is needed computes only those of its
  // outputs that are read.
  bool IsNeeded(Output o) const {
    return Has(needed_, o.node) &&
           (o.is_control() || !IsFunctional(graph_, o.node) || read_.contains(o));
  }

  // Adds results that no node reads, if their computation may fail: TensorFlow computes them, and
  // the run must then fail too.
  absl::Status AddUnreadResults(absl::Span<const Output> results, std::vector<Output>& effects) {
    if (!demand_.computes_all && !StaysCall(AttrSet(body_.attrs))) return absl::OkStatus();
    bool all_there = false;
    for (size_t i = 0; i < results.size(); ++i) {
      const Output result = results[i];
      if (!IsUnread(i) || IsNeeded(result) || !MayFail(result)) continue;
      // A Switch may have left such a result dead, and an effect that is dead would kill the
      // others.
      if (!all_there && lowering_.MayHaveDeadResults(function_)) return absl::OkStatus();
      all_there = true;
      Need(result, results);
      effects.push_back({result.node, kControlPort});
      if (!IsFunctional(graph_, result.node)) continue;
      // A control edge from a call waits only for what the call must do, so an Identity reads the
      // result.
      TENON_ASSIGN_OR_RETURN(
          effects.back().node,
          lowering_.AddTyped(call_, "unread", "Identity", {result}, lowering_.TypeOf(result)));
    }
    return absl::OkStatus();
  }

  // Adds arguments that no node needs, if their computation may fail.
  void AddUnusedArgs(std::vector<Output>& effects) const {
    for (NodeId arg : args_) {
      if (!Has(needed_, arg) && MayFail({arg, 0})) effects.push_back({arg, kControlPort});
    }
  }

  // Whether anything that o needs may fail, as far as the facts of ops tell. Leaves out what is
  // computed anyway. Gives up after kMostNodes nodes with the careful answer.
  bool MayFail(Output o) const {
    constexpr size_t kMostNodes = 64;
    std::vector<NodeId> open;
    absl::flat_hash_set<NodeId> seen;
    const auto see = [&](Output from) {
      if (from.node != pivot_ && !IsNeeded(from) && seen.insert(from.node).second)
        open.push_back(from.node);
    };
    see(o);
    while (!open.empty()) {
      const NodeId m = open.back();
      open.pop_back();
      const bool is_given = IsPlaceholder(graph_, m) || graph_.op_name(m) == "VarHandleOp";
      if (!is_given && !NeverFails(graph_.facts(m))) return true;
      // A strict body waits for all arguments anyway.
      if (!loose_ && IsArg(m)) continue;
      for (const Output& in : graph_.inputs(m)) see(in);
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
  const Lowering::Demand demand_;
  const bool loose_;
  const FunctionBody& body_;
  absl::flat_hash_map<const BodyKind*, std::vector<Graph::NewAttr>> attrs_of_kinds_;
  std::vector<Output> data_, control_;  // scratch of Connect
  std::vector<NodeId> args_;            // an Identity for each argument
  std::vector<NodeId> nodes_;           // by node of the body
  NodeId first_ = 0;                    // the first node of this copy; the arguments come first
  // The nodes that are computed for effects and for the results that are read, and the outputs of
  // calls, branches and loops that these nodes read.
  std::vector<bool> needed_;
  absl::flat_hash_set<Output> read_;
  BodySources sources_;
};

// With TensorFlow's answers: a call fails as the function is prepared, a branch as it is run.
absl::Status Lowering::CheckArgs(NodeId call, const TypeVector& takes,
                                 absl::Span<const Output> args) const {
  if (takes.size() != args.size()) {
    return NoteAnswer(
        absl::InvalidArgumentError(absl::StrCat("the function takes ", takes.size(),
                                                " arguments, the call gives ", args.size())),
        absl::StatusCode::kInvalidArgument,
        graph_.op_name(call).ends_with("PartitionedCall")
            ? absl::StrCat(
                  "InstantiateOptions.input_devices must have the same length as the number of "
                  "arguments: input_devices length = ",
                  args.size(), " number of arguments = ", takes.size())
            : absl::StrCat("Expects ", takes.size(), " arguments, but ", args.size(),
                           " is provided"));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const DataType given = TypeOf(args[i]);
    if (given == BaseType(takes[i])) continue;
    return NoteAnswer(absl::InvalidArgumentError(absl::StrCat(
                          "argument ", i, " of the function is ", DataTypeName(takes[i]),
                          ", the call gives ", DataTypeName(given))),
                      absl::StatusCode::kInvalidArgument,
                      absl::StrCat("Expects arg[", i, "] to be ", DataTypeSpecName(takes[i]),
                                   " but ", DataTypeSpecName(given), " is provided"));
  }
  return absl::OkStatus();
}

const FunctionBody& Lowering::BodyOf(const FunctionEntry& function) {
  const auto it = bodies_.find(function.name);
  if (it != bodies_.end()) return *it->second;
  return *bodies_
              .emplace(function.name,
                       std::make_unique<FunctionBody>(ParseFunctionBody(graph_, function)))
              .first->second;
}

// The number of calls in which `call` stands. A function that calls itself would have no end when
// written out.
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
                                                    absl::Span<const Output> args, NodeId pivot,
                                                    Demand demand) {
  return Inline(call, prefix, function.name, ParseFuncAttrs(function), args, pivot,
                std::move(demand));
}

absl::StatusOr<Lowering::Instance> Lowering::Inline(NodeId call, std::string_view prefix,
                                                    std::string_view function, const AttrSet& attrs,
                                                    absl::Span<const Output> args, NodeId pivot,
                                                    Demand demand) {
  const FunctionEntry* entry = graph_.FindFunction(function);
  if (entry == nullptr) {
    // TensorFlow looks for functions that the graph itself calls as it prepares the call; for those
    // that other functions call, and for branches, as it takes the function that calls apart.
    const bool prepared =
        calls_.SiteOf(call) < 0 && graph_.op_name(call).ends_with("PartitionedCall");
    const absl::Status fault =
        absl::NotFoundError(absl::StrCat("no function is named '", function, "'"));
    if (prepared) {
      return NoteAnswer(
          fault, absl::StatusCode::kInvalidArgument,
          absl::StrCat("Failed to find function \"", function, "\" in function library"));
    }
    return NoteAnswerAlone(fault, absl::StatusCode::kNotFound,
                           absl::StrCat("Function ", function, " is not defined."));
  }
  if (entry->signature == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("the signature of function '", function, "' is no valid OpDef"));
  TENON_RETURN_IF_ERROR(ChainDepth(call, entry->name).status());
  const int32_t site = calls_.Add({entry->name, calls_.NameOf(graph_, call), calls_.SiteOf(call)});
  const AttrSet bound = WithDefaults(*entry->signature, attrs);
  return FunctionCopy(*this, call, prefix, *entry, bound, site, pivot, std::move(demand))
      .Make(args);
}

}  // namespace tenon
