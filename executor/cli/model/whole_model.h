// What a whole SavedModel is optimized for, where `opt` writes another SavedModel.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cli/model/feeds.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

// All that TensorFlow's loaders feed, fetch or run of the graph of `model`: arguments and results
// of all signatures, other Placeholders, the restoration, the initializer, assets,
// CapturedConstants, whose errors are returned, and MetaGraph::other_names. Each feed, and each
// fetch, comes once. A fed tensor is fetched too: it keeps its node. `graph` is the model's graph,
// without defects.
absl::StatusOr<Endpoints> EndpointsOfWhole(const SavedModel& model, const Graph& graph);

// Marks each node of `graph`, the model's, that takes the handle of a variable which a function has
// captured and which the restoration does not reach. So a call of the function stays a call. Only
// such a call tells which value of the checkpoint the variable has (CapturedVariables, whose errors
// are returned).
absl::Status KeepCallsOfCaptured(const SavedModel& model, Graph& graph);

}  // namespace tenon::cli
