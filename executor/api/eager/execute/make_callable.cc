// As TensorFlow places an op that is executed alone: on the device that it asks for; else where its
// resources are; else on the device that is preferred among those with a kernel.

#include "executor/api/eager/execute/make_callable.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/base/op_text.h"
#include "executor/api/base/session_config.h"
#include "executor/api/eager/call_node.h"
#include "executor/api/eager/execute/host_call.h"
#include "executor/api/eager/execute/plan_call.h"
#include "executor/api/eager/execute/plugin_call.h"
#include "executor/api/eager/execute/switch_call.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::eager {
namespace {

using KernelPtr = std::shared_ptr<const KernelDef>;

// A device that can execute the op.
struct Place {
  Device* device;
  KernelPtr kernel;
};

absl::Status NoSuchDevice(const Context& context, const DeviceName& name,
                          absl::Span<const Place> places) {
  std::set<std::string_view> types;
  for (const Place& place : places) types.insert(place.device->type());
  std::vector<std::string> names;
  for (const Device* device : context.devices()) names.push_back(device->full_name());
  return absl::InvalidArgumentError(absl::StrCat(
      "Could not satisfy device specification '", name.text,
      "'. enable_soft_placement=", context.soft_placement() ? 1 : 0, ". Supported device types [",
      absl::StrJoin(types, ", "), "]. All available devices [", absl::StrJoin(names, ", "), "]."));
}

// With TensorFlow's words: it looks for a kernel before it looks at the attributes.
absl::Status NoKernel(CallNode& node, Inputs inputs) {
  const KernelRegistry& registry = KernelRegistry::Global();
  const std::string& op = node.def->name;
  if (node.def->facts->placeholder) {
    TENON_RETURN_IF_ERROR(node.Resolve());
    return absl::InvalidArgumentError(absl::StrCat("You must feed a value for placeholder tensor '",
                                                   op, "' with dtype ",
                                                   DataTypeSpecName(node.types.outputs[0])));
  }
  const std::string stray = registry.StrayConstraintText(op, node.attrs, node.def);
  if (!stray.empty()) return absl::InvalidArgumentError(stray);
  // Where no type has a kernel, it looks at the whole node before it says so.
  const bool for_no_type = registry.List(op).empty();
  if (for_no_type) TENON_RETURN_IF_ERROR(node.MissingAttrs());
  TENON_RETURN_IF_ERROR(node.Resolve());
  if (for_no_type) TENON_RETURN_IF_ERROR(node.CheckInputs(inputs));
  return absl::NotFoundError(absl::StrCat(
      "Could not find device for node: ", api::NodeText(node.name, *node.def, node.attrs),
      "\nAll kernels registered for op ", op, ":\n", registry.RegisteredText(op)));
}

// All devices with a kernel for the op, the best first: by the priority of the kernel, then by that
// of the device, then in their order.
absl::StatusOr<std::vector<Place>> PlacesFor(const Context& context, const CallNode& node) {
  std::vector<Place> places;
  for (Device* const device : context.devices()) {
    absl::StatusOr<KernelPtr> kernel = KernelRegistry::Global().Find(
        node.name, node.def->name, node.attrs, node.def, device->type(), device->plugin());
    if (kernel.ok()) {
      places.push_back({device, *std::move(kernel)});
    } else if (!absl::IsNotFound(kernel.status())) {
      return kernel.status();
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    const auto rank = [](const Place& p) {
      return std::pair(p.kernel->priority, p.device->priority());
    };
    return rank(a) > rank(b);
  });
  return places;
}

absl::StatusOr<Place> Choose(const Context& context, const TFE_Op& op,
                             absl::Span<const Place> places) {
  const auto first = [&](auto fits) {
    const auto place = std::find_if(places.begin(), places.end(), fits);
    return place == places.end() ? nullptr : &*place;
  };
  if (op.device != nullptr) {
    const Place* const asked =
        first([&](const Place& place) { return Fits(*op.device, *place.device); });
    if (asked != nullptr) return *asked;
    if (!context.soft_placement()) return NoSuchDevice(context, *op.device, places);
  }
  if (Device* const device = DeviceOfResources(op); device != nullptr) {
    const Place* const near = first([&](const Place& place) { return place.device == device; });
    if (near != nullptr) return *near;
  }
  return places[0];
}

// Whether functions are called, which takes a plan, as do the few ops that only plans know.
bool NeedsPlan(const TFE_Op& op, absl::Span<const Place> places) {
  const OpFacts& facts = *op.entry->def->facts;
  return op.entry->is_function || facts.calls != CallKind::kNone ||
         (places.empty() && facts.in_plan && !facts.placeholder);
}

// Checks what a caller says of how a function, or an op that calls one, is executed: a plan needs
// neither, but TensorFlow refuses what it cannot read. INVALID_ARGUMENT for bytes that are no
// ConfigProto, NOT_FOUND for an executor that TensorFlow does not have.
absl::Status CheckCallOptions(const CallNode& node, bool is_function) {
  const auto text = [&](std::string_view name) -> std::string_view {
    const AttrValue* const value = node.attrs.Find(name);
    if (value == nullptr || value->kind() != AttrKind::kString) return {};
    return value->AsString().value_or(std::string_view());
  };
  if (!api::ReadSessionConfig(text("config_proto")).ok()) {
    return absl::InvalidArgumentError(
        is_function ? "Failed to parse config_proto attribute as tensorflow::ConfigProto proto."
                    : "Unable to parse config_proto string as tensorflow::ConfigProto proto.");
  }
  return Annotate(api::CheckExecutorType(text("executor_type")),
                  absl::StrCat("{{function_node ", node.def->name, "}} "));
}

absl::StatusOr<std::shared_ptr<Callable>> MakeAt(Context& context, Place place, CallNode node) {
  Device* const device = place.device->is_host() ? nullptr : place.device;
  if (place.kernel->cpu == nullptr)
    return PluginCall::Make(context, std::move(node), std::move(place.kernel), device);
  // A TensorSummary has its node's name in it, which is the op's where the op is executed alone.
  const bool keeps_state = place.kernel->cpu->stateful || node.def->is_stateful;
  if (keeps_state && node.def->name != "TensorSummary") node.TakeOwnName();
  return HostCall::Make(context, std::move(node), std::move(place.kernel), device);
}

absl::StatusOr<std::shared_ptr<Callable>> MakePlan(Context& context, const TFE_Op& op,
                                                   CallNode node) {
  node.TakeOwnName();
  return PlanCall::Make(context, std::move(node), op.device == nullptr ? "" : op.device->text);
}

}  // namespace

