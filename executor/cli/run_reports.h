// What --trace, --op-table and --memory say about runs.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/invocation.h"
#include "executor/run_recorder.h"
#include "executor/session.h"

namespace tenon::cli {

// Whether the options want runs recorded.
bool WantsRecorder(const Options& options);

// Those reports that the options ask for, into the invocation's text or document.
absl::Status AddRunReports(const Executable& executable, const RunRecorder& recorder,
                           Invocation& invocation);

// The parts. A trace has the events of Chrome's format, which Perfetto opens: a row per thread, a
// span per run, its plan and its steps. Steps on devices with streams span what the host does for
// them: queueing.
absl::Status WriteTrace(const RunRecorder& recorder, const std::string& path);
void AddOpTable(const RunRecorder& recorder, Invocation& invocation);
void AddMemory(const Executable& executable, Invocation& invocation);

double PeakRssMb();  // of the process so far, in 2^20 bytes

}  // namespace tenon::cli
