// Plug-ins with GetPjrtApi, each with one fault in its table or its client. With NEXT also with
// TFNPD_InitPlugin, and the fault is there.
#include <cstring>
#include <stdexcept>

#include "tenon/pjrt/abi.h"
#ifdef NEXT
#include "tensorflow/core/common_runtime/next_pluggable_device/c/plugin_c_api.h"
#endif

namespace abi = tenon::pjrt::abi;

namespace {

// An error is a code; its text is fixed.
struct CodeError {
  int code;
};

abi::Error* Failure(int code) { return reinterpret_cast<abi::Error*>(new CodeError{code}); }

void DestroyError(abi::ErrorDestroyArgs* args) { delete reinterpret_cast<CodeError*>(args->error); }

void GetMessage(abi::ErrorMessageArgs* args) {
  static constexpr char kText[] = "nothing here\nfor " KIND;
  args->message = kText;
  args->message_size = std::strlen(kText);
}

abi::Error* GetCode(abi::ErrorGetCodeArgs* args) {
  args->code = reinterpret_cast<const CodeError*>(args->error)->code;
  return nullptr;
}

abi::Error* Initialize(abi::PluginInitializeArgs* /*args*/) {
#ifdef INITIALIZE_FAILS
  return Failure(13);
#else
  return nullptr;
#endif
}

abi::Error* CreateClient([[maybe_unused]] abi::ClientCreateArgs* args) {
#if defined(CLIENT_THROWS)
  throw std::runtime_error("no chip");
#elif defined(NO_CLIENT)
  args->client = nullptr;
  return nullptr;
#elif defined(NO_HARDWARE)
  return Failure(9);
#else
  return Failure(3);
#endif
}

// For functions that must be there and are never called.
template <typename Args>
abi::Error* Refuse(Args* /*args*/) {
  return Failure(12);
}
template <typename Args>
void Set(abi::Error* (*&member)(Args*)) {
  member = &Refuse<Args>;
}
template <typename Args>
void Set(void (*&/*member*/)(Args*)) {}

abi::Extension second = {sizeof(abi::Extension), 99, nullptr};
abi::Extension first = {sizeof(abi::Extension), 1, &second};

[[maybe_unused]] abi::Api MakeTable() {
  abi::Api api{};
#define SET_MEMBER(Name, member, Args) Set(api.member);
  TENON_PJRT_SLOTS(SET_MEMBER, SET_MEMBER)
  api.struct_size = abi::kStructSize<abi::Api>;
  api.extensions = &first;
  api.version = {abi::kStructSize<abi::Version>, nullptr, 0, 90};
  api.error_destroy = &DestroyError;
  api.error_message = &GetMessage;
  api.error_get_code = &GetCode;
  api.plugin_initialize = &Initialize;
  api.plugin_attributes = nullptr;
  api.client_create = &CreateClient;
#ifdef WRONG_MAJOR
  api.version.major = 7;
#endif
#ifdef SHORT_TABLE
  api.struct_size = 39;
#endif
#ifdef LACKS_COMPILE
  api.client_compile = nullptr;
#endif
#ifdef ENDS_EARLY
  api.struct_size = offsetof(abi::Api, loaded_executable_execute);
#endif
#ifdef EXTENSION_LOOP
  second.next = &first;
#endif
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const abi::Api* GetPjrtApi() {
#ifdef NULL_TABLE
  return nullptr;
#else
  static const abi::Api table = MakeTable();
  return &table;
#endif
}

#ifdef NEXT
namespace {

int32_t CountNextDevices([[maybe_unused]] TF_Status* status) {
#if defined(COUNT_NEGATIVE)
  return -3;
#elif defined(COUNT_FAILS)
  TF_SetStatus(status, TF_INTERNAL, "nobody counts here");
  return 7;
#elif defined(COUNT_THROWS)
  throw std::runtime_error("no counter");
#else
  return 2;
#endif
}

TFNPD_Api next_api;

}  // namespace

extern "C" __attribute__((visibility("default"))) const TFNPD_Api* TFNPD_InitPlugin(
    TFNPD_PluginParams* params, [[maybe_unused]] TF_Status* status) {
#ifdef INIT_FAILS
  TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "from TFNPD_InitPlugin");
#endif
#ifdef NULL_API
  return nullptr;
#endif
  params->device_type = "FAULTY";
#ifdef NO_TYPE
  params->device_type = nullptr;
#endif
  // What the host's struct_size does not reach is read all the same.
  params->use_pjrt_on_demand_compile = params->struct_size == 37;
  params->priority = 1000;
  next_api.struct_size = TFNPD_Api_STRUCT_SIZE;
#ifdef SIZE_ZERO
  next_api.struct_size = 0;
#endif
#ifdef SIZE_SHORT
  next_api.struct_size = offsetof(TFNPD_Api, TFNPD_GetDeviceCount);
#endif
  next_api.TFNPD_GetDeviceCount = CountNextDevices;
  return &next_api;
}
#endif
