// --cases: runs cases one after the other in one session and compares their results.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// Initializes the session and runs the cases of flags.cases, a JSON array of objects. "signature"
// is one of a SavedModel; without it, that of --signature or else the default. "feeds" maps each
// NAME to the .npy file of its value, "fetches" each NAME to the .npy file of the expected value.
// Paths are relative to the folder of the file of cases. "rtol" and "atol" are optional; flags of
// the command line win over them. kUsage: flags name feeds or fetches too, or ask for --report or
// --save-optimized. kInvalidInput: the file is malformed; a malformed case is found only when its
// turn comes. A case that differs ends nothing: the next ones run, and at the end the error of the
// first one that differs is returned, with kMismatch. Any other error ends the runs, as the state
// for the next case is not known then. The document and text have the cases that ended before.
absl::Status RunCases(Workbench& bench, const RequestFlags& flags, Invocation& invocation);

}  // namespace tenon::cli
