// Opens plug-ins and publishes what they register.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device.h"

namespace tenon {

class PluginOptimizerFns;  // optimizer_api/plugin_optimizer.h

// What one plug-in brought; for `graph_run devices`.
struct PluginInfo {
  std::string path;                        // canonical
  absl::Status status;                     // why it did not load
  std::vector<std::string> entry_points;   // those it exports, in call order
  std::string device_type;                 // of SE_InitPlugin; empty if none
  std::vector<std::string> ops;
  int kernels = 0;
  bool pass = false;
  bool profiler = false;
  int device_count = 0;
};

// Loads a plug-in: dlopen(RTLD_NOW | RTLD_LOCAL), then SE_InitPlugin, TF_InitKernel, TF_InitGraph, TF_InitProfiler in this order, all
// optional. Everything is staged and published at once: a plug-in that fails leaves nothing registered. The same canonical path again is
// the same plug-in. NOT_FOUND with the loader's text when the file cannot be opened; else the plug-in's own status. Thread-safe.
absl::StatusOr<PluginInfo> LoadPlugin(const std::string& path);

// Every plug-in that was asked for, also the failed ones.
std::vector<PluginInfo> Plugins();

// The devices of all loaded plug-ins, created at the first call and kept. Errors of a plug-in's device creation are returned.
absl::StatusOr<std::vector<Device*>> PluginDevices();

}  // namespace tenon
