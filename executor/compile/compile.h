// Compiles a graph for one set of feeds and fetches, up to the input of plans. The one place that
// knows the order of the stages: Requested, Inlined, Placed, Optimized, Lowered, Runnable.
#pragma once

#include "executor/compile/stages.h"

namespace tenon {

struct Compiled {
  Optimized optimized;  // for reports
  // The input of plans. UNIMPLEMENTED if the graph is optimized for TensorFlow and cannot run here:
  // it can still be written to a file.
  absl::StatusOr<Runnable> runnable;
};

// Does not change `graph`. Names in `feeds` and `fetches` are "node" or "node:port". Errors name
// the feed, the fetch or the node; FAILED_PRECONDITION names a placeholder that is needed and not
// fed.
absl::StatusOr<Compiled> Compile(const Graph& graph, const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& fetches,
                                 const CompileContext& context);

}  // namespace tenon
