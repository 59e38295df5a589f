// Chooses among what does the same in ways that suit one type of device each. Either exporters
// wrote several functions, marked with what they implement and the device that they are for, and a
// call may name any of them; or they wrote a Case with a branch for each device and a DeviceIndex
// that tells which. The call's or Case's own device decides; where it asks for none the device of
// who calls the function whose body it stands in, or else the CPU.
#include "grappler_lite/implementation_selector.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/device_string.h"
#include "graph/function_body.h"
#include "graph/shared_functions.h"
#include "grappler_lite/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kSelectFunction = {"select_function", Exactness::kToleranced};
constexpr RewriteInfo kSelectBranch = {"select_branch", Exactness::kToleranced};

constexpr std::string_view kImplements = "api_implements";
constexpr std::string_view kPreferredDevice = "api_preferred_device";

struct Implementation {
  std::string what;         // is implemented, with the types of arguments and results
  std::string_view device;  // type
};

std::string_view Text(const AttrSet& attrs, std::string_view name) {
  const AttrValue* value = attrs.Find(name);
  return value == nullptr ? std::string_view() : value->AsString().value_or("");
}

void AppendTypes(const std::vector<ArgDef>& args, std::string& text) {
  for (const ArgDef& arg : args)
    absl::StrAppend(&text, " ", DataTypeName(arg.type), arg.is_ref ? "&" : "", arg.number_attr, "*",
                    arg.type_attr, arg.type_list_attr);
}

// Nothing if the function is marked for no device. Those of a gradient come in pairs, which only go
// together: they are none of these.
std::optional<Implementation> ImplementationBy(const Graph& g, const FunctionEntry& function) {
  if (function.signature == nullptr) return std::nullopt;
  const AttrSet attrs(ParseFunctionBody(g, function).attrs);
  const std::string_view implements = Text(attrs, kImplements);
  const bool in_pair = !Text(attrs, "forward_function_name").empty() ||
                       !Text(attrs, "backward_function_name").empty();
  if (implements.empty() || in_pair) return std::nullopt;
  Implementation implementation{std::string(implements), Text(attrs, kPreferredDevice)};
  AppendTypes(function.signature->inputs, implementation.what);
  absl::StrAppend(&implementation.what, " ->");
  AppendTypes(function.signature->outputs, implementation.what);
  return implementation;
}

// The type of device that n is for; nothing where a device's name makes no sense.
std::optional<std::string> TypeFor(const PassContext& c, NodeId n) {
  for (const std::string_view device : {c.graph.device(n), c.caller_device}) {
    const absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(device);
    if (!request.ok()) return std::nullopt;
    if (!request->type.empty()) return request->type;
  }
  return "CPU";
}

class Selector {
 public:
  explicit Selector(PassContext& context) : c_(context) {
    const std::shared_ptr<SharedFunctions> all = SharedFunctions::Of(g_);
    for (const FunctionEntry* function : all->Implementations()) {
      std::optional<Implementation> i = ImplementationBy(g_, *function);
      if (!i.has_value()) continue;
      functions_.try_emplace({i->what, std::string(i->device)}, function->name);
      implementations_.emplace(function->name, *std::move(i));
    }
  }

  bool SelectFunctions() {
    if (implementations_.empty()) return false;
    bool changed = false;
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n) || c_.feeds.contains(n) || !c_.Visit()) continue;
      changed |= SelectOp(n) || SelectAttribute(n);
    }
    return changed;
  }

 private:
  // The function that shall stand in the place of `function` for n's device; empty: that one.
  std::string_view ChoiceFor(NodeId n, std::string_view function) const {
    const auto now = implementations_.find(function);
    const std::optional<std::string> type = TypeFor(c_, n);
    if (now == implementations_.end() || !type || now->second.device == *type) return {};
    const auto choice = functions_.find({now->second.what, *type});
    return choice == functions_.end() ? std::string_view() : choice->second;
  }

  // A call by the function's name.
  bool SelectOp(NodeId n) {
    const std::string_view choice = ChoiceFor(n, g_.op_name(n));
    if (choice.empty() || !c_.Allow(kSelectFunction.name, n)) return false;
    g_.SetKind(n, choice, AllAttrs(g_, n));
    return true;
  }

  // A PartitionedCall and its like.
  bool SelectAttribute(NodeId n) {
    const AttrValue* f = g_.attr(n, "f");
    if (f == nullptr) return false;
    const absl::StatusOr<FuncAttr> function = f->AsFunc();
    if (!function.ok() || !ParseFuncAttrs(*function).all().empty()) return false;
    const std::string_view choice = ChoiceFor(n, function->name);
    if (choice.empty() || !c_.Allow(kSelectFunction.name, n)) return false;
    g_.SetAttr(n, "f", attr::Func(choice));
    return true;
  }

  PassContext& c_;
  Graph& g_ = c_.graph;
  absl::flat_hash_map<std::string_view, Implementation> implementations_;  // by function
  // By what they implement and device; of several the first.
  absl::flat_hash_map<std::pair<std::string, std::string>, std::string_view> functions_;
};

// A DeviceIndex becomes what it tells the Cases that ask it; for none of its devices, one more
// than there are: the last branch.
bool SelectBranch(PassContext& c, const Fanouts& fanouts, NodeId n) {
  Graph& g = c.graph;
  std::optional<std::string> type;
  for (const Fanouts::Use& use : fanouts.of(n)) {
    if (use.port == kControlPort) continue;
    const std::string_view op = g.op_name(use.node);
    const std::optional<std::string> wanted = TypeFor(c, use.node);
    const bool is_case = (op == "Case" || op == "StatelessCase") && use.input == 0;
    if (!is_case || !wanted || (type && *type != *wanted)) return false;
    type = wanted;
  }
  const AttrValue* names = g.attr(n, "device_names");
  const bool is_fetched = std::any_of(c.fetches.begin(), c.fetches.end(), [&](const Output& f) {
    return f == Output{n, 0};
  });
  if (!type || names == nullptr || is_fetched) return false;
  const absl::StatusOr<std::vector<std::string_view>> list = names->AsStringList();
  if (!list.ok()) return false;
  const auto index =
      static_cast<int32_t>(std::find(list->begin(), list->end(), *type) - list->begin());
  return c.HasConstKernel(n, DataType::kInt32) && c.Allow(kSelectBranch.name, n) &&
         g.MakeConst(n, Tensor::Of<int32_t>(DataType::kInt32, {index}, Shape())).ok();
}

class ImplementationSelector : public Pass {
 public:
  std::string_view name() const override { return "implementation_selector"; }
  std::vector<RewriteInfo> rewrites() const override { return {kSelectFunction, kSelectBranch}; }
  absl::StatusOr<bool> Run(PassContext& context) override {
    const bool branches = SelectBranches(context);
    return Selector(context).SelectFunctions() || branches;
  }
};

}  // namespace

RewriteInfo BranchSelection() { return kSelectBranch; }

bool SelectBranches(PassContext& context) {
  const Graph& g = context.graph;
  std::unique_ptr<Fanouts> fanouts;
  bool changed = false;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n) || g.op_name(n) != "DeviceIndex" || context.feeds.contains(n) ||
        !context.Visit())
      continue;
    if (fanouts == nullptr) fanouts = std::make_unique<Fanouts>(g);
    changed |= SelectBranch(context, *fanouts, n);
  }
  return changed;
}

std::unique_ptr<Pass> MakeImplementationSelector() {
  return std::make_unique<ImplementationSelector>();
}

}  // namespace tenon
