// Writes the reports of --trace, --op-table and --memory.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/options/run_flags.h"
#include "executor/cli/reports/run_watch.h"
#include "executor/session/session.h"

namespace tenon::cli {

// Writes the reports that the flags ask for into files, or into the invocation's text or document:
// traces, then memory, then the op table. `watch` must be made of `flags`; if it is wanted(), End
// must have been called. With --trace, if a plug-in has a profiler, also sets "profiles" in the
// document. A trace that cannot be written is an error, and the reports after it are left out. A
// profiler that failed is a warning; with --plugin-errors=fail it is an error with kPluginFault,
// after all reports.
absl::Status AddRunReports(const Executable& executable, const RunWatch& watch,
                           const TimedFlags& flags, Invocation& invocation);

// Writes the runs as trace events in Chrome's format, which Perfetto opens: a row for each thread,
// a span for each run, its planning and its steps. A step on a device with streams spans the
// queueing by the host; a row for each stream shows its work. Each plane of a plug-in's profiler is
// a process.
absl::Status WriteTrace(const RunWatch& watch, const std::string& path);
// Writes the same as an XSpace, for TensorBoard, with the errors of profilers that failed.
// RESOURCE_EXHAUSTED above 2 GB.
absl::Status WriteXPlane(const RunWatch& watch, const std::string& path);
// Adds the time by op and by node, of the runs that were recorded whole; if there are none, of the
// run of which most steps were recorded. With --json sets "op_table" and "nodes" in the document,
// whatever `form` is. Otherwise "text" adds a table of the ops and one of the 10 nodes that take
// longest, "csv" replaces the whole text by the ops, without nodes, and "lanes-csv" adds neither.
// Beside each measured time stands what was estimated, if the plans have it
// (SessionOptions::keep_costs). AddLaneTable then adds what threads did, except for the form "csv"
// without --json.
void AddOpTable(const RunRecorder& recorder, std::string_view form, Invocation& invocation);
// Adds what memory holds: constants, the arena and its largest values.
void AddMemory(const Executable& executable, Invocation& invocation);

// What a trace tells of the time before the runs of `executable`, which were fed with `request`.
RunWatch::Before BeforeRuns(const Executable& executable, double load_ms,
                            const RunRequest& request);

double PeakRssMb();  // the most memory of the process so far, in units of 2^20 bytes

}  // namespace tenon::cli
