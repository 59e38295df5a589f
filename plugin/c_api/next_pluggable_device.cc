// The functions that TensorFlow exports for NextPluggableDevice plug-ins. This host has no such
// devices, no PJRT clients and no coordination service: what cannot have a meaning answers
// UNIMPLEMENTED and names itself.
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "graph/c_api/c_api_internal.h"

namespace tenon {
namespace {

void Refuse(std::string_view function, TF_Status* status) {
  StatusToC(absl::UnimplementedError(absl::StrCat(function, " is not implemented by this host")),
            status);
}

void RefuseNull(std::string_view function, const TF_VariableInfo* info, TF_Status* status) {
  if (info != nullptr) return Refuse(function, status);
  StatusToC(absl::InvalidArgumentError("TF_VariableInfo is NULL."), status);
}

}  // namespace
}  // namespace tenon

using tenon::Refuse;

extern "C" {

TF_Device* TF_GetDevice(TF_OpKernelContext*) { return nullptr; }

void TF_CreatePluginResource(TF_OpKernelContext*, const char*, const char*, void*, void (*)(void*),
                             TF_Status* status) {
  Refuse("TF_CreatePluginResource", status);
}

void TF_LookupOrCreatePluginResource(TF_OpKernelContext*, const char*, const char*,
                                     void** result_plugin_resource, void* (*)(void*), void*,
                                     void (*)(void*), TF_Status* status) {
  *result_plugin_resource = nullptr;
  Refuse("TF_LookupOrCreatePluginResource", status);
}

TF_VariableInfo* TF_CreateVariableInfoFromContext(TF_OpKernelContext*, int, TF_Status* status) {
  Refuse("TF_CreateVariableInfoFromContext", status);
  return nullptr;
}

void TF_LockVariableInfos(TF_VariableInfo**, int, TF_Status* status) {
  Refuse("TF_LockVariableInfos", status);
}

void TF_AllocateTempForVariableInfo(TF_OpKernelContext*, TF_VariableInfo* var_info,
                                    TF_Status* status) {
  tenon::RefuseNull("TF_AllocateTempForVariableInfo", var_info, status);
}

TF_Tensor* TF_GetTensorFromVariableInfo(TF_VariableInfo* var_info, TF_Status* status) {
  tenon::RefuseNull("TF_GetTensorFromVariableInfo", var_info, status);
  return nullptr;
}

// None is ever made.
void TF_DeleteVariableInfo(TF_VariableInfo*) {}

TF_CoordinationServiceAgent* TF_GetCoordinationServiceAgent(TF_OpKernelContext*) { return nullptr; }
bool TF_CoordinationServiceIsInitialized(TF_CoordinationServiceAgent*) { return false; }

void TF_CoordinationServiceInsertKeyValue(const char*, int64_t, const char*, int64_t,
                                          TF_CoordinationServiceAgent*, TF_Status* status) {
  Refuse("TF_CoordinationServiceInsertKeyValue", status);
}

TF_Buffer* TF_CoordinationServiceGetKeyValue(const char*, int64_t, TF_CoordinationServiceAgent*,
                                             TF_Status* status) {
  Refuse("TF_CoordinationServiceGetKeyValue", status);
  return nullptr;
}

TF_Buffer* TF_CoordinationServiceGetKeyValueWithTimeout(const char*, int64_t,
                                                        int64_t timeout_seconds,
                                                        TF_CoordinationServiceAgent*,
                                                        TF_Status* status) {
  if (timeout_seconds > 0) {
    Refuse("TF_CoordinationServiceGetKeyValueWithTimeout", status);
  } else {
    tenon::StatusToC(absl::InvalidArgumentError(
                         absl::StrCat("the timeout must be above 0 s, not ", timeout_seconds)),
                     status);
  }
  return nullptr;
}

TF_Buffer* TF_CoordinationServiceTryGetKeyValue(const char*, int64_t, TF_CoordinationServiceAgent*,
                                                TF_Status* status) {
  Refuse("TF_CoordinationServiceTryGetKeyValue", status);
  return nullptr;
}

void TF_CoordinationServiceDeleteKeyValue(const char*, int64_t, TF_CoordinationServiceAgent*,
                                          TF_Status* status) {
  Refuse("TF_CoordinationServiceDeleteKeyValue", status);
}

void TF_CreateAndSetPjRtCApiClient(const char*, TF_Status* status, PJRT_NamedValue*, int) {
  Refuse("TF_CreateAndSetPjRtCApiClient", status);
}

void TF_ResetPjRtCClient(const char*, TF_Status* status) { Refuse("TF_ResetPjRtCClient", status); }

PJRT_Client* TF_GetPjRtCClient(const char*, TF_Status* status) {
  Refuse("TF_GetPjRtCClient", status);
  return nullptr;
}

PJRT_Buffer* TF_GetPjRtCBuffer(TF_Tensor*, TF_Status* status) {
  Refuse("TF_GetPjRtCBuffer", status);
  return nullptr;
}

void TF_CreatePjRtBuffer(TF_Tensor*, PJRT_Buffer*, const char*, TF_Status* status) {
  Refuse("TF_CreatePjRtBuffer", status);
}

}  // extern "C"
