// Reads from the flags what a run is fed with and which outputs it returns.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/names.h"
#include "executor/cli/options/request_flags.h"
#include "executor/cli/tensors/sink.h"
#include "executor/session/session.h"

namespace tenon::cli {

// One --expect: an output and the value that it must have.
struct Expectation {
  std::string name;
  std::string spec;
  size_t fetch;  // index into RunRequest::fetches
};

// The feeds, outputs and expected values of one run. `feed_names` and `feeds` have one order.
struct RunRequest {
  std::vector<std::string> feed_names;  // tensors of the graph
  std::vector<Tensor> feeds;
  std::vector<NamedSink> outputs;  // the outputs that the user asked for
  // The tensors of `outputs`, in their order, then those that only --expect names.
  std::vector<std::string> fetches;
  std::vector<Expectation> expectations;
};

// The names and values of the feeds, in their order. Shares the buffers.
std::vector<Session::NamedTensor> NamedFeeds(const RunRequest& request);

// Reads --input, --inputs, --output and --expect. Arguments of a signature that are not fed get
// their defaults. kUsage: a name that the graph lacks, a value that does not fit the Placeholder,
// or a Placeholder that a fetch needs and that is not fed; the message then has a SPEC to copy.
// kInvalidInput: a file cannot be read, or its value does not fit.
absl::StatusOr<RunRequest> ReadRequest(const Names& names, const RequestFlags& flags);

// The ends of the graph that opt and explain work for. Feeds are all arguments of the model, each
// once. Fetches are those of --output, or else all results of the model.
struct Endpoints {
  std::vector<std::string> feeds, fetches;  // tensors of the graph
};
// kUsage: a name is unknown, or the graph has no outputs.
absl::StatusOr<Endpoints> RequestedEndpoints(const Names& names, const CompileFlags& flags);

}  // namespace tenon::cli
