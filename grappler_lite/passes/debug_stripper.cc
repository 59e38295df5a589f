// Takes out what only watches: assertions, checks for NaN, prints. Values stay; runs that these
// would have stopped go on, for which reason the pass is off unless asked for.
#include <algorithm>
#include <vector>

#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

struct Watcher {
  std::string_view op;
  std::string_view becomes;  // NoOp, or an Identity of its first input
  std::string_view rewrite;
};
constexpr Watcher kWatchers[] = {{"Assert", "NoOp", "remove_assert"},
                                 {"CheckNumerics", "Identity", "remove_check_numerics"},
                                 {"CheckNumericsV2", "Identity", "remove_check_numerics"},
                                 {"Print", "Identity", "remove_print"},
                                 {"PrintV2", "NoOp", "remove_print"}};

// Who waited for the watcher goes on waiting for what it watched.
bool Strip(PassContext& c, const Watcher& watcher, NodeId n) {
  Graph& g = c.graph;
  const bool has_value = watcher.becomes == "Identity";
  std::vector<Output> data, controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  for (const Output& in : g.data_inputs(n)) {
    if (has_value && data.empty()) {
      data.push_back(in);
    } else if (IsAwaitedByValueOnly(g, in.node)) {
      // A control edge from a Switch or a call waits for less than a read of the value.
      return false;
    } else if (const Output edge{in.node, kControlPort};
               std::find(controls.begin(), controls.end(), edge) == controls.end()) {
      controls.push_back(edge);
    }
  }
  NewAttrs attrs;
  if (has_value) attrs.push_back({"T", attr::Type(g.input_type(n, 0))});
  if (!c.HasKernel(n, watcher.becomes, attrs) || !c.Allow(watcher.rewrite, n)) return false;
  g.BecomeOp(n, watcher.becomes, std::move(attrs));
  g.SetInputs(n, data, controls);
  return true;
}

class DebugStripper : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    return {{"remove_assert", Exactness::kToleranced},
            {"remove_check_numerics", Exactness::kToleranced},
            {"remove_print", Exactness::kExact}};
  }

  absl::StatusOr<bool> Run(PassContext& context) override {
    bool changed = false;
    const Graph& g = context.graph;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n) || g.op(n) == nullptr || context.feeds.contains(n) || !context.Visit())
        continue;
      for (const Watcher& watcher : kWatchers) {
        if (g.op_name(n) == watcher.op) {
          changed |= Strip(context, watcher, n);
          break;
        }
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeDebugStripper() { return std::make_unique<DebugStripper>(); }

}  // namespace tenon
