// From a graph and what is asked of it to what plans are made from. The one place that knows the
// order of the stages.
#pragma once

#include "executor/compile/stages.h"

namespace tenon {

struct Compiled {
  Optimized optimized;  // for reports
  // For plans. UNIMPLEMENTED for a graph that is only to be written for TensorFlow and cannot run
  // here.
  absl::StatusOr<Runnable> runnable;
};

// Errors name the feed, the fetch, the placeholder that nothing is fed to (FAILED_PRECONDITION) or
// the node.
absl::StatusOr<Compiled> Compile(const Graph& graph, const std::vector<std::string>& feeds,
                                 const std::vector<std::string>& fetches,
                                 const CompileContext& context);

}  // namespace tenon
