// What bench has measured of one executable, for people and for scripts.
#pragma once

#include <string>

#include "executor/cli/bench/repeat.h"
#include "executor/values/json.h"
#include "executor/values/statistics.h"
#include "executor/values/text.h"

namespace tenon::cli {

struct Timing {
  Executable* executable = nullptr;
  double init_ms = 0;   // process state to a prepared executable: devices, load, optimize, place
  double first_ms = 0;  // the first run, plan included
  int threads = 0;      // of the session
  Repeated runs;
};

// Sets the keys that scripts know, of `timing` in `doc`.
void WriteTiming(const Timing& timing, Json& doc);
// A few lines.
std::string TimingText(const Timing& timing, const Style& style);
// "12.30 us a run (median), 95 % interval 12.21 us to 12.38 us, 1000 runs".
std::string SpeedText(const RunStatistics& s, const Style& style);

}  // namespace tenon::cli
