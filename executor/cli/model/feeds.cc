// Turns flags into feeds, fetches and expectations. A feed of the command line goes before the
// default that the signature has for it.

#include "executor/cli/model/feeds.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/model.h"
#include "executor/cli/tensors/array_file.h"
#include "executor/cli/tensors/spec.h"
#include "executor/values/tensor_text.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

// What to do about arguments that no SPEC can write; empty if there are none.
std::string WithoutSpecs(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return absl::StrCat("; no SPEC can write ", absl::StrJoin(names, ", "),
                      ": feed with --input NODE=SPEC what the graph computes from ",
                      names.size() == 1 ? "it" : "them",
                      ", or choose with --output what does not need ",
                      names.size() == 1 ? "it" : "them");
}

// The status with the flag and its name in front.
absl::Status Prefixed(std::string_view flag, std::string_view name, const absl::Status& status) {
  return Annotate(status, absl::StrCat(flag, " ", name, ": "));
}

absl::Status CheckFits(const Graph& graph, std::string_view name, Output output,
                       const Tensor& value, bool from_file) {
  const SpecHint hint = HintFor(graph, output);
  const bool dtype_fits = hint.dtype == DataType::kInvalid || BaseType(hint.dtype) == value.dtype();
  if (dtype_fits && hint.shape.CompatibleWith(value.shape())) return absl::OkStatus();
  const std::string right =
      HasSpecs(hint.dtype) ? absl::StrCat(", such as ", name, "=", SuggestSpec(hint))
                           : ", which no SPEC can write; feed what is computed from it instead";
  return WithExit(
      from_file ? Exit::kInvalidInput : Exit::kUsage,
      absl::InvalidArgumentError(absl::StrCat(
          "--input ", name, ": the value is ", TypeText(value.dtype(), value.shape()),
          " where the graph takes ", TypeText(BaseType(hint.dtype), hint.shape), right)));
}

absl::StatusOr<std::vector<NamedSink>> RequestedOutputs(const Names& names,
                                                        const CompileFlags& flags) {
  std::vector<NamedSink> outputs;
  for (const std::string& text : flags.outputs) {
    const std::string_view command = flags.defaults.writes_nothing;
    if (!command.empty() && absl::StrContains(text, '=')) {
      return UsageError(absl::StrCat("--output '", text, "': graph_run ", command,
                                     " writes no tensors; only run has SINKs"));
    }
    TENON_ASSIGN_OR_RETURN(NamedSink named, ParseSink(text));
    // Only an archive holds several tensors.
    const bool alone = named.sink != "-" && !absl::EndsWith(named.sink, ".npz");
    if (alone && std::ranges::find(outputs, named.sink, &NamedSink::sink) != outputs.end())
      return UsageError(absl::StrCat("--output ", text, ": another --output has the same file"));
    outputs.push_back(std::move(named));
  }
  if (!flags.outputs.empty()) return outputs;
  for (std::string& name : names.Results()) outputs.push_back({std::move(name), "-"});
  if (outputs.empty())
    return UsageError(
        absl::StrCat(flags.paths.front(), ": the graph has no outputs; name some with --output"));
  return outputs;
}

class Reader {
 public:
  Reader(const Names& names, const RequestFlags& flags)
      : names_(names), graph_(names.graph()), flags_(flags) {}

  absl::StatusOr<RunRequest> Read(bool make_up) {
    for (const std::string& text : flags_.inputs) TENON_RETURN_IF_ERROR(ReadInput(text));
    for (const std::string& path : flags_.input_files) TENON_RETURN_IF_ERROR(ReadArchive(path));
    // After the feeds of the command line, which win.
    TENON_RETURN_IF_ERROR(FeedDefaults());
    TENON_ASSIGN_OR_RETURN(request_.outputs, RequestedOutputs(names_, flags_));
    for (const NamedSink& output : request_.outputs)
      TENON_RETURN_IF_ERROR(AddFetch(output.name, "--output").status());
    for (const std::string& text : flags_.expects) TENON_RETURN_IF_ERROR(ReadExpect(text));
    if (make_up) TENON_RETURN_IF_ERROR(MakeUpFeeds());
    TENON_RETURN_IF_ERROR(CheckUnfed());
    return std::move(request_);
  }

 private:
  absl::Status Feed(std::string_view flag, std::string_view name, Output output, Tensor value,
                    bool from_file) {
    if (std::find(fed_.begin(), fed_.end(), output) != fed_.end())
      return UsageError(absl::StrCat(flag, " ", name, ": is fed twice"));
    TENON_RETURN_IF_ERROR(CheckFits(graph_, name, output, value, from_file));
    fed_.push_back(output);
    request_.feed_names.push_back(graph_.OutputName(output));
    request_.feeds.push_back(std::move(value));
    return absl::OkStatus();
  }

  absl::Status ReadInput(const std::string& text) {
    TENON_ASSIGN_OR_RETURN(const NamedSpec named, SplitNamedSpec(text));
    TENON_ASSIGN_OR_RETURN(const Output output, names_.Argument("--input", named.name));
    absl::StatusOr<Tensor> value = ParseSpec(named.spec, HintFor(graph_, output));
    if (!value.ok()) return Prefixed("--input", named.name, value.status());
    const bool from_file = named.spec.find('@') < named.spec.find('"');  // else it is in a string
    return Feed("--input", named.name, output, *std::move(value), from_file);
  }

