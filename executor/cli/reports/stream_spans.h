// Finds what ran on the streams of plug-ins' devices while runs were recorded.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/run/run_recorder.h"

namespace tenon::cli {

// The work of one step on a stream, on the clock of the recorder. The pointers are into the runs.
struct StreamSpan {
  const RunSpan* run;
  const RunSpan::Step* step;
  int64_t start_ns, stop_ns;
};

// The work of one stream, of all runs.
struct StreamRow {
  std::string device;  // "/device:APU:0"
  std::string stream;  // "compute"
  std::vector<StreamSpan> spans;
};

// A row for each stream on which a step queued work, by name of the device, then of the stream.
// Only a RunRecorder with `streams` records such work: the runs of another one have no rows. A span
// ends when its work is done; if that time is not known, when the step that queued the work ends.
// It begins when that step begins or, if that is later, when the span before it ends. Spans stand
// in the order of their ends. `runs` must outlive the result.
std::vector<StreamRow> StreamRows(absl::Span<const RunSpan> runs);

}  // namespace tenon::cli
