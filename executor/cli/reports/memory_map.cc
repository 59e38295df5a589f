#include "executor/cli/reports/memory_map.h"

#include <algorithm>
#include <utility>

#include "executor/cli/reports/run_reports.h"
#include "executor/run/control_steps.h"

namespace tenon::cli {
namespace {

constexpr size_t kMostValues = 3000;

// The output of the graph that the step writes as its output i. The step that opens a loop writes
// the variables of the loop.
Output WrittenAs(const Step& step, int32_t i) {
  const auto* const slow =
      step.fn == RunSlowStep ? static_cast<const SlowStep*>(step.state) : nullptr;
  const auto* const loop = dynamic_cast<const LoopStep*>(slow);
  return loop == nullptr ? Output{step.node, i} : loop->variables()[i].value;
}

}  // namespace

std::vector<ArenaValue> ValuesInArena(const Plan& plan) {
  std::vector<ArenaValue> values(plan.storages.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.node == kNoNode) continue;
    // Arguments of a step are its inputs, then its outputs.
    const size_t outputs = step.first_arg + step.num_inputs;
    for (size_t a = step.first_arg; a < plan.ArgsEnd(i); ++a) {
      const int32_t s = plan.args[a];
      if (s < 0 || plan.storages[s].where != Where::kArena) continue;
      ArenaValue& value = values[s];
      value.last = i;
      if (a < outputs || !value.name.empty()) continue;
      const Output written = WrittenAs(step, static_cast<int32_t>(a - outputs));
      value.name = plan.graph->OutputName(written);
      value.op = plan.graph->op_name(written.node);
      value.bytes = static_cast<int64_t>(plan.storages[s].bytes);
      value.offset = static_cast<int64_t>(plan.storages[s].offset);
      value.first = i;
    }
  }
  std::erase_if(values, [](const ArenaValue& v) { return v.name.empty(); });
  std::stable_sort(values.begin(), values.end(),
                   [](const ArenaValue& a, const ArenaValue& b) { return a.bytes > b.bytes; });
  return values;
}

Json ValueJson(const ArenaValue& value) {
  Json json = Json::Object();
  json.Set("name", value.name).Set("op", value.op).Set("bytes", value.bytes);
  json.Set("first_step", value.first).Set("last_step", value.last);
  return json;
}

Json MemoryJson(const Executable& executable) {
  const MemoryReport memory = MemoryOf(executable);
  Json json = Json::Object();
  json.Set("arena_bytes", memory.arena_bytes)
      .Set("arena_lower_bound_bytes", memory.arena_lower_bound_bytes)
      .Set("weights_bytes", memory.weights_bytes)
      .Set("peak_rss_mb", PeakRssMb());
  return json;
}

Json MemoryMapJson(const Executable& executable) {
  const std::shared_ptr<const Plan> plan = executable.last_plan();
  if (plan == nullptr) return {};
  const std::vector<ArenaValue> all = ValuesInArena(*plan);
  const size_t shown = std::min(all.size(), kMostValues);
  Json values = Json::Array();
  for (size_t i = 0; i < shown; ++i) {
    Json json = ValueJson(all[i]);
    json.Set("offset", all[i].offset);
    values.Push(std::move(json));
  }
  Json json = MemoryJson(executable);
  json.Set("steps", plan->steps.size())
      .Set("values", std::move(values))
      .Set("values_left_out", all.size() - shown);
  return json;
}

}  // namespace tenon::cli
