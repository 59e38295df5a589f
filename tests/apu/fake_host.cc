#include "tests/apu/fake_host.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/paths.h"

#define HOST_FUNCTION extern "C" TF_CAPI_EXPORT

HOST_FUNCTION TF_Status* TF_NewStatus() { return new TF_Status; }
HOST_FUNCTION void TF_DeleteStatus(TF_Status* s) { delete s; }
HOST_FUNCTION TF_Code TF_GetCode(const TF_Status* s) { return s->code; }
HOST_FUNCTION const char* TF_Message(const TF_Status* s) { return s->message.c_str(); }

HOST_FUNCTION void TF_SetStatus(TF_Status* s, TF_Code code, const char* message) {
  s->code = code;
  s->message = message;
}

HOST_FUNCTION void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item, int* num_values,
                                                 size_t* storage_size, TF_Status*) {
  *num_values = static_cast<int>(item->preserve.size());
  *storage_size = 0;
  for (const std::string& name : item->preserve) *storage_size += name.size();
}

HOST_FUNCTION void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values,
                                             size_t* lengths, int num_values, void* storage, size_t,
                                             TF_Status*) {
  char* next = static_cast<char*>(storage);
  for (int i = 0; i < num_values; ++i) {
    const std::string& name = item->preserve[static_cast<size_t>(i)];
    std::memcpy(next, name.data(), name.size());
    values[i] = next;
    lengths[i] = name.size();
    next += name.size();
  }
}

namespace tenon::testing {

ApuLibrary::ApuLibrary()
    : handle_(dlopen(Built("lib/plugins/libapu.so").c_str(), RTLD_LAZY | RTLD_LOCAL)) {
  if (handle_ == nullptr) ADD_FAILURE() << dlerror();
}

ApuLibrary::~ApuLibrary() { Close(); }

bool ApuLibrary::IsLoaded() {
  void* handle = dlopen(Built("lib/plugins/libapu.so").c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

void* ApuLibrary::Find(const char* symbol) const { return dlsym(handle_, symbol); }

void ApuLibrary::Close() {
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = nullptr;
}

ApuDevice::ApuDevice() {
  params.struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.platform = &platform;
  params.platform_fns = &platform_fns;
  reinterpret_cast<decltype(&SE_InitPlugin)>(library.Find("SE_InitPlugin"))(&params, &status);
  SE_CreateStreamExecutorParams executor = {SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE, nullptr,
                                            &table};
  platform_fns.create_stream_executor(&platform, &executor, &status);
  SE_CreateDeviceParams create = {SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE, nullptr, 0, &device};
  platform_fns.create_device(&platform, &create, &status);
  EXPECT_EQ(status.code, TF_OK) << status.message;
}

ApuDevice::~ApuDevice() {
  platform_fns.destroy_device(&platform, &device);
  platform_fns.destroy_stream_executor(&platform, &table);
  params.destroy_platform(&platform);
  params.destroy_platform_fns(&platform_fns);
}

}  // namespace tenon::testing
