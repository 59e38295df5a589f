#include "executor/api/eager/graph_notes.h"

#include <utility>

#include "graph/io/io.h"
#include "graph/wire/wire.h"

namespace tenon::eager {

void GraphNotes::Switch(bool on) {
  absl::MutexLock lock(&mutex_);
  on_ = on;
  if (!on) metadata_.clear();
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
  return std::exchange(metadata_, std::string());
}

}  // namespace tenon::eager
