// The functions of the C interface that open libraries. A handle is a list of ops and no hold on
// the library: deleting it unloads nothing, as in TensorFlow.
#include <string>

#include "absl/strings/string_view.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/op_defs/op_registry.h"
#include "graph/wire/wire.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/loader.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"

struct TF_Library {
  using Pool = tenon::Handles<TF_Library>;
  std::string op_list;  // serialized
};

namespace tenon {
namespace {

std::string OpListWire(const std::vector<std::string>& names) {
  std::string wire;
  WireWriter writer(&wire);
  for (const std::string& name : names) {
    if (const OpDef* op = OpRegistry::Global().Find(name)) writer.Bytes(1, OpDefToWire(*op));
  }
  return wire;
}

TF_Library* NewLibrary(const absl::StatusOr<std::vector<std::string>>& ops, TF_Status* status) {
  StatusToC(ops.status(), status);
  return ops.ok() ? TF_Library::Pool::New(OpListWire(*ops)) : nullptr;
}

}  // namespace
}  // namespace tenon

extern "C" {

TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) try {
  return tenon::NewLibrary(
      tenon::LoadOpLibrary(std::string(absl::NullSafeStringView(library_filename))), status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Buffer TF_GetOpList(TF_Library* lib_handle) {
  if (!tenon::IsThere(lib_handle)) return {};
  return {lib_handle->op_list.data(), lib_handle->op_list.size(), nullptr};
}

void TF_DeleteLibraryHandle(TF_Library* lib_handle) { tenon::DeleteHandle(lib_handle); }

TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename, TF_Status* status) try {
  const absl::StatusOr<tenon::PluginInfo> info =
      tenon::LoadPlugin(std::string(absl::NullSafeStringView(library_filename)));
  if (!info.ok()) return tenon::NewLibrary(info.status(), status);
  return tenon::NewLibrary(info->ops, status);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle) {
  tenon::DeleteHandle(lib_handle);
}

}  // extern "C"