Device* DeviceOfResources(const TFE_Op& op) {
  for (TFE_TensorHandle* const input : op.inputs) {
    if (input->dtype == DataType::kResource) return input->device;
  }
  return nullptr;
}

absl::StatusOr<std::shared_ptr<Callable>> MakeCallable(Context& context, const TFE_Op& op) {
  CallNode node(*op.entry->def, op.attrs);
  std::vector<Place> places;
  if (!op.entry->is_function) {
    TENON_ASSIGN_OR_RETURN(places, PlacesFor(context, node));
  }
  const bool plan = NeedsPlan(op, places);
  if (places.empty() && !plan) return NoKernel(node, op.inputs);
  TENON_RETURN_IF_ERROR(node.Resolve());
  if (op.entry->is_function && node.types.inputs.size() != op.inputs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "InstantiateOptions.input_devices must have the same length as the number of arguments: "
        "input_devices length = ",
        op.inputs.size(), " number of arguments = ", node.types.inputs.size()));
  }
  TENON_RETURN_IF_ERROR(node.CheckInputs(op.inputs));
  if (plan) {
    TENON_RETURN_IF_ERROR(CheckCallOptions(node, op.entry->is_function));
  }
  if (plan) {
    const bool there = op.device == nullptr || FindDevice(*op.device, context.devices()) != nullptr;
    if (!there && !context.soft_placement()) return NoSuchDevice(context, *op.device, places);
    if (IsSwitch(*node.def->facts)) return SwitchCall::Make(node);
    return MakePlan(context, op, std::move(node));
  }
  TENON_ASSIGN_OR_RETURN(Place place, Choose(context, op, places));
  if (context.log_placement()) {
    std::fputs(absl::StrCat("Executing op ", node.def->name, " in device ",
                            place.device->full_name(), "\n")
                   .c_str(),
               stderr);
  }
  return MakeAt(context, std::move(place), std::move(node));
}

}  // namespace tenon::eager
