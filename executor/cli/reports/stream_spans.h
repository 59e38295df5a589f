// Finds what ran on the streams of plug-ins' devices while runs were recorded.
#pragma once

#include <string>
#include <vector>

#include "executor/run/run_recorder.h"

namespace tenon::cli {

// The work of one step on a stream, on the clock of the recorder. The pointers are into the runs.
struct StreamSpan {
  const RunSpan* run;
  const RunSpan::Step* step;
  int64_t start_ns, stop_ns;
};

// The work of one stream, in its order.
struct StreamRow {
  std::string device;  // "/device:APU:0"
  std::string stream;  // "compute"
  std::vector<StreamSpan> spans;
};

// A row for each stream, those of one device together. A span begins when its work is queued or, if
// that is later, when the work before it was done, and ends when it is done. If the end of the work
// is not known, the span is that of its queueing. `runs` must outlive the result.
std::vector<StreamRow> StreamRows(const std::vector<RunSpan>& runs);

}  // namespace tenon::cli
