// --report: writes what the optimizer did as one page that loads nothing from the network.
#pragma once

#include <string>

#include "executor/session/session.h"
#include "executor/values/json.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// Records what each pass changed, for the page. An object observes one optimization: of a second
// one the changes would follow in the same list.
class PassHistory : public PipelineObserver {
 public:
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;

  // Returns one JSON object for each run of a pass, in the order of the runs; a skipped pass does
  // not run. The history is empty afterwards. The keys are:
  // - "pass" and "iteration", which counts from 0;
  // - "function": the function whose body the pass worked on; "" for the graph;
  // - "changed": true or false; false for a pass that was rolled back, but not where the work on a
  //   body was dropped later (PipelineObserver::BodyDropped);
  // - "count": the number of nodes that changed;
  // - "list": the first 1000 of these nodes, each as {"name", "before", "after"}. "name" is the
  //   text of NameInBody, "before" and "after" are NodeText. "before" is "" for a new node, "after"
  //   is "" for a node that was removed.
  std::vector<Json> TakeChanges() { return std::move(changes_); }

 private:
  std::vector<Json> changes_;
};

// Writes the page to `path`, with the guarantees of FileWriter. `title` is plain text. `report`,
// `history` and `provenance` must be of the optimization that made `after` from `before`.
//
// The page shows the passes on a time line with their changes, and both graphs with the bodies of
// their functions. Nodes can be searched. A node shows its attributes and, in `after`, where it
// comes from. Of each graph the page has at most 20,000 nodes, those of bodies included. The nodes
// of the graph itself come first, then body after body. A body that FunctionGraph::Make refuses is
// left out. The page says so if nodes are left out; the key "complete" of the graph is then false.
//
// `schedule`: a document of ScheduleJson, which the page draws as lanes; null: none.
//
// Leaves `history` empty, also after an error. Errors name --report and the file.
absl::Status WriteHtmlReport(const std::string& path, const std::string& title, const Graph& before,
                             const Graph& after, const PipelineReport& report, PassHistory& history,
                             const Provenance& provenance, Json schedule);

}  // namespace tenon::cli
