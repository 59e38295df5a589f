// The functions of eager/c_api.h on the functions of a context.
#include <climits>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/eager/context.h"
#include "executor/api/graph/tf_function.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

absl::Status AddFunction(TFE_Context* shell, const char* wire, size_t size,
                         Function::Known known = Function::Known::kNothing) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  if (wire == nullptr || size > INT_MAX)
    return absl::InvalidArgumentError("Invalid FunctionDef proto");
  return context->functions().Add({wire, size}, known);
}

absl::Status RemoveFunction(TFE_Context* shell, const char* name) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  TENON_ASSIGN_OR_RETURN(const bool gone, context->functions().Remove(name == nullptr ? "" : name));
  // Ops such as PartitionedCall may have planned it.
  if (gone) context->ops().ClearCallablesWithFunctions();
  return absl::OkStatus();
}

// `what` is sought, in the words of the error.
absl::StatusOr<std::shared_ptr<Function>> FindFunction(TFE_Context* shell, const char* name,
                                                       std::string_view what = "FunctionDef") {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  std::shared_ptr<Function> function = context->functions().Find(name == nullptr ? "" : name);
  if (function != nullptr) return function;
  return absl::NotFoundError(
      absl::StrCat("Unable to find ", what, " with name: ", name == nullptr ? "" : name));
}

absl::Status ExportFunction(TFE_Context* shell, const char* name, TF_Buffer* buffer) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<Function> function, FindFunction(shell, name));
  if (buffer == nullptr) return absl::InvalidArgumentError("Invalid buffer");
  return FillBuffer(function->wire, buffer);
}

// A FunctionDef does not say where in a program its nodes were made.
absl::Status ExportDebugInfo(TFE_Context* shell, const char* name, TF_Buffer* buffer) {
  TENON_RETURN_IF_ERROR(FindFunction(shell, name).status());
  if (buffer == nullptr) return absl::InvalidArgumentError("Invalid buffer");
  return FillBuffer("", buffer);
}

}  // namespace
}  // namespace tenon::eager

using tenon::StatusToC;

extern "C" {

void TFE_ContextAddFunctionDef(TFE_Context* ctx, const char* serialized_function_def, size_t size,
                               TF_Status* status) try {
  StatusToC(tenon::eager::AddFunction(ctx, serialized_function_def, size), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function, TF_Status* status) try {
  if (function == nullptr) return StatusToC(absl::InvalidArgumentError("Invalid function"), status);
  if (!tenon::api::AllGiven({{"function", function}}, status)) return;
  using Known = tenon::eager::Function::Known;
  StatusToC(tenon::eager::AddFunction(ctx, function->wire.data(), function->wire.size(),
                                      function->is_sound ? Known::kSound : Known::kParses),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Function* TFE_ContextGetFunction(TFE_Context* ctx, const char* name, TF_Status* status) try {
  const auto function = tenon::eager::FindFunction(ctx, name, "Function");
  StatusToC(function.status(), status);
  return function.ok() ? TF_Function::Pool::New((*function)->signature.name, (*function)->wire)
                       : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name, TF_Status* status) try {
  StatusToC(tenon::eager::RemoveFunction(ctx, name), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name) try {
  tenon::eager::Context* const context = tenon::eager::ContextIfThere(ctx);
  const bool has =
      context != nullptr && name != nullptr && context->functions().Find(name) != nullptr;
  return has ? 1 : 0;
} catch (...) {
  return tenon::WithoutMemory();
}

void TFE_ContextGetFunctionDef(TFE_Context* ctx, const char* function_name, TF_Buffer* buf,
                               TF_Status* status) try {
  StatusToC(tenon::eager::ExportFunction(ctx, function_name, buf), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_ContextGetGraphDebugInfo(TFE_Context* ctx, const char* function_name, TF_Buffer* buf,
                                  TF_Status* status) try {
  StatusToC(tenon::eager::ExportDebugInfo(ctx, function_name, buf), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
