// The functions of c_api.h that list the devices of sessions.
#include "executor/api/base/device_list.h"

#include "executor/api/session/tf_deprecated_session.h"
#include "executor/api/session/tf_session.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

TF_DeviceList* DevicesOf(const SessionCore& core) {
  return ListDevices(core.devices(), core.incarnation());
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) try {
  if (!tenon::api::IsSession(session, status)) return nullptr;
  return tenon::api::DevicesOf(session->made->core());
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session,
                                               TF_Status* status) try {
  if (!tenon::api::IsSession(session, status)) return nullptr;
  return tenon::api::DevicesOf(session->made->core());
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
