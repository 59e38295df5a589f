// The stage Inlined. It is the first part of the pass function_optimization: calls go before nodes
// are placed, so that what they brought is placed too.
#include <algorithm>
#include <utility>

#include "executor/compile/pass_input.h"
#include "executor/compile/passes/plugin_passes.h"
#include "executor/compile/stages.h"
#include "executor/compile/stopwatch.h"
#include "executor/lowering/call_inliner.h"
#include "executor/state/fixed_variables.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

absl::Status Inline(const RunSet& run, const CompileContext& context, Inlined& inlined) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, OrderOf(inlined.graph, run));
  PassSurroundings surroundings(context);
  PipelineInput input = surroundings.InputFor(inlined.request);
  InlineBudget budget;
  LoweringInliner inliner(order, input, inlined.calls, budget);
  input.inliner = &inliner;
  PipelineOptions options = context.options.pipeline;
  AddSwitchedOff(context.devices, options);
  TENON_ASSIGN_OR_RETURN(inlined.pipeline, RunUnplacedPasses(inlined.graph, input, options));
  const auto undone = [](const PassReport& pass) { return pass.failed || pass.left_undone; };
  // A pass that was rolled back: the nodes that its call sites speak of are gone.
  if (std::ranges::any_of(inlined.pipeline.passes, undone)) inlined.calls = CallSites();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Inlined> InlineCalls(Requested requested, const CompileContext& context) {
  const Stopwatch watch;
  Inlined inlined{std::move(requested.graph), std::move(requested.request), {}, {}, {}};
  PipelineReport& report = inlined.pipeline;
  report.nodes_before = report.nodes_after = inlined.graph.num_nodes();
  report.rewrites_left = context.options.pipeline.bisect_limit;
  if (context.options.opt_level > 0 && !inlined.graph.functions().empty())
    TENON_RETURN_IF_ERROR(Inline(requested.run, context, inlined));
  if (context.fixed != nullptr) TENON_RETURN_IF_ERROR(context.fixed->ReplaceReads(inlined.graph));
  inlined.times.optimize = watch.Milliseconds();
  return inlined;
}

}  // namespace tenon
