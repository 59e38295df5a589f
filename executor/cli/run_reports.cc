#include "executor/cli/run_reports.h"

#include "graph/status_macros.h"

namespace tenon::cli {

bool WantsRecorder(const Options& options) {
  return !options.trace.empty() || !options.op_table.empty();
}

absl::Status AddRunReports(const Executable& executable, const RunRecorder& recorder,
                           Invocation& invocation) {
  const Options& options = invocation.options;
  if (!options.trace.empty()) TENON_RETURN_IF_ERROR(WriteTrace(recorder, options.trace));
  if (options.memory) AddMemory(executable, invocation);
  if (!options.op_table.empty()) AddOpTable(recorder, invocation);
  return absl::OkStatus();
}

}  // namespace tenon::cli
