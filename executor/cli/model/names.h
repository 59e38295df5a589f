// What NAMEs mean: arguments and results of a SavedModel's signature, or else nodes of the graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/tensors/spec.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

// Views of a graph and a signature, which must outlive it.
class Names {
 public:
  // Without a signature: `signature` is null.
  Names(const Graph& graph, const Signature* signature) : graph_(graph), signature_(signature) {}

  const Graph& graph() const { return graph_; }
  const Signature* signature() const { return signature_; }

  // "argument", "node" or "node:port" of a data output. Errors (kUsage; for a node of an unknown op
  // UNIMPLEMENTED) name the flag.
  absl::StatusOr<Output> Argument(std::string_view flag, std::string_view name) const;
  // "result", "node" or "node:port"; with --output also a node without outputs, to be run.
  absl::StatusOr<Output> Result(std::string_view flag, std::string_view name) const;

  // The name of a node to be run.
  absl::StatusOr<std::string> Node(std::string_view flag, std::string_view name) const;

  // What a run is to be fed with, and what it answers: the signature's arguments and results, or
  // the graph's Placeholders and outputs.
  std::vector<std::string> Arguments() const;
  std::vector<std::string> Results() const;
  // Those of a signature's results that are nodes without outputs: they are run, nothing more.
  std::vector<std::string> ResultsWithoutValue() const;

  // A Placeholder as users call it.
  std::string NameOf(NodeId placeholder) const;

 private:
  absl::StatusOr<Output> Resolve(std::string_view flag, std::string_view name,
                                 const std::vector<SignatureTensor>* tensors) const;

  const Graph& graph_;
  const Signature* signature_;
};

// What a feed of this output must be, as far as the graph says.
SpecHint HintFor(const Graph& graph, Output output);

}  // namespace tenon::cli
