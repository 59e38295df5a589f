// Loads a plug-in in a child process and reports what happened.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "executor/values/json.h"

namespace tenon::cli {

// The findings about one plug-in.
struct PluginProbe {
  // How the child ended.
  //   kAnswered  it wrote `facts`, whether or not the plug-in loaded.
  //   kCrashed   it ended without them.
  //   kHung      it did not write them, and did not end in time or was ended by its own watchdog.
  enum class End : uint8_t { kAnswered, kCrashed, kHung };
  End end = End::kAnswered;
  // The facts that the child found, with kAnswered: "status", "device_type", "devices", "structs",
  // "ops", "kernels", "pass", "profiler", "warnings", "doubts", "kind"; of a plug-in with PJRT
  // devices also "pjrt" (PjrtJson), and of one with TFNPD_InitPlugin "next_pluggable"
  // (NextPluggableJson).
  std::optional<Json> facts;
  // Otherwise how it ended: its own last line, the signal, the exit code, or in words that it did
  // not end in time or wrote something other than its facts.
  std::string death;
  std::string output;  // its stdout and stderr, the first 64 KiB
};

// Loads the plug-in of the file `path` in a child process and waits for it, at most `timeout_s`
// seconds and three more. The caller must have loaded no plug-in, and must have no other thread,
// since a fork copies only the calling thread. The child has a process group of its own, which ends
// with it, no core dumps, and an empty standard input. A plug-in that fails is a result. A PJRT
// client, which may take a device's memory, is made only if `clients` is true.
// RESOURCE_EXHAUSTED: the system has no more processes or pipes.
absl::StatusOr<PluginProbe> ProbePlugin(const std::string& path, double timeout_s, bool clients);

}  // namespace tenon::cli
