// Loads a plug-in in a child process and tells what became of it.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "executor/values/json.h"

namespace tenon::cli {

struct PluginProbe {
  enum class End : uint8_t { kAnswered, kCrashed, kHung };
  End end = End::kAnswered;
  // What the child found out, if it lived to tell: "status", "device_type", "platform", "devices",
  // "structs", "ops", "kernels", "pass", "profiler", "warnings", "doubts".
  std::optional<Json> facts;
  std::string death;   // how it ended otherwise: its own last line, or the signal
  std::string output;  // what it wrote to stdout and stderr, at most 64 KiB of it
};

// The child has its own process group, no core dumps, nothing on its standard input and
// `timeout_s` seconds; whatever it started ends with it. The caller must have no other thread.
// RESOURCE_EXHAUSTED where the system has no more processes.
absl::StatusOr<PluginProbe> ProbePlugin(const std::string& path, double timeout_s);

}  // namespace tenon::cli
