// What --trace, --op-table and --memory say about runs.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/options/run_flags.h"
#include "executor/cli/reports/run_watch.h"
#include "executor/session/session.h"

namespace tenon::cli {

// Those reports that the flags ask for, into the invocation's text or document. kPluginFault for
// a profiler that failed, with --plugin-errors=fail.
absl::Status AddRunReports(const Executable& executable, const RunWatch& watch,
                           const TimedFlags& flags, Invocation& invocation);

// The parts. A trace has the events of Chrome's format, which Perfetto opens: a row per thread, a
// span per run, its plan and its steps. Steps on devices with streams span what the host does for
// them: queueing; a row per stream shows their work. Each plane of a plug-in is a process.
absl::Status WriteTrace(const RunWatch& watch, const std::string& path);
// The same as an XSpace, for TensorBoard.
absl::Status WriteXPlane(const RunWatch& watch, const std::string& path);
// `form`: "text" or "csv"; a document has its own.
void AddOpTable(const RunRecorder& recorder, std::string_view form, Invocation& invocation);
void AddMemory(const Executable& executable, Invocation& invocation);

double PeakRssMb();  // of the process so far, in 2^20 bytes

}  // namespace tenon::cli
