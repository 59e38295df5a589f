// A model as the sub-commands see it: a valid graph with its inputs and outputs.
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

struct Model {
  Graph graph;
  std::optional<SavedModel> saved;       // of a folder
  const Signature* signature = nullptr;  // of `saved`: the one to use, if there is one
  double load_ms = 0;
};

// Reads the file or folder and prints its defects to stderr. Unknown ops are none of them: who
// needs such a node fails. Errors exit as the worst defect tells, with kInvalidInput or
// kPluginFault; a signature that does not exist is kUsage.
absl::StatusOr<Model> LoadModel(const ModelFlags& flags, bool needs_signature);

// The signature that --signature names; else the default, or the only one. Null for what is no
// SavedModel, and where there is no such signature and none is needed.
absl::StatusOr<const Signature*> ChooseSignature(const std::optional<SavedModel>& saved,
                                                 const ModelFlags& flags, bool needed);

// The same as LoadModel without printing, judging and choosing a signature: for lint. Errors exit
// with kInvalidInput.
struct ImportedModel {
  Imported imported;
  std::optional<SavedModel> saved;
};
absl::StatusOr<ImportedModel> ImportModel(const std::string& path, const ModelFlags& flags);

// Of one or more: the graph's own defects come before a plug-in's.
const Defect& WorstDefect(const std::vector<Defect>& defects);

std::vector<NodeId> Placeholders(const Graph& graph);

// What a Placeholder declares.
SpecHint DeclaredInput(const Graph& graph, NodeId n);

// Every output of the nodes none of whose outputs is consumed, in the order of the graph: "node",
// "node:1"; a node of an unknown op counts as one. Not those that only one branch of a conditional,
// or a pass of a loop, computes.
std::vector<std::string> GraphOutputs(const Graph& graph);

// Placeholders that the computation of `fetches` reaches without passing one of `fed`.
std::vector<NodeId> UnfedPlaceholders(const Graph& graph, const std::vector<Output>& fetches,
                                      const std::vector<Output>& fed);

}  // namespace tenon::cli
