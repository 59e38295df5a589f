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
  std::string name;  // as the user wrote it
  std::string spec;  // not parsed yet; ParseSpec reads it
  size_t fetch;      // index into RunRequest::fetches
};

// The feeds, outputs and expected values of one run. `feed_names` and `feeds` have the same order
// and length.
struct RunRequest {
  std::vector<std::string> feed_names;  // tensors of the graph
  std::vector<Tensor> feeds;
  // What ReadRequestOrMakeUp made up, as arguments of --input: "x=1x20xf32=random(seed=1)".
  std::vector<std::string> made_up;
  // The outputs that --output names. Without --output, all results of the model, each printed.
  std::vector<NamedSink> outputs;
  // fetches[i] is the tensor of outputs[i], or "^node" for a node without outputs; a tensor that is
  // named twice stands twice. Behind them are the tensors that only --expect names, each once.
  std::vector<std::string> fetches;
  std::vector<Expectation> expectations;
};

// Pairs of request.feed_names and request.feeds, in their order. The tensors share the buffers of
// the request.
std::vector<Session::NamedTensor> NamedFeeds(const RunRequest& request);

// Reads --input, --inputs, --output and --expect. Arguments of a signature that are not fed get
// their defaults, if they have one. Errors are those of Names, SplitNamedSpec, ParseSpec,
// LoadArchive and ParseSink, and:
// - kUsage: a tensor is fed twice, also by --input and --inputs together.
// - kUsage: a value of the command line does not fit the tensor that it is fed to.
// - kUsage: a fetch needs a Placeholder that is not fed. The message has a SPEC to copy for each
//   such Placeholder of a type that has SPECs.
// - kUsage: --output has a SINK where the command writes no tensors, two --output name one file
//   that is no .npz, or there is no --output and the graph has no outputs.
// - kInvalidInput: a file cannot be read, or its value does not fit; or a default does not fit.
absl::StatusOr<RunRequest> ReadRequest(const Names& names, const RequestFlags& flags);

// The same, but if there is neither --input nor --inputs, each Placeholder that a fetch needs is
// fed what the kUsage error would tell the user to add: for a command whose times hardly depend on
// values. Unknown dimensions are 1. A Placeholder of a type that has no SPECs stays an error.
absl::StatusOr<RunRequest> ReadRequestOrMakeUp(const Names& names, const RequestFlags& flags);

// The feeds and fetches of a command that has no values to feed. Feeds are all arguments of the
// model, each tensor once. Fetches are those of --output, or else all results of the model; a
// tensor that is named twice stands twice.
struct Endpoints {
  std::vector<std::string> feeds, fetches;  // tensors of the graph
};
// Errors are those of Names and ParseSink, and kUsage: --output has a SINK where the command writes
// no tensors, or there is no --output and the graph has no outputs.
absl::StatusOr<Endpoints> RequestedEndpoints(const Names& names, const CompileFlags& flags);

}  // namespace tenon::cli
