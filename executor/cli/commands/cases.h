// --cases: runs cases one after the other in one session and compares their results.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// Initializes the session and runs the cases of the file flags.cases, a JSON array with an object
// for each case. Its keys are:
//   "signature"     optional: a signature of the SavedModel; without it, that of --signature or
//                   else the default one;
//   "feeds"         maps each NAME to the .npy file of its value;
//   "fetches"       maps each NAME to the .npy file of the expected value;
//   "rtol", "atol"  optional: numbers; flags of the command line win over them.
// Paths are relative to the folder of the file of cases. Each case also runs the results of its
// signature that have no value. Afterwards bench.signature is that of the last case that was run.
//
// --time-passes has no effect.
//
// kUsage: flags name feeds or fetches too, or ask for --report or --save-optimized. kInvalidInput:
// the file is malformed, cannot be read or has more than 256 MiB; a malformed case is found only
// when its turn comes. A case that differs ends nothing: the next ones run, and at the end the
// error of the first one that differs is returned, with kMismatch. An interruption ends the runs
// after the case in which it came; then the error is that of EndOfInterrupted, even if a case
// differs. Any other error ends the runs, as the state for the next case is not known then. The
// document and text have the cases that ended before.
absl::Status RunCases(Workbench& bench, const RequestFlags& flags, Invocation& invocation);

}  // namespace tenon::cli
