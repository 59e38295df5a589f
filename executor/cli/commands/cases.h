// --cases: runs cases one after the other in one session and compares their results.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

// Initializes the session and runs the cases of flags.cases, a JSON array of objects. "signature"
// is one of a SavedModel (else its default). "feeds" and "fetches" map a NAME to an .npy file,
// relative to the folder of the cases. "rtol" and "atol" are optional; flags of the command line
// win over them. kUsage: flags name feeds or fetches too. kInvalidInput: the file is malformed.
// kMismatch: a case differs; the next ones run all the same. An error ends the runs, as the state
// for the next case is not known then. The document and text have the cases that were run.
absl::Status RunCases(Workbench& bench, const RequestFlags& flags, Invocation& invocation);

}  // namespace tenon::cli
