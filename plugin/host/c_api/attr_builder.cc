// TF_AttrBuilder of c_api_experimental.h: whether a device has a kernel for an op.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/without_memory.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/c_api_experimental.h"

struct TF_AttrBuilder {
  using Pool = tenon::Handles<TF_AttrBuilder>;
  std::string op;
  std::vector<std::pair<std::string, std::string>> attrs;  // names, and AttrValue bytes
};

namespace tenon {
namespace {

void Set(TF_AttrBuilder* builder, const char* name, std::string wire) {
  if (name != nullptr) builder->attrs.emplace_back(name, std::move(wire));
}

// Sorted by name; of equal names the last counts.
AttrSet AttrsOf(const TF_AttrBuilder& builder) {
  std::vector<Attr> attrs;
  for (const auto& [name, wire] : builder.attrs) {
    std::erase_if(attrs, [&](const Attr& a) { return a.name == name; });
    attrs.push_back({name, AttrValue(wire)});
  }
  std::sort(attrs.begin(), attrs.end(),
            [](const Attr& a, const Attr& b) { return a.name < b.name; });
  return AttrSet(std::move(attrs));
}

absl::Status CheckCanRun(const TF_AttrBuilder& builder, std::string_view device_type) {
  const KernelRegistry& registry = KernelRegistry::Global();
  const OpDef* const def = OpRegistry::Global().Find(builder.op);
  const AttrSet attrs = AttrsOf(builder);
  const std::string stray = registry.StrayConstraintText(builder.op, attrs, def);
  if (!stray.empty()) return absl::InvalidArgumentError(stray);
  // The kernels of a plug-in are for the devices of this plug-in.
  std::vector<std::string_view> plugins = {""};
  const std::vector<std::shared_ptr<const KernelDef>> kernels = registry.List(builder.op);
  for (const auto& kernel : kernels) plugins.push_back(kernel->plugin);
  for (const std::string_view plugin : plugins) {
    const auto found = registry.Find(builder.op, builder.op, attrs, def, device_type, plugin);
    if (found.ok()) return absl::OkStatus();
    if (!absl::IsNotFound(found.status())) return found.status();
  }
  return absl::NotFoundError(
      absl::StrCat("No registered '", builder.op, "' OpKernel for ", device_type,
                   " devices compatible with node {{node ", builder.op,
                   "}}\n\t.  Registered:", registry.RegisteredText(builder.op)));
}

}  // namespace
}  // namespace tenon

using tenon::IsThere;

extern "C" {

TF_AttrBuilder* TF_NewAttrBuilder(const char* op_name) try {
  TF_AttrBuilder* const builder = TF_AttrBuilder::Pool::New();
  builder->op = absl::NullSafeStringView(op_name);
  return builder;
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_DeleteAttrBuilder(TF_AttrBuilder* builder) { tenon::DeleteHandle(builder); }

void TF_AttrBuilderSetType(TF_AttrBuilder* builder, const char* attr_name, TF_DataType value) try {
  if (IsThere(builder))
    tenon::Set(builder, attr_name, tenon::attr::Type(static_cast<tenon::DataType>(value)));
} catch (...) {
  tenon::WithoutMemory();
}

void TF_AttrBuilderSetTypeList(TF_AttrBuilder* builder, const char* attr_name,
                               const TF_DataType* values, int num_values) try {
  if (!IsThere(builder) || !tenon::api::IsArray("values", values, num_values, nullptr)) return;
  std::vector<tenon::DataType> types;
  for (const TF_DataType value : absl::MakeConstSpan(values, num_values))
    types.push_back(static_cast<tenon::DataType>(value));
  tenon::Set(builder, attr_name, tenon::attr::TypeList(types));
} catch (...) {
  tenon::WithoutMemory();
}

void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder* builder, const char* device_type,
                                       TF_Status* status) try {
  if (tenon::api::AllGiven({{"builder", builder}, {"device_type", device_type}}, status))
    tenon::StatusToC(tenon::CheckCanRun(*builder, device_type), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
