// The link between tensors of NextPluggableDevices and PJRT: the clients by device type, and the
// buffers behind opaque tensors. All five functions work wherever a plug-in's code runs, also
// within TF_InitKernel.
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/pjrt/named_client.h"
#include "plugin/pjrt/opaque_memory.h"
#include "tensorflow/c/experimental/next_pluggable_device/c_api.h"

namespace tenon {
namespace {

using pjrt::NamedClient;
using pjrt::OpaqueMemory;

absl::Status CreateClientOf(const char* type, const PJRT_NamedValue* values, int count) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<NamedClient> entry,
                         NamedClient::Find(absl::NullSafeStringView(type)));
  TENON_ASSIGN_OR_RETURN(
      const std::vector<pjrt::ClientOption> options,
      pjrt::OptionsOf(reinterpret_cast<const pjrt::abi::NamedValue*>(values), count));
  return entry->Create(options);
}

absl::StatusOr<std::shared_ptr<pjrt::Client>> ClientOf(const char* type) {
  const std::string_view name = absl::NullSafeStringView(type);
  const auto entry = NamedClient::Find(name);
  if (!entry.ok()) {
    return absl::NotFoundError(absl::StrCat("PjRt client not found for device type ", name, ": ",
                                            entry.status().message()));
  }
  return (*entry)->Get();
}

absl::StatusOr<OpaqueMemory*> OpaqueMemoryOf(const TF_Tensor* tensor, std::string_view error) {
  OpaqueMemory* const memory = tensor == nullptr ? nullptr : OpaqueMemory::Of(tensor->buffer);
  if (memory == nullptr) return absl::InternalError(error);
  return memory;
}

absl::StatusOr<PJRT_Buffer*> BufferBehind(const TF_Tensor* tensor) {
  constexpr std::string_view kNone = "Input tensor does not have PjRtBuffer.";
  TENON_ASSIGN_OR_RETURN(const OpaqueMemory* memory, OpaqueMemoryOf(tensor, kNone));
  pjrt::abi::Buffer* const buffer = memory->Get()->get();
  if (buffer == nullptr) return absl::InternalError(kNone);
  return reinterpret_cast<PJRT_Buffer*>(buffer);
}

absl::Status SetBufferBehind(const TF_Tensor* tensor, PJRT_Buffer* buffer, const char* type) {
  if (buffer == nullptr) return absl::InvalidArgumentError("the PJRT buffer is NULL");
  TENON_ASSIGN_OR_RETURN(
      OpaqueMemory* const memory,
      OpaqueMemoryOf(tensor, "the tensor lies in memory, and cannot have a PJRT buffer"));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<pjrt::Client> client, ClientOf(type));
  memory->Set(pjrt::Buffer(std::move(client), reinterpret_cast<pjrt::abi::Buffer*>(buffer)));
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon

using tenon::StatusToC;

extern "C" {

void TF_CreateAndSetPjRtCApiClient(const char* device_type, TF_Status* status,
                                   PJRT_NamedValue* create_options, int num_options) try {
  StatusToC(tenon::CreateClientOf(device_type, create_options, num_options), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_ResetPjRtCClient(const char* device_type, TF_Status* status) try {
  const auto entry = tenon::pjrt::NamedClient::Find(absl::NullSafeStringView(device_type));
  StatusToC(entry.ok() ? (*entry)->Reset() : entry.status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

PJRT_Client* TF_GetPjRtCClient(const char* device_type, TF_Status* status) try {
  const auto client = tenon::ClientOf(device_type);
  StatusToC(client.status(), status);
  return client.ok() ? reinterpret_cast<PJRT_Client*>((*client)->get()) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

PJRT_Buffer* TF_GetPjRtCBuffer(TF_Tensor* c_tensor, TF_Status* status) try {
  const auto buffer = tenon::BufferBehind(c_tensor);
  StatusToC(buffer.status(), status);
  return buffer.ok() ? *buffer : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_CreatePjRtBuffer(TF_Tensor* c_tensor, PJRT_Buffer* c_buffer, const char* device_type,
                         TF_Status* status) try {
  StatusToC(tenon::SetBufferBehind(c_tensor, c_buffer, device_type), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
