// The interface for watching a run of the pipeline. Passes do not see it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

struct PassReport;

// Passes may work on the body of a function. This is the graph that calls the function.
struct CallingGraph {
  // The calling graph with `body` as the new body of the function.
  std::function<Graph(const Graph& body)> with;
  std::vector<std::string> fetches, feeds;
};

// One run of one pass, before it or after it. All views and references are valid during the call of
// the observer only.
struct PassRun {
  std::string_view pass;                  // "remapping", "plugin:APU"
  int iteration = 0;                      // from 0
  const Graph& before;                    // the graph that the pass gets
  absl::Span<const std::string> fetches;  // as Graph::OutputName writes them
  absl::Span<const std::string> feeds;    // names of nodes
  std::string_view function;              // the graph is the body of this function; empty: of none
  const CallingGraph* caller = nullptr;   // the graph that calls `function`
};

// A rewrite for which a pass asked the gate, and on which the gate decided. Rewrites that the user
// has switched off, or for which the pass has no budget left, are refused without an event. The
// views are valid during the call of the observer.
struct RewriteEvent {
  std::string_view pass;
  std::string_view rewrite;   // empty: the whole work of a plug-in's pass
  std::string_view node;      // the node at which the pattern was found; empty: the whole graph
  bool allowed;               // what the gate answered
  std::string_view function;  // the graph is the body of this function; empty: of none
};

// "pass.rewrite@node"; in the body of a function "pass.rewrite@node@function". Of a plug-in's pass
// "plugin:APU@". The same from run to run, so that a rewrite can be named on a command line.
std::string RewriteKey(const RewriteEvent& event);

// Decides on one rewrite of a replay. `number` counts the decisions of this replay, from 0.
using AllowRewrite = std::function<bool(int64_t number, const RewriteEvent& event)>;
// Runs the pass again on a copy of the graph of before, with only the rewrites that `allow`
// accepts. Returns the new graph, which is not verified, or the error of the pass. Empty for a
// plug-in's pass, which cannot be stopped half way. Valid during CheckPass only.
using ReplayPass = std::function<absl::StatusOr<Graph>(const AllowRewrite& allow)>;

// The pipeline calls an observer on the thread of the run, in the order of events: BeforePass,
// OnRewrite for each RewriteEvent, CheckPass if the pass changed the graph and its result verifies,
// AfterPass. Passes that are skipped make no call.
class PipelineObserver {
 public:
  virtual ~PipelineObserver() = default;
  // False for an observer that needs only the passes that fail. Watching every pass costs a copy of
  // the graph's arrays for each. Where nothing else needs the copies (RunPipeline), and no observer
  // wants every pass, the pipeline calls OnRewrite alone at first. If a pass fails or the result
  // does not verify, it starts again and makes every call, OnRewrite included.
  virtual bool wants_every_pass() const { return true; }
  virtual void BeforePass(const PassRun& /*run*/) {}
  virtual void OnRewrite(const RewriteEvent& /*event*/) {}
  // Called after a pass that changed the graph. An error rolls the pass back and becomes the reason
  // in its report; observers behind this one are then not asked.
  virtual absl::Status CheckPass(const PassRun& /*run*/, const Graph& /*after*/,
                                 const ReplayPass& /*replay*/) {
    return absl::OkStatus();
  }
  // `after` is the graph that the next pass gets: after a rollback, the graph of before. The
  // members nodes_after, edges_after and bytes_after of `row` are not set yet.
  virtual void AfterPass(const PassRun& /*run*/, const Graph& /*after*/,
                         const PassReport& /*row*/) {}
  // The caller has dropped the work of passes on the body of `function`, so that calls find the
  // body of before. Empty: on every body.
  virtual void BodyDropped(std::string_view /*function*/) {}
};

}  // namespace tenon
