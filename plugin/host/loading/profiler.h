// TF_InitProfiler from the host's side: the profiler of a plug-in, validated and kept for runs that
// are profiled.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"

namespace tenon {

// The structs that a plug-in filled in TF_InitProfiler, copied by value. Constant. The destructor
// calls the plug-in's destroy functions. The plug-in's ledger and each ProfilerSession share it.
class PluginProfiler {
 public:
  // Calls TF_InitProfiler with preset structs and validates its answer, with TensorFlow's messages.
  // Registers nothing. Errors are the plug-in's own status, FAILED_PRECONDITION for a member that
  // must be set, INTERNAL for an exception.
  static absl::StatusOr<std::shared_ptr<PluginProfiler>> Init(
      void (*init)(TF_ProfilerRegistrationParams*, TF_Status*), std::string plugin);
  ~PluginProfiler();
  PluginProfiler(const PluginProfiler&) = delete;
  PluginProfiler& operator=(const PluginProfiler&) = delete;

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
