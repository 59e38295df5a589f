// What the process answers to the shell, and how a status carries it there.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tenon::cli {

enum class Exit : int {
  kOk = 0,
  kRunFailed = 1,
  kUsage = 2,
  kMismatch = 3,
  kInvalidInput = 4,
  kPluginFault = 5,
  kTimeout = 6,
  kInterrupted = 130,  // as a shell says of a process that SIGINT ended
};

// The same status with an exit code attached. OK stays OK.
absl::Status WithExit(Exit exit, absl::Status status);
// The same status, not to be printed again: its text (or more than that) is on stderr already.
absl::Status AlreadyPrinted(absl::Status status);
bool WasPrinted(const absl::Status& status);

// INVALID_ARGUMENT with kUsage.
absl::Status UsageError(std::string_view message);

// The attached code; without one kInvalidInput for graphs that are none, kTimeout for
// DEADLINE_EXCEEDED and kRunFailed for any other error.
Exit ExitOf(const absl::Status& status);

}  // namespace tenon::cli
