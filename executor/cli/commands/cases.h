// --cases: runs of one session, one after the other, with what each should answer.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// Runs the cases of flags.cases, a JSON array of objects: "signature" (of a SavedModel; its
// default else), "feeds" and "fetches" (NAME: .npy file, relative to the cases' folder), and if
// they like "rtol" and "atol". kMismatch if one differs; an error ends the runs, because the state
// of the next is not known then.
absl::Status RunCases(Workbench& bench, const RequestFlags& flags, Invocation& invocation);

}  // namespace tenon::cli
