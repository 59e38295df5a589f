// Writes the program of a graph for devices that compile: `opt --emit stablehlo`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/options/invocation.h"
#include "graph/ir/graph.h"

namespace tenon::cli {

struct EmitFlags {
  std::string emit;                 // "stablehlo"; empty: nothing is emitted
  std::vector<std::string> shapes;  // NAME=DIMS, such as x=8x128
};

// Lowers `graph`, an optimized graph, for these feeds and fetches and writes the text to `path`,
// and the elements of weights, if there are any, to an archive beside it: "x.npz" beside "x.mlir".
// An empty `path` writes nothing. Adds to the invocation's document and text what was written.
// Dimensions that neither the graph nor EmitFlags::shapes tell are 1, and a feed of unknown rank is
// a scalar; the text says so. A fetch "^node" is no result of the program.
//
// kUsage: a shape that does not parse, that names no output of the graph of `names`, or that does
// not fit its feed. A shape of an output that is not fed has no effect. Other errors are those of
// stablehlo::Lower, and of writing the file.
absl::Status EmitProgram(const Graph& graph, const Names& names, const Endpoints& ends,
                         const EmitFlags& flags, const std::string& path, Invocation& invocation);

}  // namespace tenon::cli
