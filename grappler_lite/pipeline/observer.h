// How a run of the pipeline is watched. Passes know nothing of it.
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

// The graph from which the function is called whose body passes work on.
struct CallingGraph {
  std::function<Graph(const Graph& body)> with;  // the body as it is now in its function's place
  std::vector<std::string> fetches, feeds;
};

// A pass that is about to run, or has run.
struct PassRun {
  std::string_view pass;  // "remapping", "plugin:APU"
  int iteration = 0;      // from 0
  const Graph& before;
  absl::Span<const std::string> fetches;
  absl::Span<const std::string> feeds;   // nodes
  std::string_view function;             // whose body the graph is; empty: none's
  const CallingGraph* caller = nullptr;  // of that function
};

// A rewrite that a pass asked for.
struct RewriteEvent {
  std::string_view pass;
  std::string_view rewrite;  // empty: all that a pass from outside does
  std::string_view node;     // where it was found; empty: nowhere in particular
  bool allowed;
  std::string_view function;  // whose body it is in; empty: none's
};

// "pass.rewrite@node", with "@function" behind it in a body: the same from run to run.
std::string RewriteKey(const RewriteEvent& event);

// Runs the pass again on a copy of the graph of before, doing only what `allow` accepts: it gets
// the number of the rewrite, from 0 on, among those that the pass asks for this time. Empty for a
// pass from outside, which cannot be stopped half way.
using AllowRewrite = std::function<bool(int64_t number, const RewriteEvent& event)>;
using ReplayPass = std::function<absl::StatusOr<Graph>(const AllowRewrite& allow)>;

// Called on the thread that runs the pipeline, in the order in which things happen.
class PipelineObserver {
 public:
  virtual ~PipelineObserver() = default;
  // False for one that only wants to hear of passes that fail: watching every pass costs a copy of
  // the graph's arrays each time.
  virtual bool wants_every_pass() const { return true; }
  virtual void BeforePass(const PassRun& /*run*/) {}
  virtual void OnRewrite(const RewriteEvent& /*event*/) {}
  // Of a pass that changed the graph, before its work is kept: an error rolls it back.
  virtual absl::Status CheckPass(const PassRun& /*run*/, const Graph& /*after*/,
                                 const ReplayPass& /*replay*/) {
    return absl::OkStatus();
  }
  // `after` is the graph that the next pass gets.
  virtual void AfterPass(const PassRun& /*run*/, const Graph& /*after*/,
                         const PassReport& /*row*/) {}
  // What passes did in the body of this function is not kept after all; empty: in any body.
  virtual void BodyDropped(std::string_view /*function*/) {}
};

}  // namespace tenon
