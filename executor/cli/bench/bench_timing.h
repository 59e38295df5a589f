// Reports what bench has measured of one executable, for people and for scripts.
#pragma once

#include <string>

#include "executor/cli/bench/repeat.h"
#include "executor/values/json.h"
#include "executor/values/statistics.h"
#include "executor/values/text.h"

namespace tenon::cli {

// The measurements of one executable; with --ab, of the executables of one side. The session of
// `executable` must outlive them.
struct Timing {
  std::string model;                 // as it was named
  Executable* executable = nullptr;  // with --ab, the last one
  // From the start to a prepared executable: devices, load, optimize, place. With --ab, the start
  // of its session alone, without devices and load.
  double init_ms = 0;
  double first_ms = 0;  // the first run, its plan included; it is not among `runs`
  int threads = 0;      // of the session
  Repeated runs;        // with --ab, of all rounds
};

// Sets the keys in `doc` that scripts know. `timing` must have at least one run. The peak of memory
// is that of the process; the other numbers of memory, and those of plans, are those of
// timing.executable.
void WriteTiming(const Timing& timing, Json& doc);
// Most of the same as a few lines of text: the interval of the mean, the number of nodes on each
// device, the clusters and NoiseOf are left out. `timing` must have at least one run here too.
std::string TimingText(const Timing& timing, const Style& style);
// Why a figure should not be quoted: the interval of the median is wide, or runs differ much. Empty
// if nothing speaks against it.
std::string NoiseOf(const RunStatistics& s);
// "12.30 us a run (median), 95 % interval 12.21 us to 12.38 us, 1000 runs". The interval is that of
// the median. The samples of `s` are microseconds.
std::string SpeedText(const RunStatistics& s, const Style& style);

}  // namespace tenon::cli
