// How often a model runs, and what is written down of its runs.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/options/request_flags.h"

namespace tenon::cli {

struct RepeatFlags {
  int64_t warmup = -1, runs = -1;  // -1: the command's default
  double seconds = -1;
  int concurrency = 1;

  // `seconds_do`: what --seconds does.
  void DeclareRepetition(Declarer& d, const char* seconds_do);
};

inline constexpr int64_t kMaxRuns = int64_t{1} << 24;  // the time of each is kept

struct RecordFlags {
  std::vector<std::string> traces;  // files; .xplane.pb or trace events
  std::string op_table;             // "text" or "csv"; empty: none
  bool memory = false;

  void DeclareRecords(Declarer& d);
  void DeclareMemory(Declarer& d);
};

// Of a command that runs a model and watches its runs.
struct TimedFlags : RequestFlags, RepeatFlags, RecordFlags {};

}  // namespace tenon::cli
