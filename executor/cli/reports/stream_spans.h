// What ran on the streams of plug-ins' devices while runs were recorded.
#pragma once

#include <string>
#include <vector>

#include "executor/run/run_recorder.h"

namespace tenon::cli {

struct StreamSpan {
  const RunSpan* run;
  const RunSpan::Step* step;
  int64_t start_ns, stop_ns;
};

struct StreamRow {
  std::string device;  // "/device:APU:0"
  std::string stream;  // "compute"
  std::vector<StreamSpan> spans;
};

// A row for each stream, those of a device together. A span begins when its work is queued, or when
// that before it was done, and ends when it is done; one whose end is not known is its queueing.
std::vector<StreamRow> StreamRows(const std::vector<RunSpan>& runs);

}  // namespace tenon::cli
