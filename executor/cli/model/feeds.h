// What a run is fed with and what it is asked for, as the flags say.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/names.h"
#include "executor/cli/options/request_flags.h"
#include "executor/cli/tensors/sink.h"
#include "executor/session/session.h"

namespace tenon::cli {

struct Expectation {
  std::string name;
  std::string spec;
  size_t fetch;  // index into RunRequest::fetches
};

struct RunRequest {
  std::vector<std::string> feed_names;  // of the graph's tensors
  std::vector<Tensor> feeds;
  std::vector<NamedSink> outputs;    // what the user sees
  std::vector<std::string> fetches;  // the outputs' tensors first, then what only --expect names
  std::vector<Expectation> expectations;
};

std::vector<Session::NamedTensor> NamedFeeds(const RunRequest& request);

// Reads --input, --inputs, --output, --expect. kUsage for names that the graph lacks, for values
// that do not fit a Placeholder, and for Placeholders that a fetch needs and nobody feeds: these
// come with a SPEC to copy. Arguments of a signature that nobody feeds get their defaults.
absl::StatusOr<RunRequest> ReadRequest(const Names& names, const RequestFlags& flags);

// What opt and explain work for: the fetches of --output, or else what the model answers; fed is
// all that it takes. kUsage for unknown names and for a graph without outputs.
struct Endpoints {
  std::vector<std::string> feeds, fetches;  // the graph's tensors
};
absl::StatusOr<Endpoints> RequestedEndpoints(const Names& names, const CompileFlags& flags);

}  // namespace tenon::cli
