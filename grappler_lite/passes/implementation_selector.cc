// Chooses among what does the same in ways that suit one type of device each. Either exporters
// wrote several functions, marked with what they implement and the device that they are for, and a
// call may name any of them; or they wrote a Case with a branch for each device and a DeviceIndex
// that tells which. The call's or Case's own device decides; where it asks for none the device of
// who calls the function whose body it stands in, or else the CPU.
#include "grappler_lite/passes/implementation_selector.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/functions/function_body.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/device_string.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kSelectFunction = {"select_function", Exactness::kToleranced};
constexpr RewriteInfo kSelectBranch = {"select_branch", Exactness::kToleranced};

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
  explicit Selector(PassContext& context) : c_(context) {}

  bool SelectFunctions() {
    if (!functions_->HasImplementations(g_)) return false;
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
    const std::optional<std::string> type = TypeFor(c_, n);
    return type ? functions_->ImplementationFor(g_, function, *type) : std::string_view();
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
    // Attributes of the call's function are values for its own attributes. Another function need
    // not have those.
    if (!function.ok() || !ParseFuncAttrs(*function).all().empty()) return false;
    const std::string_view choice = ChoiceFor(n, function->name);
    if (choice.empty() || !c_.Allow(kSelectFunction.name, n)) return false;
    g_.SetAttr(n, "f", attr::Func(choice));
    return true;
  }

  PassContext& c_;
  Graph& g_ = c_.graph;
  const std::shared_ptr<SharedFunctions> functions_ = SharedFunctions::Of(g_);
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
