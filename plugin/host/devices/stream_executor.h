// SE_InitPlugin from the host's side: a plug-in's platform, its tables of functions, and the
// devices that it counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/c_api/struct_size.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// What a plug-in brought in SE_InitPlugin, copied by value: callbacks get the addresses of these
// copies. Destroys everything in TensorFlow's order at its end: device_fns, stream_executor,
// timer_fns, platform, platform_fns.
class StreamExecutorPlatform {
 public:
  ~StreamExecutorPlatform();
  StreamExecutorPlatform(const StreamExecutorPlatform&) = delete;
  StreamExecutorPlatform& operator=(const StreamExecutorPlatform&) = delete;

  const std::string& plugin() const { return plugin_; }  // path
  const std::string& name() const { return name_; }      // platform.name
  const std::string& type() const { return type_; }      // platform.type, or what ServeAs said
  void ServeAs(std::string type) { type_ = std::move(type); }  // before there are devices

  const SP_Platform* platform() const { return &platform_.value; }
  const SP_PlatformFns& platform_fns() const { return platform_fns_.value; }
  const SP_DeviceFns& device_fns() const { return device_fns_.value; }
  const SP_StreamExecutor& se() const { return se_.value; }
  // The plug-in's own table where se() is one that watches it; else null.
  const SP_StreamExecutor* unwatched_se() const { return unwatched_se_.get(); }

  // get_device_count: 0 when it is missing, negative or fails; `why` (may be null) then gets the
  // reason.
  int DeviceCount(std::string* why) const;

 private:
  friend absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStreamExecutorPlugin(
      void (*init)(SE_PlatformRegistrationParams*, TF_Status*), std::string plugin);

  StreamExecutorPlatform() = default;
  absl::Status Init(void (*init)(SE_PlatformRegistrationParams*, TF_Status*));
  absl::Status CreateDeviceFns();
  absl::Status CreateStreamExecutor();

  std::string plugin_, name_, type_;
  Roomy<SP_Platform> platform_;
  Roomy<SP_PlatformFns> platform_fns_;
  Roomy<SP_DeviceFns> device_fns_;
  Roomy<SP_StreamExecutor> se_;
  std::unique_ptr<SP_StreamExecutor> unwatched_se_;
  void (*destroy_platform_)(SP_Platform*) = nullptr;
  void (*destroy_platform_fns_)(SP_PlatformFns*) = nullptr;
  bool has_device_fns_ = false;
  bool has_stream_executor_ = false;
};

// Calls SE_InitPlugin, validates what it answers in TensorFlow's order and with its messages, and
// creates the two tables. Registers nothing and creates no device. Errors: the plug-in's own
// status, FAILED_PRECONDITION for a member that must be set, INTERNAL for an exception. What was
// created before a failure is destroyed.
absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStreamExecutorPlugin(
    void (*init)(SE_PlatformRegistrationParams*, TF_Status*), std::string plugin);

}  // namespace tenon
