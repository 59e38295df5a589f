// --report: writes what the optimizer did as one page that loads nothing from the network.
#pragma once

#include <string>

#include "executor/session/session.h"
#include "executor/values/json.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// Records what each pass changed, for the page. Observes one optimization.
class PassHistory : public PipelineObserver {
 public:
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;

  // An object for each pass that ran, in their order: "pass", "iteration", "function", "changed",
  // "count", and "list", the first 1000 changes as {"name", "before", "after"}. Moves them out; the
  // history is empty then.
  std::vector<Json> TakeChanges() { return std::move(changes_); }

 private:
  std::vector<Json> changes_;
};

// Writes the page to `path`. It shows the passes on a time line with their changes, and both graphs
// with the bodies of their functions. Nodes can be searched; a node shows its attributes and, in
// the optimized graph, where it comes from. Of a graph at most 20,000 nodes are written. Takes the
// changes out of `history`. Errors name --report and the file.
absl::Status WriteHtmlReport(const std::string& path, const std::string& title, const Graph& before,
                             const Graph& after, const PipelineReport& report, PassHistory& history,
                             const Provenance& provenance);

}  // namespace tenon::cli
