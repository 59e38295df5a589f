// The few functions of the host that the APU plug-in calls outside its kernels, and how to open it.
// A program with the real host in it must not link this.
#pragma once

#include <string>
#include <vector>

#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

struct TSL_Status {
  TF_Code code = TF_OK;
  std::string message;
};

struct TF_GrapplerItem {
  std::vector<std::string> preserve;
};

namespace tenon::testing {

// The library, opened and closed with the object; functions resolve when first called.
class ApuLibrary {
 public:
  ApuLibrary();
  ~ApuLibrary();
  ApuLibrary(const ApuLibrary&) = delete;
  ApuLibrary& operator=(const ApuLibrary&) = delete;

  static bool IsLoaded();
  void* Find(const char* symbol) const;
  void Close();

 private:
  void* handle_;
};

// Platform, device and function table, as SE_InitPlugin and create_device fill them in.
struct ApuDevice {
  ApuDevice();
  ~ApuDevice();

  ApuLibrary library;
  TF_Status status;
  SP_Platform platform = {};
  SP_PlatformFns platform_fns = {};
  SE_PlatformRegistrationParams params = {};
  SP_StreamExecutor table = {};
  SP_Device device = {};
};

}  // namespace tenon::testing
