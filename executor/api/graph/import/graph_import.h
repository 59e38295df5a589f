// Imports a GraphDef into a TF_Graph, for other rooms.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// TF_GraphImportGraphDef without options. `wire`: GraphDef bytes, which the graph copies. After an
// error the graph has the nodes, functions and versions that it had before. Errors are those of
// GraphImporter::Run: TensorFlow's codes and messages.
absl::Status ImportGraphDef(TF_Graph& graph, std::string_view wire)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
