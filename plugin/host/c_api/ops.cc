// Ops that plug-ins add: TF_OpDefinitionBuilder over OpDefBuilder.
#include "tensorflow/c/ops.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/op_defs/op_def.h"
#include "plugin/host/c_api/plugin_shape_fn.h"
#include "plugin/host/loading/plugin_ledger.h"

// A builder reads each spec when it is added, but the functions that add have no status: the first
// error comes out at registration.
struct TF_OpDefinitionBuilder {
  using Pool = tenon::Handles<TF_OpDefinitionBuilder>;
  explicit TF_OpDefinitionBuilder(const char* name) : op(name) {}
  tenon::OpDefBuilder op;
  absl::Status status;
  bool lacks_memory = false;  // for a part of the op, so that it cannot be registered

  void Update(absl::Status added) {
    if (status.ok()) status = std::move(added);
  }
};

namespace tenon {
namespace {

// The first error among the specs, else that of the definition or of the registry.
absl::Status Register(TF_OpDefinitionBuilder* builder) {
  if (builder->lacks_memory) return OutOfMemory();
  TENON_RETURN_IF_ERROR(builder->status);
  TENON_ASSIGN_OR_RETURN(OpDef op, std::move(builder->op).Finish());
  return RegisterOp(std::move(op));
}

// The plug-in that is being loaded, to name it when its shape function fails later.
std::string CurrentPlugin() {
  return LoadScope::Current() == nullptr ? "" : LoadScope::Current()->path;
}

}  // namespace
}  // namespace tenon

extern "C" {

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name) try {
  return TF_OpDefinitionBuilder::Pool::New(op_name == nullptr ? "" : op_name);
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder) { tenon::DeleteHandle(builder); }

void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"builder", builder}}, status)) return;
  const std::string name = builder->op.def().name;  // registration moves the definition away
  const absl::Status registered = tenon::Register(builder);
  if (!registered.ok()) tenon::NoteRefused(absl::StrCat("op '", name, "'"), registered);
  tenon::StatusToC(registered, status);
  TF_OpDefinitionBuilder::Pool::Delete(builder);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder, const char* attr_spec) try {
  if (tenon::IsThere(builder))
    builder->Update(builder->op.AddAttr(absl::NullSafeStringView(attr_spec)));
} catch (...) {
  tenon::WithoutMemoryFor(builder);
}

void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder, const char* input_spec) try {
  if (tenon::IsThere(builder))
    builder->Update(builder->op.AddInput(absl::NullSafeStringView(input_spec)));
} catch (...) {
  tenon::WithoutMemoryFor(builder);
}

void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder, const char* output_spec) try {
  if (tenon::IsThere(builder))
    builder->Update(builder->op.AddOutput(absl::NullSafeStringView(output_spec)));
} catch (...) {
  tenon::WithoutMemoryFor(builder);
}

void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* builder, bool) {
  if (tenon::IsThere(builder)) builder->op.def().is_commutative = true;
}

void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* builder, bool) {
  if (tenon::IsThere(builder)) builder->op.def().is_aggregate = true;
}

void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* builder, bool) {
  if (tenon::IsThere(builder)) builder->op.def().is_stateful = true;
}

void TF_OpDefinitionBuilderSetAllowsUninitializedInput(TF_OpDefinitionBuilder* builder, bool) {
  if (tenon::IsThere(builder)) builder->op.def().allows_uninitialized_input = true;
}

void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* builder, int version,
                                      const char* explanation) try {
  if (!tenon::IsThere(builder)) return;
  builder->op.def().deprecated_since = version;
  builder->op.def().deprecation = explanation == nullptr ? "" : explanation;
} catch (...) {
  tenon::WithoutMemoryFor(builder);
}

void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext* ctx, TF_Status* status)) try {
  if (!tenon::IsThere(builder) || shape_inference_func == nullptr) return;
  builder->op.def().shape_fn = tenon::PluginShapeFn{shape_inference_func, tenon::CurrentPlugin()};
} catch (...) {
  tenon::WithoutMemoryFor(builder);
}

}  // extern "C"
