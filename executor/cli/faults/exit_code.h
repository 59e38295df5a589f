// The exit codes of the process, and how a status carries one.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tenon::cli {

// Scripts rely on the values.
enum class Exit : int {
  kOk = 0,
  kRunFailed = 1,
  kUsage = 2,
  kMismatch = 3,
  kInvalidInput = 4,
  kPluginFault = 5,
  kTimeout = 6,
  kInterrupted = 130,  // as shells report a process that SIGINT ended
};

// The same status with an exit code attached, in place of an earlier one. OK stays OK.
absl::Status WithExit(Exit exit, absl::Status status);
// The same status, marked as printed: its text, or more than its text, is on stderr already.
absl::Status AlreadyPrinted(absl::Status status);
// Whether AlreadyPrinted marked the status.
bool WasPrinted(const absl::Status& status);

// INVALID_ARGUMENT with exit code kUsage.
absl::Status UsageError(std::string_view message);

// The attached code. Without one: kInvalidInput for an error that InvalidGraph has marked
// (graph/base/invalid_graph.h; import marks none), kTimeout for DEADLINE_EXCEEDED, kRunFailed for
// other errors, kOk for OK.
Exit ExitOf(const absl::Status& status);

}  // namespace tenon::cli
