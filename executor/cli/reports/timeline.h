// A recorded run as rows of spans, for the page of --report.
#pragma once

#include "executor/cli/reports/run_watch.h"
#include "executor/values/json.h"

namespace tenon::cli {

// Of the recorded run of median length among those that were recorded whole; null if there is none:
// - "run_us", "runs" (those that were recorded whole);
// - "rows": {"name", "kind": "thread" or "stream"};
// - "spans": {"row", "start_us", "us", "node", "op"}, by start; the 5000 longest. "row" is an index
//   into "rows". "start_us" counts from where the run begins, after its planning. "node" and "op"
//   are `node` and `what` of StepLabel;
// - "spans_left_out": the number of the others.
// A span of a stream is work of the device; that of a thread is a step on the host, which for a
// step on a device is the queueing. No recorded run may go on.
Json TimelineJson(const RunRecorder& recorder);

}  // namespace tenon::cli
