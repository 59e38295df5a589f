#include "executor/cli/options/run_flags.h"

namespace tenon::cli {

void RepeatFlags::DeclareRepetition(Declarer& d, const char* seconds_do) {
  d.Group(FlagGroup::kRuns);
  d.Integer("--warmup", warmup, "N", "runs before those that count", 0);
  d.Integer("--runs", runs, "N", "runs that count, of all threads together", 1, kMaxRuns);
  d.Real("--seconds", seconds, "S", seconds_do, Declarer::Bound::kAboveZero);
  d.Integer("--concurrency", concurrency, "N", "runs at the same time", 1, 1024);
}

void RecordFlags::DeclareRecords(Declarer& d) {
  d.Group(FlagGroup::kRuns);
  d.Repeat("--trace", traces, "OUT",
           "write when each step ran, and what plug-ins' profilers saw: OUT.json for Perfetto, "
           "OUT.xplane.pb for TensorBoard",
           Declarer::RefuseEmpty);
  d.FlagWithValue(
      "--op-table{text}", op_table, {"text", "csv", "lanes-csv"},
      "time by op, beside the estimates, and by thread; =csv, =lanes-csv: ops or threads, "
      "comma-separated, and nothing else on stdout");
}

void RecordFlags::DeclareMemory(Declarer& d) {
  d.Group(FlagGroup::kRuns);
  d.Flag("--memory", memory, "what memory holds, the largest values first");
}

}  // namespace tenon::cli
