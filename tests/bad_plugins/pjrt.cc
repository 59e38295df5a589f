// Plug-ins with GetPjrtApi and nothing else, each with one fault in its table or its client.
#include <cstring>
#include <stdexcept>

#include "tenon/pjrt/abi.h"

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
