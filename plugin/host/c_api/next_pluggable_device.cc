// The functions on the key-value store of a distributed run, which this host does not have: they
// answer UNIMPLEMENTED and name themselves. Those on PJRT stand in pjrt_functions.cc, the others of
// the header in plugin_resources.cc.
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"

namespace tenon {
namespace {

// The symbols must exist, so that plug-ins with both kinds of devices can be loaded.
void Refuse(std::string_view function, TF_Status* status) {
  StatusToC(absl::UnimplementedError(absl::StrCat(function, " is not implemented by this host")),
            status);
}

}  // namespace
}  // namespace tenon

using tenon::Refuse;

extern "C" {

TF_CoordinationServiceAgent* TF_GetCoordinationServiceAgent(TF_OpKernelContext*) { return nullptr; }
bool TF_CoordinationServiceIsInitialized(TF_CoordinationServiceAgent*) { return false; }

void TF_CoordinationServiceInsertKeyValue(const char*, int64_t, const char*, int64_t,
                                          TF_CoordinationServiceAgent*, TF_Status* status) try {
  Refuse("TF_CoordinationServiceInsertKeyValue", status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Buffer* TF_CoordinationServiceGetKeyValue(const char*, int64_t, TF_CoordinationServiceAgent*,
                                             TF_Status* status) try {
  Refuse("TF_CoordinationServiceGetKeyValue", status);
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Buffer* TF_CoordinationServiceGetKeyValueWithTimeout(const char*, int64_t,
                                                        int64_t timeout_seconds,
                                                        TF_CoordinationServiceAgent*,
                                                        TF_Status* status) try {
  if (timeout_seconds > 0) {
    Refuse("TF_CoordinationServiceGetKeyValueWithTimeout", status);
  } else {
    tenon::StatusToC(absl::InvalidArgumentError(
                         absl::StrCat("the timeout must be above 0 s, not ", timeout_seconds)),
                     status);
  }
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Buffer* TF_CoordinationServiceTryGetKeyValue(const char*, int64_t, TF_CoordinationServiceAgent*,
                                                TF_Status* status) try {
  Refuse("TF_CoordinationServiceTryGetKeyValue", status);
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_CoordinationServiceDeleteKeyValue(const char*, int64_t, TF_CoordinationServiceAgent*,
                                          TF_Status* status) try {
  Refuse("TF_CoordinationServiceDeleteKeyValue", status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
