// What a run is fed with and what it is asked for, as the flags say.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options.h"
#include "executor/cli/sink.h"
#include "executor/session.h"
#include "graph/graph.h"

namespace tenon::cli {

struct Expectation {
  std::string name;
  std::string spec;
  size_t fetch;  // index into RunRequest::fetches
};

struct RunRequest {
  std::vector<std::string> feed_names;
  std::vector<Tensor> feeds;
  std::vector<NamedSink> outputs;    // what the user sees
  std::vector<std::string> fetches;  // the outputs first, then what only --expect names
  std::vector<Expectation> expectations;
};

// Reads --input, --inputs, --output, --expect. kUsage for names that the graph lacks, for values
// that do not fit a Placeholder, and for Placeholders that a fetch needs and nobody feeds: these
// come with a SPEC to copy.
absl::StatusOr<RunRequest> ReadRequest(const Graph& graph, const Options& options);

// Only the fetches of --output, or the graph's outputs. kUsage for unknown names and for a graph
// without outputs.
absl::StatusOr<std::vector<NamedSink>> RequestedOutputs(const Graph& graph, const Options& options);

}  // namespace tenon::cli
