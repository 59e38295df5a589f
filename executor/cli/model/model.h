// Loads a model as sub-commands use it: a valid graph with its inputs and outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/model_flags.h"
#include "executor/cli/tensors/spec.h"
#include "graph/io/io.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

// A model without defects, except for those that a run may never meet.
struct Model {
  Graph graph;
  std::optional<SavedModel> saved;  // if the model is a folder
  // Of `saved`: the signature to use; null: none. Moving the Model keeps it valid.
  const Signature* signature = nullptr;
  double load_ms = 0;  // reading and verifying
};

// Reads the file or folder and verifies it. Unknown ops are no defects here: a run fails that needs
// such a node. Other defects are printed to stderr, and the error exits as the worst of them says,
// with kInvalidInput or kPluginFault. A signature that does not exist is kUsage.
absl::StatusOr<Model> LoadModel(const ModelFlags& flags, bool needs_signature);

// The signature that --signature names, else the default, else the only one. Null if the model is
// no SavedModel, or if it has no such signature and none is `needed`. kUsage: the signature does
// not exist, or none can be chosen. The pointer is into `saved`.
absl::StatusOr<const Signature*> ChooseSignature(const std::optional<SavedModel>& saved,
                                                 const ModelFlags& flags, bool needed);

// Reads a model as LoadModel does, but returns its defects and chooses no signature; for lint.
// Errors exit with kInvalidInput: the file cannot be read at all.
struct ImportedModel {
  Imported imported;
  std::optional<SavedModel> saved;  // if the model is a folder
};
absl::StatusOr<ImportedModel> ImportModel(const std::string& path, const ModelFlags& flags);

// The worst of one or more defects. Defects of the graph are worse than those of a plug-in.
const Defect& WorstDefect(const std::vector<Defect>& defects);

// In the order of the graph.
std::vector<NodeId> Placeholders(const Graph& graph);

// The type and shape that Placeholder n declares; unknown where it declares none.
SpecHint DeclaredInput(const Graph& graph, NodeId n);

// The outputs of all nodes without a reader, in the order of the graph: "node", "node:1". A node of
// an unknown op counts as one output. Values that only one branch of a conditional or a pass of a
// loop computes are left out, as a run may not have them.
std::vector<std::string> GraphOutputs(const Graph& graph);

// The Placeholders that `fetches` need and that lie behind no output of `fed`, in the order of the
// graph.
std::vector<NodeId> UnfedPlaceholders(const Graph& graph, const std::vector<Output>& fetches,
                                      const std::vector<Output>& fed);

}  // namespace tenon::cli
