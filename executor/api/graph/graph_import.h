// Imports GraphDefs for other rooms.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// TF_GraphImportGraphDef without options. Copies what it keeps of `wire`. After an error the graph
// is as it was.
absl::Status ImportGraphDef(TF_Graph& graph, std::string_view wire)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
