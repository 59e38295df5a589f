// SE_InitPlugin from the host's side: a plug-in's platform, the platform's tables of functions, and
// the number of its devices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/c_api/struct_size.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// The structs that a plug-in filled in SE_InitPlugin, copied by value: callbacks get the addresses
// of these copies. Constant after InitStreamExecutorPlugin, but for ServeAs. The destructor calls
// the plug-in's destroy functions in TensorFlow's order: device_fns, stream_executor, timer_fns,
// platform, platform_fns. It does not call the destroy function of a struct that the plug-in did
// not make.
// timer_fns are never made: their destroy function, if there is one and the plug-in made a
// stream_executor, gets an empty struct, as in TensorFlow. The destructor warns of exceptions.
// Devices share the object, and end before it.
class StreamExecutorPlatform {
 public:
  ~StreamExecutorPlatform();
  StreamExecutorPlatform(const StreamExecutorPlatform&) = delete;
  StreamExecutorPlatform& operator=(const StreamExecutorPlatform&) = delete;

  const std::string& plugin() const { return plugin_; }  // path
  const std::string& name() const { return name_; }      // platform.name
  const std::string& type() const { return type_; }      // platform.type, or the name of ServeAs
  // Gives the devices another type name. Call it before there are devices.
  void ServeAs(std::string type) { type_ = std::move(type); }

  const SP_Platform* platform() const { return &platform_.value; }
  const SP_PlatformFns& platform_fns() const { return platform_fns_.value; }
  const SP_DeviceFns& device_fns() const { return device_fns_.value; }
  const SP_StreamExecutor& se() const { return se_.value; }
  // In strict mode se() is a table that checks calls (strict_table.h); this is the plug-in's own
  // then. Else null.
  const SP_StreamExecutor* unwatched_se() const { return unwatched_se_.get(); }

  // Calls get_device_count. Returns 0 if the function is missing, fails, or answers a number that
  // is negative or above 1024; `why`, which may be null, then gets the reason. Else `why` stays.
  int DeviceCount(std::string* why) const;

 private:
  friend absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStreamExecutorPlugin(
      void (*init)(SE_PlatformRegistrationParams*, TF_Status*), std::string plugin);

  StreamExecutorPlatform() = default;
  absl::Status Init(void (*init)(SE_PlatformRegistrationParams*, TF_Status*));
  absl::Status CreateDeviceFns();
  absl::Status CreateStreamExecutor();

  std::string plugin_, name_, type_;
  Padded<SP_Platform> platform_;
  Padded<SP_PlatformFns> platform_fns_;
  Padded<SP_DeviceFns> device_fns_;
  Padded<SP_StreamExecutor> se_;
  std::unique_ptr<SP_StreamExecutor> unwatched_se_;
  void (*destroy_platform_)(SP_Platform*) = nullptr;
  void (*destroy_platform_fns_)(SP_PlatformFns*) = nullptr;
  bool has_device_fns_ = false;
  bool has_stream_executor_ = false;
};

// Calls SE_InitPlugin (`init`), validates its answer in TensorFlow's order and with TensorFlow's
// messages, and creates the tables of device functions and of the stream executor. `plugin` is the
// path, for messages. Registers nothing and creates no device. Destroys on a failure what was
// created; after an error of SE_InitPlugin itself that is nothing. Errors:
//   the plug-in's own status;
//   FAILED_PRECONDITION for a member that must be set, a struct_size of 0, or a name or type that
//   CheckDeviceName refuses;
//   INTERNAL for an exception.
absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStreamExecutorPlugin(
    void (*init)(SE_PlatformRegistrationParams*, TF_Status*), std::string plugin);

}  // namespace tenon
