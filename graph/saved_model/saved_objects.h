// Finds for each variable of a SavedModel's graph the value in the checkpoint, by the objects from
// which the model was saved. All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon {

// The name of the tensor in a checkpoint that holds the checkpoint's own objects: a string scalar,
// TrackableObjectGraph bytes.
inline constexpr char kCheckpointObjects[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

// A variable that a function of the model has captured: a call passes the variable's handle.
struct CapturedVariable {
  NodeId handle = kNoNode;  // the VarHandleOp that is passed to the function
  int object = 0;           // the number of the variable among the model's objects
  std::string name;         // the name in the program that saved the model
  DataType dtype = DataType::kInvalid;
  PartialShape shape;
};

// Returns the variables that functions have captured, where a node of `graph` calls the function,
// by its op or as PartitionedCall or StatefulPartitionedCall, and has the VarHandleOp itself as
// input. Each VarHandleOp comes once, in the order of the calling nodes' ids and then of their
// inputs. Calls within functions do not count. `objects` are SavedObjectGraph bytes;
// INVALID_ARGUMENT if they are malformed or do not fit the graph.
absl::StatusOr<std::vector<CapturedVariable>> CapturedVariables(const Graph& graph,
                                                                std::string_view objects);

// Returns the names of the Const nodes that objects of the model are: functions have captured their
// values. `objects` are SavedObjectGraph bytes; INVALID_ARGUMENT if they are malformed.
absl::StatusOr<std::vector<std::string>> CapturedConstants(std::string_view objects);

// Returns the key of each variable's value in the checkpoint, in the order of `variables`; an empty
// key for a variable without a value. An object of the model and an object of the checkpoint are
// the same if one path of names leads to both from their roots. `objects` are the bytes that
// CapturedVariables got, `checkpoint_objects` TrackableObjectGraph bytes; INVALID_ARGUMENT if
// either message is malformed.
absl::StatusOr<std::vector<std::string>> CheckpointKeys(
    const std::vector<CapturedVariable>& variables, std::string_view objects,
    std::string_view checkpoint_objects);

}  // namespace tenon
