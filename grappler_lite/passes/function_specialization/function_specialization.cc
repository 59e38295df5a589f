// Gives calls, branches and loops functions of their own that take, compute and give no more than
// is asked of them: small constants go from the arguments into the bodies, where the other passes
// see them, a tensor that comes twice comes once, and arguments and results that nobody uses go.
// Equal functions are made once.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/crc32c.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/wire.h"
#include "grappler_lite/analysis/body_nodes.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/function_specialization/site.h"
#include "grappler_lite/passes/function_specialization/usage.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

constexpr RewriteInfo kMergeArguments = {"merge_arguments", Exactness::kExact};
constexpr RewriteInfo kPushConstants = {"push_constants", Exactness::kExact};
constexpr RewriteInfo kRemoveUnused = {"remove_unused", Exactness::kExact};

// A constant is copied into each body that reads it, and a body into each function that is made of
// it: bounds keep the library from growing with the number of calls.
constexpr size_t kMaxConstBytes = 1024;
constexpr size_t kMaxBodyBytes = size_t{1} << 20;
constexpr size_t kMaxNewBytes = size_t{16} << 20;  // of all functions that one run makes

// Fields of AttrValue, AttrValue.ListValue and NameAttrList.
constexpr uint32_t kAttrList = 1, kAttrFunc = 10, kListFunc = 9, kFuncName = 1;

constexpr std::string_view kMark = "_specialized_";

// Those that an attribute names, in their order.
std::vector<FuncAttr> FunctionsIn(const AttrValue& value) {
  if (value.kind() == AttrKind::kFunc) return {*value.AsFunc()};
  return value.AsFuncList().value_or(std::vector<FuncAttr>());
}

bool MayBeSpecialized(const FunctionGraph& body) {
  const AttrValue* mark = body.attrs.Find("_nospecialize");
  return mark == nullptr || !mark->AsBool().value_or(false);
}

class Specializer {
 public:
  explicit Specializer(PassContext& context)
      : c_(context), g_(context.graph), fanouts_(context.graph) {}

  bool Run() {
    bool changed = false;
    for (NodeId n = 0, end = g_.num_node_ids(); n < end; ++n) {
      if (!g_.alive(n) || c_.feeds.contains(n) || MustStay(g_, n) || !g_.kind(n).types_status.ok())
        continue;
      std::optional<FunctionSite> site = SiteAt(n);
      if (site.has_value()) changed |= Specialize(*site);
    }
    std::vector<std::string> wires;
    for (const auto& [name, wire] : wires_) wires.push_back(wire);
    PutFunctions(g_, wires);
    return changed;
  }

