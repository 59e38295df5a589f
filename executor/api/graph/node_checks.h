// Checks a node that was added to a graph, as TensorFlow does.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Checks the op and the attributes of node n and the number of its inputs, but not the types of the
// inputs. The op must be known. INVALID_ARGUMENT if something is wrong; UNIMPLEMENTED if graphs of
// version `producer` (VersionDef) no longer have the op. Of nodes of one kind (NodeKind) the
// attributes are checked once. Attributes that the op does not have are not checked. A placeholder
// is right as the value of any attribute, except of one that says the number of tensors of an
// argument.
absl::Status CheckKindOf(TF_Graph& graph, NodeId n, int producer)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Infers the shapes of the last node of the graph, which must have no shapes yet; calls KnowShapes
// for all nodes before it first. Errors are those of the shape function, as DescribeShapeError
// words them, of CheckFedHandles, of CheckKnownInputs and of InferCall. After an error graph.shapes
// has the node too: a caller that removes the node from the graph also calls graph.shapes.Truncate.
absl::Status InferNewNode(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Merges `shape` into the known shape of an output. Calls KnowShapes for all nodes first: the
// shapes of the output's consumers are inferred from the old shape, and not anew. INVALID_ARGUMENT
// if the two shapes contradict each other; the known shape then stays.
absl::Status MergeShape(TF_Graph& graph, Output output, const PartialShape& shape)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);
// MergeShape without the call of KnowShapes. graph.shapes must have the node of the output. Nodes
// that are inferred later are inferred from the merged shape.
absl::Status MergeKnownShape(TF_Graph& graph, Output output, const PartialShape& shape)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// CheckKindOf, with the producer version of the graph, and InferNewNode for node n, which must be
// the node that was added last. INVALID_ARGUMENT also if TF_Graph::require_shape_fns is set and the
// op has no shape function. After an error the node is to be removed, as after one of InferNewNode.
absl::Status CheckNewNode(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
