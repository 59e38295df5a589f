// --report: writes what is known of a model and its runs as one page that loads nothing from the
// network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "executor/cli/passes/fed_shapes.h"
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
  //   text of NameInBody, "before" and "after" are NodeText, cut at 2000 bytes ("… (N bytes)" is
  //   behind a text that was cut). "before" is "" for a new node, "after" for one that was removed.
  std::vector<Json> TakeChanges() { return std::move(changes_); }

 private:
  std::vector<Json> changes_;
};

// What a page is about. `report`, `history` and `provenance` must be of the optimization that made
// `after` from `before`. All that it refers to must outlive the call that takes it.
struct ReportSubject {
  std::string title;  // plain text
  const Graph& before;
  const Graph& after;
  const PipelineReport& report;
  PassHistory& history;  // is empty afterwards, also after an error
  const Provenance& provenance;
  // By node id of `after`. Empty: the page tells the devices that nodes ask for, and no placement.
  absl::Span<const NodePlacement> placement = {};
  // Tensors that were fed ("x", "x:0"), with their shapes, from which the shapes of other tensors
  // are inferred. Names that a graph does not have are skipped.
  FedShapes fed = {};
  // Further keys of the page's data, which tests and the scripts of the page know: "schedule"
  // (ScheduleJson), "times", "times_ms", "memory", "timeline", "critical_path", "results",
  // "answer", "bench", "about". What is missing or null is not shown.
  Json more = Json::Object();
};

// Writes the page to `path`, with the guarantees of FileWriter.
//
// The page draws both graphs, with the bodies of their functions, in scopes that fold; shows the
// passes with their changes, and what `more` holds. A node shows its attributes, each cut at 2000
// bytes. A node of `after` also shows where it comes from and, unless it is in a body, why it is on
// its device. Of each graph the page has at most 20,000 nodes, those of bodies included. The nodes
// of the graph itself come first, then body after body. A body that FunctionGraph::Make refuses is
// left out. The page says so if nodes are left out; the key "complete" of the graph is then false.
// No text of the model can end the script or load anything.
//
// Errors name --report and the file.
absl::Status WriteHtmlReport(const std::string& path, ReportSubject subject);

}  // namespace tenon::cli
