// The functions on TF_KernelBuilder, by which plug-ins register kernels.
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/host/loading/plugin_ledger.h"
#include "plugin/kernels/kernel_def_wire.h"
#include "tensorflow/c/kernels.h"

// A registered builder lives as long as its KernelDef, and deleting it does nothing: TensorFlow's
// own tests do that.
struct TF_KernelBuilder {
  std::shared_ptr<tenon::KernelDef> def = std::make_shared<tenon::KernelDef>();
  bool registered() const { return def == nullptr; }
};

namespace tenon {
namespace {

std::string Text(const char* s) { return s == nullptr ? "" : s; }

TF_KernelBuilder* NewBuilder(const char* op_name, const char* device_name, PluginKernelFns fns) {
  auto* builder = new TF_KernelBuilder;
  builder->def->op = Text(op_name);
  builder->def->device_type = Text(device_name);
  builder->def->fns = fns;
  return builder;
}

// Whether TensorFlow takes the type as a constraint; it refuses references and its newest types.
bool CanConstrain(TF_DataType type) {
  return IsKnownDataType(type) && !IsRef(DataTypeFromC(type)) && type < TF_FLOAT8_E5M2;
}

// Whether a function without a status may add to the builder.
bool IsOpen(const TF_KernelBuilder* builder) {
  return builder != nullptr && !builder->registered();
}

absl::Status RegisteredError() {
  return absl::FailedPreconditionError("this kernel builder is registered already");
}

absl::Status Register(const char* kernel_name, TF_KernelBuilder* builder) {
  if (builder->registered()) return RegisteredError();
  // From here on the builder belongs to the definition, also when the registration fails.
  std::shared_ptr<KernelDef> def = std::move(builder->def);
  def->builder = std::shared_ptr<TF_KernelBuilder>(builder);
  def->class_name = Text(kernel_name);
  if (def->fns.compute == nullptr && def->fns.compute_async == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the kernel '", def->class_name, "' of op '",
                                                   def->op, "' for ", def->device_type,
                                                   " has no compute function"));
  }
  RegisterKernel(std::move(def));
  return absl::OkStatus();
}

// Ends a registration: writes the status, and notes a failure for the plug-in's warnings.
void Answer(const char* kernel_name, const absl::Status& registered, TF_Status* status) {
  if (!registered.ok()) NoteRefused(absl::StrCat("kernel '", Text(kernel_name), "'"), registered);
  StatusToC(registered, status);
}

}  // namespace
}  // namespace tenon

extern "C" {

TF_KernelBuilder* TF_NewKernelBuilder(const char* op_name, const char* device_name,
                                      void* (*create_func)(TF_OpKernelConstruction*),
                                      void (*compute_func)(void*, TF_OpKernelContext*),
                                      void (*delete_func)(void*)) try {
  return tenon::NewBuilder(op_name, device_name,
                           {.create = create_func,
                            .compute = compute_func,
                            .compute_async = nullptr,
                            .destroy = delete_func});
} catch (...) {
  return tenon::WithoutMemory();
}

TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*)) try {
  return tenon::NewBuilder(op_name, device_name,
                           {.create = create_func,
                            .compute = nullptr,
                            .compute_async = compute_async_func,
                            .destroy = delete_func});
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder, const char* attr_name,
                                     TF_DataType type, TF_Status* status) try {
  if (!tenon::CanConstrain(type)) {
    return tenon::StatusToC(
        absl::UnimplementedError(absl::StrCat("Unexpected type ", static_cast<int>(type))), status);
  }
  if (!tenon::api::AllGiven({{"kernel_builder", kernel_builder}}, status)) return;
  if (kernel_builder->registered()) return tenon::StatusToC(tenon::RegisteredError(), status);
  kernel_builder->def->constraints.push_back(
      {tenon::Text(attr_name), {tenon::DataTypeFromC(type)}});
  tenon::ClearStatus(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder, const char* arg_name) try {
  if (tenon::IsOpen(kernel_builder))
    kernel_builder->def->host_memory_args.push_back(tenon::Text(arg_name));
} catch (...) {
  tenon::WithoutMemory();
}

void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder, int32_t priority_number) {
  if (tenon::IsOpen(kernel_builder)) kernel_builder->def->priority = priority_number;
}

void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder, const char* label) try {
  if (tenon::IsOpen(kernel_builder)) kernel_builder->def->label = tenon::Text(label);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_RegisterKernelBuilder(const char* kernel_name, TF_KernelBuilder* builder,
                              TF_Status* status) try {
  if (!tenon::api::AllGiven({{"builder", builder}}, status)) return;
  tenon::Answer(kernel_name, tenon::Register(kernel_name, builder), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def, const char* name,
                                           TF_KernelBuilder* builder, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"builder", builder}}, status)) return;
  if (serialized_kernel_def == nullptr) return TF_RegisterKernelBuilder(name, builder, status);
  absl::StatusOr<tenon::KernelDef> parsed = tenon::KernelDefFromWire(serialized_kernel_def);
  if (!parsed.ok()) {
    TF_DeleteKernelBuilder(builder);
    return tenon::Answer(name, parsed.status(), status);
  }
  // The bytes replace all that the builder was told, but for its functions.
  if (!builder->registered()) {
    parsed->fns = builder->def->fns;
    *builder->def = *std::move(parsed);
  }
  TF_RegisterKernelBuilder(name, builder, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_DeleteKernelBuilder(TF_KernelBuilder* builder) {
  if (tenon::IsOpen(builder)) delete builder;
}

}  // extern "C"