 private:
  std::optional<FunctionSite> SiteAt(NodeId n) {
    const std::string_view op = g_.op_name(n);
    const CallKind calls = g_.facts(n).calls;
    FunctionSite site;
    site.node = n;
    if (calls == CallKind::kFunction) {
      site.attrs = {"f"};
    } else if (calls == CallKind::kIf) {
      site.attrs = {"then_branch", "else_branch"};
      site.first_arg = 1;
    } else if (calls == CallKind::kCase) {
      site.attrs = {"branches"};
      site.first_arg = 1;
    } else if (calls == CallKind::kWhile) {
      site.attrs = {"cond", "body"};
      site.loop = true;
    } else if (g_.FindFunction(op) != nullptr) {
      if (!AddBody(site, {op, {}})) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (IsMarkedForXla(g_.attrs(n))) return std::nullopt;
    for (const std::string_view name : site.attrs) {
      const AttrValue* attr = g_.attr(n, name);
      if (attr == nullptr) return std::nullopt;
      for (const FuncAttr& function : FunctionsIn(*attr)) {
        if (!AddBody(site, function)) return std::nullopt;
      }
    }
    if (!FitsItsFunctions(site) || new_bytes_ + site.bytes > kMaxNewBytes) return std::nullopt;
    return site;
  }

  bool AddBody(FunctionSite& site, const FuncAttr& function) {
    const FunctionEntry* entry = g_.FindFunction(function.name);
    if (entry == nullptr) return false;
    const FunctionGraph* body = BodyOf(*entry);
    if (body == nullptr) return false;
    // The budget counts the nodes of the bodies, as each of them is looked at.
    for (NodeId n = 0; n < body->graph.num_node_ids(); ++n) {
      if (!c_.Visit()) return false;
    }
    site.functions.push_back(function);
    site.bodies.push_back(body);
    site.bytes += entry->wire.size();
    return true;
  }

  // Null if the function is to stay as it is.
  const FunctionGraph* BodyOf(const FunctionEntry& function) {
    const auto [it, is_new] = bodies_.try_emplace(function.name);
    if (is_new && function.wire.size() <= kMaxBodyBytes) {
      absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(g_, function, functions_);
      // Each instance of one that calls itself could make another. A body with a cycle is left to
      // the run, which refuses it.
      if (body.ok() && MayBeSpecialized(*body) && TopologicalOrder(body->graph).ok() &&
          !functions_->ReachesItself(g_, function.name)) {
        ShortenResults(*body);
        it->second = std::make_unique<FunctionGraph>(*std::move(body));
      }
    }
    return it->second.get();
  }

  bool FitsItsFunctions(const FunctionSite& site) const {
    const size_t args = g_.data_inputs(site.node).size() - site.first_arg;
    if (site.bodies.empty() || (site.loop && site.bodies.size() != 2)) return false;
    for (size_t b = 0; b < site.bodies.size(); ++b) {
      const FunctionGraph& body = *site.bodies[b];
      if (body.args.size() != args) return false;
      for (size_t i = 0; i < args; ++i) {
        const int input = static_cast<int>(i + site.first_arg);
        if (TypeIn(body, body.args[i]) != BaseType(g_.input_type(site.node, input))) return false;
      }
      // The condition of a loop takes the variables as the body does, but gives one result, whether
      // to go on.
      const bool is_condition = site.loop && b == 0;
      if (is_condition ? body.results.size() != 1 : !GivesItsOutputs(site.node, body)) return false;
    }
    return true;
  }

  bool GivesItsOutputs(NodeId n, const FunctionGraph& body) const {
    if (body.results.size() != static_cast<size_t>(g_.num_outputs(n))) return false;
    for (int32_t i = 0; i < g_.num_outputs(n); ++i) {
      if (TypeIn(body, body.results[i]) != BaseType(g_.output_type({n, i}))) return false;
    }
    return true;
  }

  static DataType TypeIn(const FunctionGraph& body, NodeId end) {
    return BaseType(body.graph.output_type({end, 0}));
  }

  bool Specialize(FunctionSite& site) {
    const std::vector<size_t> firsts = FirstsOfEqual(site);
    const bool merges = !firsts.empty() && c_.Allow(kMergeArguments.name, site.node);
    if (merges) {
      OwnBodies(site);
      for (const auto& body : site.own) ReadFirstArgs(*body, firsts);
    }
    std::vector<std::vector<bool>> read;
    for (const FunctionGraph* body : site.bodies) read.push_back(ReadNodes(*body));
    const std::vector<size_t> constants = Constants(site, read);
    const bool pushes = !constants.empty() && c_.Allow(kPushConstants.name, site.node);
    if (pushes) {
      OwnBodies(site);
      for (size_t b = 0; b < site.own.size(); ++b) PushInto(*site.own[b], read[b], site, constants);
    }
    std::vector<bool> results = usage_.Results(site);
    // A variable of a loop is argument and result: both go, or none.
    std::vector<bool> args = site.loop ? results : usage_.Args(site, results);
    const bool all_used = std::all_of(args.begin(), args.end(), [](bool b) { return b; }) &&
                          std::all_of(results.begin(), results.end(), [](bool b) { return b; });
    const bool keeps_one = std::any_of(args.begin(), args.end(), [](bool b) { return b; });
    const bool removes = !all_used && (!site.loop || keeps_one) &&  // a loop needs a variable
                         c_.Allow(kRemoveUnused.name, site.node);
    if (!merges && !pushes && !removes) return false;
    if (!removes) {
      args.assign(args.size(), true);
      results.assign(results.size(), true);
    }
    for (size_t i = 0; merges && i < args.size(); ++i) args[i] = args[i] && firsts[i] == i;
    if (merges || removes) {
      OwnBodies(site);
      DropUnused(site, args, results);
    }
    Rewrite(site, args, results);
    return true;
  }

  // --- Equal arguments. TensorFlow's optimizer needs them merged: see SeparateRepeated.

  // By argument: the first argument that is the same tensor; empty if each is its own first.
  // Variables of a loop that start equal need not stay equal.
  std::vector<size_t> FirstsOfEqual(const FunctionSite& site) const {
    const std::span<const Output> args = g_.data_inputs(site.node).subspan(site.first_arg);
    absl::flat_hash_map<Output, size_t> first_of;
    std::vector<size_t> firsts;
    for (size_t i = 0; i < args.size(); ++i)
      firsts.push_back(first_of.emplace(args[i], i).first->second);
    if (site.loop || first_of.size() == args.size()) firsts.clear();
    return firsts;
  }

  // --- Constants.

  // The arguments that are small constants and are looked at; of a loop, those that stay the same.
  std::vector<size_t> Constants(const FunctionSite& site,
                                const std::vector<std::vector<bool>>& read) const {
    std::vector<size_t> constants;
    const std::span<const Output> inputs = g_.data_inputs(site.node);
    for (size_t i = 0; i + site.first_arg < inputs.size(); ++i) {
      const NodeId from = inputs[i + site.first_arg].node;
      if (g_.op_name(from) != "Const" || c_.feeds.contains(from) ||
          !g_.control_inputs(from).empty())
        continue;
      const absl::StatusOr<Tensor> value = g_.ConstValue(from);
      if (!value.ok() || value->bytes() > kMaxConstBytes) continue;
      bool is_read = false;
      for (size_t b = 0; b < read.size(); ++b) is_read |= read[b][site.bodies[b]->args[i]];
      if (is_read && (!site.loop || GivesBack(*site.bodies[1], i))) constants.push_back(i);
    }
    return constants;
  }

  // All but results read constants instead of these arguments.
  void PushInto(FunctionGraph& body, const std::vector<bool>& read, const FunctionSite& site,
                const std::vector<size_t>& constants) {
    Graph& b = body.graph;
    const NodeId end = b.num_node_ids();
    std::vector<NodeId> instead(end, kNoNode);
    for (const size_t i : constants) {
      const NodeId arg = body.args[i], from = g_.data_inputs(site.node)[i + site.first_arg].node;
      if (!read[arg]) continue;
      const absl::StatusOr<NodeId> constant = b.AddNode(
          b.UniqueName(absl::StrCat(b.name(arg), "/value")), "Const", {}, OpAttrs(g_, from));
      if (constant.ok()) instead[arg] = *constant;
    }
    const absl::flat_hash_set<NodeId> results(body.results.begin(), body.results.end());
    for (NodeId n = 0; n < end; ++n) {
      if (!b.alive(n) || results.contains(n)) continue;
      for (int i = 0; i < b.num_inputs(n); ++i) {
        const NodeId constant = instead[b.data_inputs(n)[i].node];
        if (constant != kNoNode) b.SetInput(n, i, {constant, 0});
      }
    }
  }

  // --- The node.

  void Rewrite(const FunctionSite& site, const std::vector<bool>& args,
               const std::vector<bool>& results) {
    const NodeId n = site.node;
    std::vector<Output> data, lost, control;
    std::vector<DataType> arg_types, result_types;
    for (size_t i = 0; i < g_.data_inputs(n).size(); ++i) {
      const Output from = g_.data_inputs(n)[i];
      if (i < site.first_arg) {
        data.push_back(from);
      } else if (args[i - site.first_arg]) {
        data.push_back(from);
        arg_types.push_back(g_.input_type(n, static_cast<int>(i)));
      } else if (!IsHarmless(from.node) && usage_.ComputesUnreadArg(site, i - site.first_arg)) {
        lost.push_back({from.node, kControlPort});
      }
    }
    // It waits for what it does not read any more, once, and for what it waited for.
    absl::flat_hash_set<NodeId> sources;
    for (const Output& from : data) sources.insert(from.node);
    std::erase_if(lost, [&](const Output& from) { return sources.contains(from.node); });
    absl::flat_hash_set<NodeId> awaited;
    for (const std::span<const Output> list :
         {std::span<const Output>(lost), g_.control_inputs(n)}) {
      for (const Output& from : list) {
        if (awaited.insert(from.node).second) control.push_back(from);
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) result_types.push_back(g_.output_type({n, static_cast<int32_t>(i)}));
    }
    NewAttrs attrs = Attrs(site, arg_types, result_types, results);
    g_.SetKind(n, site.attrs.empty() ? CallOf(site) : std::string(g_.op_name(n)), std::move(attrs));
    g_.SetInputs(n, data, control);
    MoveUses(n, results);
  }

  // What a call by the function's name becomes.
  static std::string CallOf(const FunctionSite& site) {
    return site.bodies[0]->effects.empty() ? "PartitionedCall" : "StatefulPartitionedCall";
  }

  // What is always there and cannot fail need not be waited for.
  bool IsHarmless(NodeId n) const {
    const std::string_view op = g_.op_name(n);
    return c_.feeds.contains(n) ||
           ((op == "Const" || op == "VarHandleOp") && g_.control_inputs(n).empty());
  }

  NewAttrs Attrs(const FunctionSite& site, const std::vector<DataType>& args,
                 const std::vector<DataType>& results_left, const std::vector<bool>& results) {
    NewAttrs attrs;
    for (const Attr& a : g_.attrs(site.node).all()) {
      if (a.name == "Tin" || a.name == "T") {
        attrs.push_back({a.name, attr::TypeList(args)});
      } else if (a.name == "Tout") {
        attrs.push_back({a.name, attr::TypeList(results_left)});
      } else if (a.name == "output_shapes") {
        attrs.push_back({a.name, ShapesLeft(a.value, results)});
      } else if (!NumbersInputsOrOutputs(a.name)) {
        attrs.push_back({a.name, std::string(a.value.wire())});
      }
    }
    size_t next_body = 0;
    if (site.attrs.empty()) {
      std::string wire;
      WireWriter(&wire).Bytes(kAttrFunc, Callee(site, 0));
      attrs.insert(attrs.end(), {{"f", std::move(wire)},
                                 {"Tin", attr::TypeList(args)},
                                 {"Tout", attr::TypeList(results_left)}});
    }
    for (const std::string_view name : site.attrs) {
      std::string wire;
      if (g_.attr(site.node, name)->kind() == AttrKind::kFunc) {
        WireWriter(&wire).Bytes(kAttrFunc, Callee(site, next_body++));
      } else {
        std::string list;
        for (; next_body < site.bodies.size(); ++next_body)
          WireWriter(&list).Bytes(kListFunc, Callee(site, next_body));
        WireWriter(&wire).Bytes(kAttrList, list);
      }
      PutAttr(attrs, name, std::move(wire));
    }
    return attrs;
  }

  static std::string ShapesLeft(const AttrValue& value, const std::vector<bool>& results) {
    const absl::StatusOr<std::vector<PartialShape>> shapes = value.AsShapeList();
    std::vector<PartialShape> left;
    if (!shapes.ok() || shapes->size() != results.size()) return attr::ShapeList(left);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) left.push_back((*shapes)[i]);
    }
    return attr::ShapeList(left);
  }

  // What the node says of function i, with the name of what its body becomes.
  std::string Callee(const FunctionSite& site, size_t i) {
    std::string out;
    WireWriter(&out).Bytes(kFuncName, NameOf(site, i));
    WireReader reader(site.functions[i].attrs_wire);
    WireField f;
    while (reader.Next(&f)) {
      if (f.number != kFuncName) out.append(f.raw);
    }
    return out;
  }

  // Of the function that a body becomes: the same for the same content on the same device, for
  // which the body will be optimized, whatever was made before.
  std::string NameOf(const FunctionSite& site, size_t i) {
    std::string_view base = site.functions[i].name;
    if (const size_t mark = base.rfind(kMark); mark != base.npos) base = base.substr(0, mark);
    const std::string content = site.bodies[i]->Wire(base);
    const uint32_t sum = ExtendCrc32c(ExtendCrc32c(0, content), g_.device(site.node));
    // Checksums may collide, and the library may have a function of this name: a number is added
    // then.
    for (int number = 0;; ++number) {
      std::string name = absl::StrCat(base, kMark, absl::Hex(sum, absl::kZeroPad8));
      if (number > 0) absl::StrAppend(&name, "_", number);
      std::string wire = site.bodies[i]->Wire(name);
      const FunctionEntry* there = g_.FindFunction(name);
      if (there != nullptr && there->wire == wire) return name;
      const auto made = wires_.find(name);
      if (made != wires_.end() && made->second == wire) return name;
      if (there != nullptr || made != wires_.end()) continue;
      new_bytes_ += wire.size();
      wires_.emplace(name, std::move(wire));
      return name;
    }
  }

  // Outputs that are left move up.
  void MoveUses(NodeId n, const std::vector<bool>& results) {
    rewritten_.insert(n);
    if (std::find(results.begin(), results.end(), false) == results.end()) return;
    std::vector<int32_t> place(results.size(), 0);
    for (size_t i = 1; i < results.size(); ++i) place[i] = place[i - 1] + (results[i - 1] ? 1 : 0);
    absl::flat_hash_set<NodeId> moved;  // of users that have been rewritten: other inputs since
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      if (use.port == kControlPort) continue;
      if (!rewritten_.contains(use.node)) {
        g_.SetInput(use.node, use.input, {n, place[use.port]});
        continue;
      }
      if (!moved.insert(use.node).second) continue;
      for (int i = 0; i < g_.num_inputs(use.node); ++i) {
        const Output in = g_.data_inputs(use.node)[i];
        if (in.node == n) g_.SetInput(use.node, i, {n, place[in.port]});
      }
    }
  }

  PassContext& c_;
  Graph& g_;
  const Fanouts fanouts_;
  const std::shared_ptr<SharedFunctions> functions_ = SharedFunctions::Of(g_);  // as they were
  absl::flat_hash_map<std::string_view, std::unique_ptr<const FunctionGraph>> bodies_;  // by name
  std::map<std::string, std::string> wires_;  // of the functions that were made, by name
  size_t new_bytes_ = 0;
  absl::flat_hash_set<NodeId> rewritten_;
  const SiteUsage usage_{c_, fanouts_, InferShapes(c_), rewritten_};
};

class FunctionSpecialization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    return {kMergeArguments, kPushConstants, kRemoveUnused};
  }
  absl::StatusOr<bool> Run(PassContext& context) override {
    return HasFunctions(context.graph) && Specializer(context).Run();
  }
};

}  // namespace

std::unique_ptr<Pass> MakeFunctionSpecialization() {
  return std::make_unique<FunctionSpecialization>();
}

}  // namespace tenon
