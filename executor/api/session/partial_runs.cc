#include "executor/api/session/partial_runs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "executor/api/base/op_text.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_handles.h"

namespace tenon::api {
namespace {

absl::Status NoSuchRun() {
  return absl::InvalidArgumentError("Must run 'setup' before performing partial runs!");
}

// The places of `names` in `known`. `used`: by place, whether an earlier call had it. `what` and
// `done` are words of the errors.
absl::StatusOr<std::vector<size_t>> PlacesOf(const std::vector<std::string>& names,
                                             const std::vector<std::string>& known,
                                             const std::vector<bool>& used, std::string_view what,
                                             std::string_view done) {
  std::vector<size_t> places;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("The ", what, " ", name, " was not specified in partial_run_setup."));
    }
    places.push_back(static_cast<size_t>(found - known.begin()));
    if (used[places.back()])
      return absl::InvalidArgumentError(
          absl::StrCat("The ", what, " ", name, " has already been ", done, "."));
  }
  return places;
}

// TensorFlow's words for a value whose type is not that of the output that it stands for.
absl::Status WrongFeed(std::string_view feed, DataType given, DataType declared) {
  return absl::InternalError(absl::StrCat("Output 0 of type ", TypeText(given),
                                          " does not match declared output type ",
                                          TypeText(declared), " for node {{node _recv_",
                                          absl::StrReplaceAll(feed, {{":", "_"}}), "}}"));
}

TypeVector TypesOf(const Graph& graph, const std::vector<Output>& outputs) {
  TypeVector types;
  for (const Output& output : outputs) types.push_back(BaseType(graph.output_type(output)));
  return types;
}

bool AllOf(const std::vector<bool>& set) {
  return std::find(set.begin(), set.end(), false) == set.end();
}

}  // namespace

PartialRuns::Run::Run(std::shared_ptr<Setup> s, const EndNames& ends)
    : setup(std::move(s)), fed(ends.feeds.size(), false) {
  // What is only run has no value to fetch. An output that stands twice is fetched once.
  absl::flat_hash_set<std::string_view> known;
  for (const std::string& fetch : ends.fetches)
    fetched.push_back(fetch.starts_with('^') || !known.insert(fetch).second);
}

absl::StatusOr<std::shared_ptr<PartialRuns::Setup>> PartialRuns::SetupFor(const EndNames& ends) {
  const auto known = setups_.find(ends);
  if (known != setups_.end()) return known->second;
  const Graph& graph = core_.session().graph();
  absl::StatusOr<std::unique_ptr<RunPhases>> phases =
      RunPhases::Make(graph, ends.feeds, ends.fetches);
  std::shared_ptr<Setup> setup;
  if (phases.ok()) {
    TypeVector types = TypesOf(graph, (*phases)->request().feeds);
    setup = std::make_shared<Setup>(*std::move(phases), std::move(types));
  } else {
    absl::Status status = core_.Explained(phases.status());
    if (UnfedPlaceholder(graph, phases.status()) == kNoNode) return status;
    setup = std::make_shared<Setup>(std::move(status));
  }
  return setups_.emplace(ends, std::move(setup)).first->second;
}

absl::StatusOr<std::string> PartialRuns::SetUp(const EndNames& ends) {
  TENON_RETURN_IF_ERROR(CheckEnds(ends.feeds, ends.fetches));
  TENON_RETURN_IF_ERROR(CheckExecutorType(core_.config().executor_type));
  std::string handle =
      absl::StrCat(absl::StrJoin(ends.feeds, ","), "->", absl::StrJoin(ends.fetches, ","), "/");
  absl::MutexLock lock(&mutex_);
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Setup> setup, SetupFor(ends));
  absl::StrAppend(&handle, next_++);
  runs_.emplace(handle, std::make_shared<Run>(std::move(setup), ends));
  return handle;
}

std::shared_ptr<PartialRuns::Run> PartialRuns::Find(const std::string& handle) {
  absl::MutexLock lock(&mutex_);
  const auto found = runs_.find(handle);
  return found == runs_.end() ? nullptr : found->second;
}

// A call that waits for its turn finds the status.
void PartialRuns::End(const std::string& handle, Run& run) {
  run.status = NoSuchRun();
  absl::MutexLock lock(&mutex_);
  runs_.erase(handle);
}

