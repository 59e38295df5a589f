// Runs the stages one behind the other. The optimized graph is kept beside the runnable one: it is
// the one that is written to files and reported.

#include "executor/compile/compile.h"

#include <utility>

#include "executor/compile/node_devices.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

absl::StatusOr<Runnable> MakeRunnable(const Optimized& optimized, const CompileContext& context,
                                      std::shared_ptr<ClusterSet>& clusters) {
  TENON_ASSIGN_OR_RETURN(Clustered clustered, FormClusters(optimized, context));
  clusters = clustered.clusters;
  // Nodes that lowering makes cannot join a cluster any more.
  const NodeDevices rest(context);
  TENON_ASSIGN_OR_RETURN(Lowered lowered, LowerFunctions(clustered, rest.context()));
  return ScheduleNodes(std::move(lowered), rest.context());
}

}  // namespace

absl::StatusOr<Compiled> Compile(const Graph& graph, const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& fetches,
                                 const CompileContext& context) {
  TENON_ASSIGN_OR_RETURN(Requested requested, RequestOf(graph, feeds, fetches));
  TENON_ASSIGN_OR_RETURN(Inlined inlined, InlineCalls(std::move(requested), context));
  TENON_ASSIGN_OR_RETURN(Placed placed, PlaceNodes(std::move(inlined), context));
  TENON_ASSIGN_OR_RETURN(Optimized optimized, OptimizeGraph(std::move(placed), context));
  std::shared_ptr<ClusterSet> clusters;
  absl::StatusOr<Runnable> runnable = MakeRunnable(optimized, context, clusters);
  const SessionOptions& options = context.options;
  // A graph that is optimized for TensorFlow may hold ops that only TensorFlow runs. It is written
  // all the same, and a run gives the reason.
  const bool only_written = options.opt_level > 0 && options.pipeline.target.is_tensorflow();
  if (!only_written || !absl::IsUnimplemented(runnable.status()))
    TENON_RETURN_IF_ERROR(runnable.status());
  return Compiled{std::move(optimized), std::move(runnable), std::move(clusters)};
}

}  // namespace tenon
