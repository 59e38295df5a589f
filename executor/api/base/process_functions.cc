// The functions of c_api.h that concern the whole process: servers, listeners, file systems. This
// host is no member of a cluster and has files of the system alone.
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "plugin/kernels/log_listeners.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

void RefuseServer(TF_Status* status) {
  StatusToC(absl::UnimplementedError("this host has no servers: all devices are of this process"),
            status);
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) {
  if (tenon::api::IsArray("proto", proto, static_cast<int64_t>(proto_len), status))
    tenon::api::RefuseServer(status);
  return nullptr;
}

void TF_ServerStart(TF_Server*, TF_Status* status) { tenon::api::RefuseServer(status); }
void TF_ServerStop(TF_Server*, TF_Status* status) { tenon::api::RefuseServer(status); }
void TF_ServerJoin(TF_Server*, TF_Status* status) { tenon::api::RefuseServer(status); }
const char* TF_ServerTarget(TF_Server*) { return nullptr; }
void TF_DeleteServer(TF_Server*) {}

void TF_RegisterLogListener(void (*listener)(const char*)) {
  if (listener != nullptr) tenon::AddLogListener(listener);
}

void TF_RegisterFilesystemPlugin(const char* plugin_filename, TF_Status* status) {
  if (!tenon::api::AllGiven({{"plugin_filename", plugin_filename}}, status)) return;
  if (::access(plugin_filename, F_OK) != 0) {
    return tenon::StatusToC(
        absl::NotFoundError(absl::StrCat(
            plugin_filename, ": cannot open shared object file: No such file or directory")),
        status);
  }
  tenon::StatusToC(absl::UnimplementedError(
                       absl::StrCat(plugin_filename, ": this host has no plug-ins for files")),
                   status);
}

}  // extern "C"
