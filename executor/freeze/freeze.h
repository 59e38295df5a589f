// Freezes a signature of a SavedModel: makes a graph that needs no folder.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {

struct FrozenTensor {
  std::string name;    // in the signature
  std::string node;    // in the frozen graph
  std::string tensor;  // in the original graph; it is still there
};

struct FrozenModel {
  Graph graph;
  std::vector<FrozenTensor> inputs, outputs;
  int64_t variables = 0, variable_bytes = 0;  // folded
  std::vector<std::string> tables, kept;      // nodes of tables and of variables that stay
  std::string init;  // the node that gives them what they held; empty if none held anything
};

struct FreezeOptions {
  bool keep_state = false;  // variables that are written stay variables; else they are errors
  std::vector<std::string> inits;  // nodes of the graph that run after the folder's own initializer
  std::vector<std::string> keep;   // outputs of the graph that stay beside the signature's
};

// Restores the model in a session of its own, then makes constants of the variables that
// `signature` reads. FAILED_PRECONDITION names a variable that it writes, and the node, or a table
// that nothing fills; UNIMPLEMENTED what else cannot be frozen.
absl::StatusOr<FrozenModel> Freeze(const SavedModel& model, const Graph& graph,
                                   const Signature& signature, const FreezeOptions& freeze,
                                   std::vector<Device*> devices, SessionOptions options);

}  // namespace tenon
