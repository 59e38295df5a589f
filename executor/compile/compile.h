// Compiles a graph for one set of feeds and fetches, up to the input of plans. The one place that
// knows the order of the stages: Requested, Inlined, Placed, Optimized, Clustered, Lowered,
// Runnable.
#pragma once

#include "executor/compile/stages.h"

namespace tenon {

struct Compiled {
  Optimized optimized;  // for reports, and for writing the graph to a file
  // The input of plans. UNIMPLEMENTED, and no other error, if the passes optimized the graph for
  // TensorFlow and it holds what Tenon cannot run: `optimized` can still be written to a file.
  absl::StatusOr<Runnable> runnable;
  // Must outlive the plans of `runnable`. Null: the graph has none.
  std::shared_ptr<ClusterSet> clusters;
};

// Does not change `graph`, which must not change during the call; the result shares the graph's
// storage and keeps it alive. Names in `feeds` and `fetches` are those of ResolveRequest. Errors
// are those of the stages (stages.h), except for UNIMPLEMENTED of FormClusters, LowerFunctions and
// ScheduleNodes where it goes into Compiled::runnable. Among them: INVALID_ARGUMENT or NOT_FOUND
// for a name that the graph has not, FAILED_PRECONDITION for a placeholder that is needed and not
// fed, UNIMPLEMENTED for an op without a kernel.
absl::StatusOr<Compiled> Compile(const Graph& graph, const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& fetches,
                                 const CompileContext& context);

}  // namespace tenon
