// The objects that a SavedModel was made of, as far as they say which value of the checkpoint a
// variable of the graph has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon {

// The tensor of a checkpoint that holds its objects.
inline constexpr char kCheckpointObjects[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

// A variable that a function of the model has captured.
struct CapturedVariable {
  NodeId handle = kNoNode;  // the VarHandleOp that is passed to the function
  int object = 0;           // its number among the model's objects
  std::string name;         // as the program knew it
  DataType dtype = DataType::kInvalid;
  PartialShape shape;
};

// All of those that nodes of the graph pass to functions, each once. `objects` is a
// SavedObjectGraph; INVALID_ARGUMENT if it is malformed.
absl::StatusOr<std::vector<CapturedVariable>> CapturedVariables(const Graph& graph,
                                                                std::string_view objects);

// The keys of their values in the checkpoint, in the same order; empty for one that has none.
// Objects of the model and of the checkpoint are the same if one path leads to both.
// `checkpoint_objects` is a TrackableObjectGraph; INVALID_ARGUMENT if either is malformed.
absl::StatusOr<std::vector<std::string>> CheckpointKeys(
    const std::vector<CapturedVariable>& variables, std::string_view objects,
    std::string_view checkpoint_objects);

}  // namespace tenon
