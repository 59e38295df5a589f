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

// A model without defects, except those of MayBeUnused: a run fails only if it needs such a node.
struct Model {
  Graph graph;
  std::optional<SavedModel> saved;  // if the model is a folder
  // The signature to use, which lies in `saved`; null: none. It stays valid when the Model is
  // moved, not in a copy.
  const Signature* signature = nullptr;
  double load_ms = 0;  // reading and verifying
};

// Reads and verifies the file or folder flags.paths[0], and chooses its signature. Defects of
// MayBeUnused alone are no error, and are not printed. If there are others, all defects are printed
// to stderr, and the error is that of WorstDefect, marked as printed: kPluginFault for a defect of
// a plug-in, else kInvalidInput. `needs_signature` is `needed` of ChooseSignature. Other errors are
// those of ImportModel and ChooseSignature.
absl::StatusOr<Model> LoadModel(const ModelFlags& flags, bool needs_signature);

// Chooses a signature of `saved`; the pointer is into `saved`. With --signature it is the one of
// that name. Otherwise it is "serving_default", or else the only one, where names with "__" in
// front do not count. If neither exists, the result is null, or kUsage if a signature is `needed`.
//
// If there is no SavedModel, the result is null, even if a signature is needed. kUsage: the
// signature that --signature names does not exist, or --signature is given without a SavedModel.
absl::StatusOr<const Signature*> ChooseSignature(const std::optional<SavedModel>& saved,
                                                 const ModelFlags& flags, bool needed);

// A model with its defects.
struct ImportedModel {
  Imported imported;
  std::optional<SavedModel> saved;  // if the model is a folder
};
// Reads and verifies the file or folder `path`. Returns all defects and prints none; a shape or
// constant beyond flags.max_rank is one too. Of `flags` only `limits` and `max_rank` count. An
// error means that the file cannot be read at all: kInvalidInput.
absl::StatusOr<ImportedModel> ImportModel(const std::string& path, const ModelFlags& flags);

// The worst of `defects`, which must not be empty; a reference into it. Defects of the graph are
// worse than those of a plug-in, and these are worse than those of MayBeUnused. Among equals it is
// the first.
const Defect& WorstDefect(const std::vector<Defect>& defects);

// The nodes of ops Placeholder and PlaceholderV2, in the order of ids.
std::vector<NodeId> Placeholders(const Graph& graph);

// What attributes `dtype` and `shape` of node n say, which may be a Placeholder or a variable.
// Unknown where they say nothing or are malformed, as the scalar of a Placeholder in an old graph
// (graph/shapes/old_producers.h).
SpecHint DeclaredInput(const Graph& graph, NodeId n);

// All outputs of the nodes of which no output is read, in the order of ids: "node", "node:1". A
// control edge does not count as a reader. If one output of a node is read, its other outputs are
// left out too. A node of an unknown op counts as one output. Values that only one branch of a
// conditional or a pass of a loop computes are left out, as a run may not have them. In a graph
// that trains (graphs/training.h) only its results count, as outputs and as readers.
std::vector<std::string> GraphOutputs(const Graph& graph);

// The Placeholders that must still be fed, in the order of ids: those that a run of `fetches` needs
// (NeededArguments). The search ends at outputs in `fed` and at a control edge from a Placeholder
// that is fed.
std::vector<NodeId> UnfedPlaceholders(const Graph& graph, const std::vector<Output>& fetches,
                                      const std::vector<Output>& fed);

}  // namespace tenon::cli
