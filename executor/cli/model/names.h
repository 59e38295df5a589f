// Resolves the NAMEs of a command line: arguments and results of a SavedModel's signature, or else
// nodes of the graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/tensors/spec.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

// Refers to a graph and a signature, which must outlive the object. Calls are const and
// thread-safe.
class Names {
 public:
  // `signature` may be null.
  Names(const Graph& graph, const Signature* signature) : graph_(graph), signature_(signature) {}

  const Graph& graph() const { return graph_; }
  const Signature* signature() const { return signature_; }

  // Resolves "argument", "node" or "node:port" to a data output. An argument of the signature comes
  // before a node of the same name. `flag` is the flag to name in errors. kUsage: there is no such
  // output. UNIMPLEMENTED: the node has an unknown op.
  absl::StatusOr<Output> Argument(std::string_view flag, std::string_view name) const;
  // Resolves "result", "node" or "node:port". If `flag` is "--output", the name may also be that of
  // a node without outputs, or "^node" for any node; returns the node's control output, which a run
  // may fetch so that the node runs. Errors are those of Argument.
  absl::StatusOr<Output> Result(std::string_view flag, std::string_view name) const;

  // The name of a node that is to be run. `name` is that of a node of the graph or of one of its
  // outputs; the signature is not asked, and the port is not checked. kUsage if there is no such
  // node.
  absl::StatusOr<std::string> Node(std::string_view flag, std::string_view name) const;

  // The names of what a run takes and returns: arguments and results of the signature, those
  // without a value too, or, without a signature, the Placeholders and GraphOutputs (model.h) of
  // the graph.
  std::vector<std::string> Arguments() const;
  std::vector<std::string> Results() const;
  // The results of the signature that are nodes without outputs; they are only run. Empty without a
  // signature.
  std::vector<std::string> ResultsWithoutValue() const;

  // The name that users know a Placeholder by: that of the argument, else that of the node.
  std::string NameOf(NodeId placeholder) const;

 private:
  absl::StatusOr<Output> Resolve(std::string_view flag, std::string_view name,
                                 const std::vector<SignatureTensor>* tensors) const;

  const Graph& graph_;
  const Signature* signature_;
};

// The type and shape that a feed of this output must have, as far as the graph says. Only outputs
// of Placeholders and PlaceholderWithDefault get a shape.
SpecHint HintFor(const Graph& graph, Output output);

}  // namespace tenon::cli
