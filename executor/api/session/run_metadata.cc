#include "executor/api/session/run_metadata.h"

#include "executor/api/base/step_stats.h"
#include "executor/api/session/partition_graphs.h"
#include "proto/config.pb.h"

namespace tenon::api {

std::string RunMetadataOf(const Executable& executable, const RunRecorder* recorder,
                          const RunWishes& wishes, const SessionConfig& config) {
  pb::RunMetadata metadata;
  if (recorder != nullptr) *metadata.mutable_step_stats() = StepStatsOf(*recorder);
  if (wishes.partition_graphs) {
    for (std::string& graph : PartitionGraphs(executable))
      metadata.add_partition_graphs(std::move(graph));
  }
  // The bytes were written by protobuf.
  if (!config.metadata.empty())
    metadata.mutable_session_metadata()->ParseFromString(config.metadata);
  return metadata.SerializeAsString();
}

}  // namespace tenon::api
