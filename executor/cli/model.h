// A model as the sub-commands see it: a valid graph with its inputs and outputs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options.h"
#include "executor/cli/spec.h"
#include "graph/graph.h"
#include "graph/io.h"

namespace tenon::cli {

struct Model {
  Graph graph;
  double load_ms = 0;
};

// Reads the file and prints its defects to stderr. Errors exit as the worst defect tells: with
// kInvalidInput, kPluginFault or, for an unknown op, kRunFailed (UNIMPLEMENTED).
absl::StatusOr<Model> LoadModel(const Options& options);

// The same without printing and judging: for lint. Errors exit with kInvalidInput.
absl::StatusOr<Imported> ImportModel(const std::string& path, const Options& options);

// Of one or more: the graph's own defects come before a plug-in's, unknown ops last.
const Defect& WorstDefect(const std::vector<Defect>& defects);

std::vector<NodeId> Placeholders(const Graph& graph);

// What a Placeholder declares.
SpecHint DeclaredInput(const Graph& graph, NodeId n);

// Every output of the nodes none of whose outputs is consumed, in the order of the graph: "node",
// "node:1". Not those that only one branch of a conditional, or a pass of a loop, computes.
std::vector<std::string> GraphOutputs(const Graph& graph);

// Placeholders that the computation of `fetches` reaches without passing one of `fed`.
std::vector<NodeId> UnfedPlaceholders(const Graph& graph, const std::vector<Output>& fetches,
                                      const std::vector<Output>& fed);

}  // namespace tenon::cli
