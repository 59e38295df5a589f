// Freezes a signature of a SavedModel: makes one graph that holds the values of its variables, and
// so needs no folder.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {

// An input or output of the signature.
struct FrozenTensor {
  std::string name;  // its name in the signature
  // The node of the frozen graph that takes or gives it, at output 0. Two inputs of one tensor have
  // one node.
  std::string node;
  // Its tensor in the original graph, which the frozen graph still has. Feed `node`: if the node of
  // an input has several outputs, nothing reads `tensor` any more.
  std::string tensor;
};

// Owns its graph, which needs neither the session nor the folder.
struct FrozenModel {
  Graph graph;
  std::vector<FrozenTensor> inputs, outputs;  // in the order of the signature
  // The nodes of variables that became constants: their number, and the sum of their bytes.
  int64_t variables = 0, variable_bytes = 0;
  // The state that `init` fills: nodes of tables, and of variables that stay variables.
  std::vector<std::string> tables, kept;
  // Absolute paths of the assets whose paths became constants: the frozen graph may read them.
  std::vector<std::string> files;
  // The node that fills `tables` and `kept` when it runs; empty if there is nothing to fill. The
  // initializer itself, if it is the only one and what stays needs it. An attribute marks it.
  std::string init;
};

struct FreezeOptions {
  // Whether a variable that the signature writes stays a variable; otherwise it is an error.
  bool keep_state = false;
  // Nodes of `graph` that run after the initializer of the folder, in this order.
  std::vector<std::string> inits;
  // Nodes or outputs of `graph` whose nodes stay although the signature does not need them. Nothing
  // checks the number of an output.
  std::vector<std::string> keep;
};

// Restores the model in a session of its own on `devices`, which the caller owns, and makes
// constants of the variables that `signature` or a node of `keep` reads. `graph` is the model's
// graph. `signature` may name any tensors of the graph, and may lack inputs or outputs. Freeze
// changes no argument. It runs on the calling thread and on the threads of that session.
// * FAILED_PRECONDITION names a written variable that keep_state does not keep, and the node that
//   writes it; or a table that nothing fills.
// * NOT_FOUND or INVALID_ARGUMENT: the graph lacks a tensor of the signature or a name of `keep`.
// * UNIMPLEMENTED names what else cannot be frozen; a graph of more than 2 GiB is one such case.
// * INTERNAL: the frozen graph has a defect.
// * Errors of VariableFolder::Run, of KeptState, of the session, of RestoreState and of
//   RunInitializer for a node of `inits`.
absl::StatusOr<FrozenModel> Freeze(const SavedModel& model, const Graph& graph,
                                   const Signature& signature, const FreezeOptions& freeze,
                                   std::vector<Device*> devices, SessionOptions options);

// The nodes of a graph that Freeze has marked as FrozenModel::init, in the order of ids, as far as
// they are NoOps. They are to run before all else.
std::vector<std::string> MarkedInitializers(const Graph& graph);

}  // namespace tenon
