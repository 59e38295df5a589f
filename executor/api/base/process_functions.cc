// The functions of c_api.h and c_api_experimental.h that concern the whole process: servers, ports,
// listeners, file systems. This host is no member of a cluster and has files of the system alone.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "graph/c_api/without_memory.h"
#include "plugin/kernels/log_listeners.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"

namespace tenon::api {
namespace {

void RefuseServer(TF_Status* status) {
  StatusToC(absl::UnimplementedError("this host has no servers: all devices are of this process"),
            status);
}

// A port that the system gives out and takes back at once; 0 for none.
int UnusedPort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return 0;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool found = ::bind(socket, plain, size) == 0 && ::getsockname(socket, plain, &size) == 0;
  ::close(socket);
  return found ? ntohs(address.sin_port) : 0;
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) try {
  if (tenon::api::IsBytes("proto", proto, proto_len, status)) tenon::api::RefuseServer(status);
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_ServerStart(TF_Server*, TF_Status* status) try {
  tenon::api::RefuseServer(status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TF_ServerStop(TF_Server*, TF_Status* status) try {
  tenon::api::RefuseServer(status);
} catch (...) {
  tenon::WithoutMemory(status);
}
void TF_ServerJoin(TF_Server*, TF_Status* status) { tenon::api::RefuseServer(status); }
const char* TF_ServerTarget(TF_Server*) { return nullptr; }
void TF_DeleteServer(TF_Server*) {}

TF_Buffer* TFE_GetServerDef(const char* text_proto, TF_Status* status) try {
  if (tenon::api::AllGiven({{"text_proto", text_proto}}, status)) tenon::api::RefuseServer(status);
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_MakeInternalErrorStatus(TF_Status* status, const char* errMsg) try {
  tenon::StatusToC(absl::InternalError(absl::NullSafeStringView(errMsg)), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_InitMain(const char*, int*, char***) {}

int TF_PickUnusedPortOrDie(void) {
  const int port = tenon::api::UnusedPort();
  if (port != 0) return port;
  std::perror("TF_PickUnusedPortOrDie: no port is free");
  std::abort();
}

void TF_RegisterLogListener(void (*listener)(const char*)) try {
  if (listener != nullptr) tenon::AddLogListener(listener);
} catch (...) {
  tenon::WithoutMemory();
}

void TF_RegisterFilesystemPlugin(const char* plugin_filename, TF_Status* status) try {
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
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
