// Writes the RunMetadata of a run.
#pragma once

#include <string>

#include "executor/api/base/session_config.h"
#include "executor/api/session/run_options.h"
#include "executor/session/session.h"

namespace tenon::api {

// Returns RunMetadata bytes: the times of the nodes in the runs of `recorder` (null: none);
// PartitionGraphs of `executable` if wishes.partition_graphs is set; and config.metadata.
std::string RunMetadataOf(const Executable& executable, const RunRecorder* recorder,
                          const RunWishes& wishes, const SessionConfig& config);

}  // namespace tenon::api