  absl::Status ReadArchive(const std::string& path) {
    const auto type_of = [this](const std::string& key) -> absl::StatusOr<DataType> {
      TENON_ASSIGN_OR_RETURN(const Output output, names_.Argument("--inputs", key));
      return HintFor(graph_, output).dtype;
    };
    TENON_ASSIGN_OR_RETURN(auto arrays, LoadArchive(path, type_of));
    for (auto& [key, value] : arrays) {
      TENON_ASSIGN_OR_RETURN(const Output output, names_.Argument("--inputs", key));
      TENON_RETURN_IF_ERROR(Feed("--inputs", key, output, std::move(value), true));
    }
    return absl::OkStatus();
  }

  absl::Status FeedDefaults() {
    if (names_.signature() == nullptr) return absl::OkStatus();
    for (const SignatureTensor& t : names_.signature()->inputs) {
      if (!t.default_value.initialized()) continue;
      TENON_ASSIGN_OR_RETURN(const Output output, names_.Argument("--input", t.name));
      if (std::find(fed_.begin(), fed_.end(), output) != fed_.end()) continue;
      TENON_RETURN_IF_ERROR(Feed("--input", t.name, output, t.default_value, true));
    }
    return absl::OkStatus();
  }

  // Returns the index of the fetch. Each --output is a fetch of its own, as values are written by
  // output; an --expect shares the fetch of its tensor.
  absl::StatusOr<size_t> AddFetch(const std::string& name, std::string_view flag) {
    TENON_ASSIGN_OR_RETURN(const Output output, names_.Result(flag, name));
    const auto found =
        flag == "--expect" ? std::find(fetched_.begin(), fetched_.end(), output) : fetched_.end();
    if (found != fetched_.end()) return static_cast<size_t>(found - fetched_.begin());
    fetched_.push_back(output);
    request_.fetches.push_back(graph_.OutputName(output));
    return fetched_.size() - 1;
  }

  absl::Status ReadExpect(const std::string& text) {
    TENON_ASSIGN_OR_RETURN(const NamedSpec named, SplitNamedSpec(text));
    TENON_ASSIGN_OR_RETURN(const size_t fetch, AddFetch(std::string(named.name), "--expect"));
    request_.expectations.push_back({std::string(named.name), std::string(named.spec), fetch});
    return absl::OkStatus();
  }

  // "x=1x20xf32=random(seed=1)": the argument of --input that feeds a placeholder of a type with
  // SPECs.
  std::string SuggestedInput(NodeId n) const {
    return absl::StrCat(names_.NameOf(n), "=", SuggestSpec(DeclaredInput(graph_, n)));
  }

  absl::Status MakeUpFeeds() {
    for (const NodeId n : UnfedPlaceholders(graph_, fetched_, fed_)) {
      if (!HasSpecs(DeclaredInput(graph_, n).dtype)) continue;
      TENON_RETURN_IF_ERROR(ReadInput(SuggestedInput(n)));
      request_.made_up.push_back(SuggestedInput(n));
    }
    return absl::OkStatus();
  }

  absl::Status CheckUnfed() {
    const std::vector<NodeId> unfed = UnfedPlaceholders(graph_, fetched_, fed_);
    if (unfed.empty()) return absl::OkStatus();
    std::string arguments;
    std::vector<std::string> without_specs;
    for (const NodeId n : unfed) {
      const SpecHint hint = DeclaredInput(graph_, n);
      if (HasSpecs(hint.dtype)) {
        absl::StrAppend(&arguments, " --input '", SuggestedInput(n), "'");
      } else {
        without_specs.push_back(names_.NameOf(n));
      }
    }
    const NodeId first = unfed.front();
    const SpecHint hint = DeclaredInput(graph_, first);
    const std::string others =
        unfed.size() > 1 ? absl::StrCat(" and ", unfed.size() - 1, " more") : "";
    return UsageError(absl::StrCat(
        graph_.Locate(first), ": nothing is fed to Placeholder '", graph_.name(first), "' (",
        TypeText(hint.dtype, hint.shape), ")", others, ", which the outputs need",
        arguments.empty() ? "" : "; add", arguments, WithoutSpecs(without_specs)));
  }

  const Names& names_;
  const Graph& graph_;
  const RequestFlags& flags_;
  RunRequest request_;
  std::vector<Output> fed_, fetched_;
};

}  // namespace

std::vector<Session::NamedTensor> NamedFeeds(const RunRequest& request) {
  std::vector<Session::NamedTensor> feeds;
  for (size_t i = 0; i < request.feeds.size(); ++i)
    feeds.emplace_back(request.feed_names[i], request.feeds[i]);
  return feeds;
}

absl::StatusOr<Endpoints> RequestedEndpoints(const Names& names, const CompileFlags& flags) {
  Endpoints ends;
  for (const std::string& name : names.Arguments()) {
    TENON_ASSIGN_OR_RETURN(const Output output, names.Argument("--input", name));
    std::string feed = names.graph().OutputName(output);  // which two arguments may share
    if (std::find(ends.feeds.begin(), ends.feeds.end(), feed) == ends.feeds.end())
      ends.feeds.push_back(std::move(feed));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<NamedSink> outputs, RequestedOutputs(names, flags));
  for (const NamedSink& named : outputs) {
    TENON_ASSIGN_OR_RETURN(const Output output, names.Result("--output", named.name));
    ends.fetches.push_back(names.graph().OutputName(output));
  }
  return ends;
}

absl::StatusOr<RunRequest> ReadRequest(const Names& names, const RequestFlags& flags) {
  return Reader(names, flags).Read(/*make_up=*/false);
}

absl::StatusOr<RunRequest> ReadRequestOrMakeUp(const Names& names, const RequestFlags& flags) {
  return Reader(names, flags).Read(flags.inputs.empty() && flags.input_files.empty());
}

}  // namespace tenon::cli
