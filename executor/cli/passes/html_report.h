// --report: what the optimizer did, as one page without anything from elsewhere.
#pragma once

#include <string>

#include "executor/session/session.h"
#include "executor/values/json.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// What each pass changed, kept for the page.
class PassHistory : public PipelineObserver {
 public:
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;

  // By pass that ran, in their order: lists of {"name", "before", "after"}.
  std::vector<Json> TakeChanges() { return std::move(changes_); }

 private:
  std::vector<Json> changes_;
};

// Writes the page: passes on a time line with what each changed, and both graphs and their
// functions' bodies with search, a node's attributes and, in the optimized one, where it comes
// from.
absl::Status WriteHtmlReport(const std::string& path, const std::string& title, const Graph& before,
                             const Graph& after, const PipelineReport& report, PassHistory& history,
                             const Provenance& provenance);

}  // namespace tenon::cli
