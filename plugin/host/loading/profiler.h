// TF_InitProfiler from the host's side: the profiler of a plug-in, validated and kept for runs that
// are profiled.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"

namespace tenon {

// The structs that a plug-in filled in TF_InitProfiler, copied by value. Immutable. PluginLedger
// and each ProfilerSession share it. The destructor calls the plug-in's two destroy functions, so
// the plug-in's library must stay mapped until then. What they throw becomes a warning.
class PluginProfiler {
 public:
  // Calls `init`, the plug-in's TF_InitProfiler, with preset structs, and validates what it filled
  // in, with TensorFlow's messages. `plugin` is the path of the plug-in. Registers nothing. Errors:
  // - The plug-in's own status, if it is an error.
  // - INTERNAL for an exception.
  // - FAILED_PRECONDITION for a struct size of 0, a bad name of the device type, or a member that
  //   is not set. The two destroy functions must be set; those that are set are called even then.
  static absl::StatusOr<std::shared_ptr<PluginProfiler>> Init(
      void (*init)(TF_ProfilerRegistrationParams*, TF_Status*), std::string plugin);
  ~PluginProfiler();
  PluginProfiler(const PluginProfiler&) = delete;
  PluginProfiler& operator=(const PluginProfiler&) = delete;

  // Accessors are thread-safe. The callbacks behind profiler() and fns() have no lock here; the
  // pointer and the reference are valid while this object lives.
  const std::string& plugin() const { return plugin_; }  // path
  std::string device_type() const { return profiler_.device_type; }
  const TP_Profiler* profiler() const { return &profiler_; }
  const TP_ProfilerFns& fns() const { return fns_; }

 private:
  PluginProfiler() = default;
  std::string plugin_;
  TP_Profiler profiler_{};
  TP_ProfilerFns fns_{};
  void (*destroy_profiler_)(TP_Profiler*) = nullptr;
  void (*destroy_profiler_fns_)(TP_ProfilerFns*) = nullptr;
};

}  // namespace tenon
