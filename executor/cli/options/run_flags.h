// Flags that say how often a model runs and what is recorded of the runs.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

struct RepeatFlags {
  // `runs` is for all threads together. -1: not given; the default is the command's, and for `runs`
  // as RepetitionFrom says.
  int64_t warmup = -1, runs = -1;
  double seconds = -1;  // -1: not given; see RepetitionFrom
  int concurrency = 1;  // threads that run the model at the same time

  // `seconds_do`: the help text of --seconds.
  void DeclareRepetition(Declarer& d, const char* seconds_do);
};

inline constexpr int64_t kMaxRuns = int64_t{1} << 24;  // the duration of each run is kept in memory

struct RecordFlags {
  std::vector<std::string> traces;  // files: .xplane.pb for an XSpace, others for trace events
  std::string op_table;             // "text", "csv" or "lanes-csv"; empty: none
  bool memory = false;              // report what memory holds, the largest values first

  void DeclareRecords(Declarer& d);  // --trace, --op-table
  void DeclareMemory(Declarer& d);   // --memory
};

// The flags of a command that runs a model and records its runs.
struct TimedFlags : RequestFlags, RepeatFlags, RecordFlags {};

}  // namespace tenon::cli
