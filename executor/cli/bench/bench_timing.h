// Reports what bench has measured of one executable, for people and for scripts.
#pragma once

#include <string>

#include "executor/cli/bench/repeat.h"
#include "executor/values/json.h"
#include "executor/values/statistics.h"
#include "executor/values/text.h"

namespace tenon::cli {

// The measurements of one executable. Its session must outlive them.
struct Timing {
  Executable* executable = nullptr;
  double init_ms = 0;   // from the start to a prepared executable: devices, load, optimize, place
  double first_ms = 0;  // the first run, its plan included
  int threads = 0;      // of the session
  Repeated runs;
};

// Sets the keys in `doc` that scripts know. `timing` must have at least one run.
void WriteTiming(const Timing& timing, Json& doc);
// The same measurements as a few lines of text.
std::string TimingText(const Timing& timing, const Style& style);
// "12.30 us a run (median), 95 % interval 12.21 us to 12.38 us, 1000 runs". The interval is that of
// the median. The samples of `s` are microseconds.
std::string SpeedText(const RunStatistics& s, const Style& style);

}  // namespace tenon::cli
