// TF_InitProfiler from the host's side: a plug-in's profiler, validated and kept for the sessions
// that trace.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"

namespace tenon {

// What a plug-in registered, copied by value. Its destroy functions are called once, at its end.
class PluginProfiler {
 public:
  // Calls TF_InitProfiler with preset structs and validates what it answers, with TensorFlow's
  // messages. Registers nothing.
  static absl::StatusOr<std::shared_ptr<PluginProfiler>> Init(
      void (*init)(TF_ProfilerRegistrationParams*, TF_Status*), std::string plugin);
  ~PluginProfiler();
  PluginProfiler(const PluginProfiler&) = delete;
  PluginProfiler& operator=(const PluginProfiler&) = delete;

  const std::string& plugin() const { return plugin_; }
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
