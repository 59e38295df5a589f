#include "executor/api/eager/graph_notes.h"

#include <utility>

#include "executor/api/base/step_stats.h"
#include "graph/io/io.h"
#include "graph/wire/wire.h"

namespace tenon::eager {

void GraphNotes::Switch(bool on, bool times) {
  absl::MutexLock lock(&mutex_);
  on_ = on;
  times_ = on && times;
  if (on) return;
  metadata_.clear();
  steps_ = 0;
}

void GraphNotes::Note(const RunRecorder& run) {
  if (!times()) return;
  // A field of RunMetadata. Messages of a field that comes again are merged.
  constexpr uint32_t kStepStats = 1;
  size_t steps = 0;
  for (const RunSpan& span : run.runs()) steps += span.steps.size();
  const std::string stats = api::StepStatsOf(run).SerializeAsString();
  absl::MutexLock lock(&mutex_);
  if (!times() || steps_ + steps > RunRecorder::kMaxSteps) return;
  steps_ += steps;
  WireWriter(&metadata_).Bytes(kStepStats, stats);
}

void GraphNotes::Note(const Graph& given, const Graph& optimized) {
  if (!on()) return;
  // Fields of RunMetadata, and of its FunctionGraphs.
  constexpr uint32_t kPartitionGraphs = 3, kFunctionGraphs = 4;
  constexpr uint32_t kPartitions = 1, kBefore = 2, kAfter = 3;
  const std::string before = ExportBinary(given), after = ExportBinary(optimized);
  std::string function;
  WireWriter function_writer(&function);
  function_writer.Bytes(kPartitions, after);
  function_writer.Bytes(kBefore, before);
  function_writer.Bytes(kAfter, after);
  absl::MutexLock lock(&mutex_);
  if (!on()) return;  // it was switched off meanwhile
  WireWriter writer(&metadata_);
  writer.Bytes(kPartitionGraphs, after);
  writer.Bytes(kFunctionGraphs, function);
}

std::string GraphNotes::Take() {
  absl::MutexLock lock(&mutex_);
  steps_ = 0;
  return std::exchange(metadata_, std::string());
}

}  // namespace tenon::eager