absl::StatusOr<PartialRuns::Call> PartialRuns::Read(Run& run, const EndNames& ends) {
  absl::MutexLock lock(&run.setup->mutex);
  const RunPhases& phases = *run.setup->phases;
  const Request& request = phases.request();
  Call call;
  TENON_ASSIGN_OR_RETURN(call.feeds,
                         PlacesOf(ends.feeds, request.feed_names, run.fed, "feed", "fed"));
  TENON_ASSIGN_OR_RETURN(
      call.fetches, PlacesOf(ends.fetches, request.fetch_names, run.fetched, "fetch", "fetched"));
  FedSet fed = run.fed;
  for (const size_t place : call.feeds) {
    fed[place] = true;
    call.fed.push_back(request.feeds[place]);
  }
  for (const size_t place : call.fetches) {
    call.fetched.push_back(request.fetches[place]);
    Output missing;
    if (phases.IsDue(request.fetches[place], fed, &missing)) continue;
    const auto feed = std::find(request.feeds.begin(), request.feeds.end(), missing);
    return absl::InvalidArgumentError(
        absl::StrCat("Fetch ", request.feed_names[feed - request.feeds.begin()],
                     " can't be computed from the feeds that have been fed so far."));
  }
  return call;
}

// Computes what is due with `fed`. The lock of the setup is held while the phase is looked for, and
// perhaps compiled, but not while the phase runs: runs that are set up alike share phases, and may
// compute at the same time.
absl::Status PartialRuns::RunPhase(Run& run, const FedSet& fed) {
  const Phase* phase = nullptr;
  {
    absl::MutexLock lock(&run.setup->mutex);
    const absl::StatusOr<const Phase*> found =
        run.setup->phases->Find(run.has_begun ? &run.fed : nullptr, fed, core_.session());
    if (!found.ok()) return AsNoted(found.status());
    phase = *found;
  }
  run.has_begun = true;
  run.fed = fed;
  if (phase->executable == nullptr) return absl::OkStatus();
  std::vector<Tensor> feeds;
  for (const Output& feed : phase->feeds) feeds.push_back(run.values[feed]);
  const RunLimits limits = core_.LimitsOf(absl::ZeroDuration());
  absl::StatusOr<std::vector<Tensor>> values =
      core_.session().Run(phase->executable, feeds, nullptr, &limits);
  if (!values.ok()) return AsNoted(values.status());
  for (size_t i = 0; i < phase->fetches.size(); ++i)
    run.values[phase->fetches[i]] = std::move((*values)[i]);
  return absl::OkStatus();
}

FedSet PartialRuns::Feed(Run& run, const Call& call, const EndNames& ends,
                         absl::Span<TF_Tensor* const> inputs) {
  FedSet fed = run.fed;
  for (size_t i = 0; i < call.feeds.size(); ++i) {
    fed[call.feeds[i]] = true;
    // Of two values for one input the first counts, as in TensorFlow.
    if (!run.values.try_emplace(call.fed[i], inputs[i]->value()).second) continue;
    const DataType declared = run.setup->feed_types[call.feeds[i]];
    if (inputs[i]->dtype != declared && run.wrong_feed.ok())
      run.wrong_feed = WrongFeed(ends.feeds[i], inputs[i]->dtype, declared);
  }
  return fed;
}

absl::Status PartialRuns::Continue(const std::string& handle, const EndNames& ends,
                                   absl::Span<TF_Tensor* const> inputs,
                                   absl::Span<TF_Tensor*> outputs) {
  const std::shared_ptr<Run> run = Find(handle);
  if (run == nullptr) return NoSuchRun();
  absl::MutexLock lock(&run->mutex);
  TENON_RETURN_IF_ERROR(run->status);
  if (!run->setup->status.ok()) {
    End(handle, *run);
    return run->setup->status;
  }
  TENON_ASSIGN_OR_RETURN(const Call call, Read(*run, ends));
  const FedSet fed = Feed(*run, call, ends, inputs);
  absl::Status status = run->wrong_feed;
  if (status.ok()) {
    status = RunPhase(*run, fed);
  } else if (call.fetches.empty() && !(AllOf(fed) && AllOf(run->fetched))) {
    run->fed = fed;
    return absl::OkStatus();
  }
  if (!status.ok()) {
    End(handle, *run);
    return status;
  }
  for (size_t i = 0; i < call.fetches.size(); ++i) {
    outputs[i] = NewTensorHandle(run->values[call.fetched[i]]);
    run->fetched[call.fetches[i]] = true;
  }
  if (AllOf(run->fed) && AllOf(run->fetched)) End(handle, *run);
  return absl::OkStatus();
}

}  // namespace tenon::api
