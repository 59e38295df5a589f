#include "executor/cli/indictment.h"

#include <algorithm>

#include "executor/cli/answers.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/expect.h"
#include "executor/cli/feeds.h"
#include "executor/proof/difference.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

JudgeValue JudgeFrom(const Options& options) {
  const bool told = options.rtol || options.atol || options.max_ulp || options.equal_nan;
  if (!told) {
    return [](const Tensor& right, const Tensor& is) -> std::optional<std::string> {
      const auto difference = FindDifference(right, is, Sameness::kBound);
      return difference ? std::optional(difference->what) : std::nullopt;
    };
  }
  return [tolerance = ToleranceFrom(options)](const Tensor& right,
                                              const Tensor& is) -> std::optional<std::string> {
    if (!right.initialized() && !is.initialized()) return std::nullopt;
    const Comparison comparison = Compare(is, right, tolerance);
    return comparison.ok ? std::nullopt : std::optional(comparison.problem);
  };
}

absl::Status FillInputs(Indictment& indictment, const Options& options) {
  Suspect& suspect = indictment.suspect;
  if (!options.inputs.empty() || !options.input_files.empty()) {
    TENON_ASSIGN_OR_RETURN(const RunRequest request,
                           ReadRequest(indictment.bench.names(), options));
    suspect.fetches = request.fetches;
    InputSet given{"given", true, {}};
    for (size_t i = 0; i < request.feeds.size(); ++i)
      given.feeds.emplace_back(request.feed_names[i], request.feeds[i]);
    suspect.inputs = {std::move(given)};
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Endpoints ends,
                         RequestedEndpoints(indictment.bench.names(), options));
  suspect.fetches = ends.fetches;
  absl::StatusOr<std::vector<InputSet>> sets = MakeInputSets(suspect.graph, ends.feeds);
  if (!sets.ok())
    return UsageError(absl::StrCat(sets.status().message(), "; give them with --input"));
  suspect.inputs = *std::move(sets);
  std::erase_if(suspect.inputs, [](const InputSet& set) { return !set.ordinary; });
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Indictment>> OpenIndictment(const Options& options) {
  auto indictment = std::make_unique<Indictment>();
  TENON_ASSIGN_OR_RETURN(indictment->bench, OpenWorkbench(options));
  indictment->suspect.graph = indictment->bench.graph();
  TENON_RETURN_IF_ERROR(FillInputs(*indictment, options));
  Workbench& bench = indictment->bench;
  const auto begin = [&bench, &options](Session& session) {
    return InitializeState(session, bench, options);
  };
  indictment->court = std::make_unique<Court>(bench.host->devices(), bench.session_options,
                                              JudgeFrom(options), begin);
  return indictment;
}

}  // namespace tenon::cli
