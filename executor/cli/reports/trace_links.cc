#include "executor/cli/reports/trace_links.h"

#include <algorithm>
#include <map>
#include <string>

#include "executor/cli/reports/memory_map.h"
#include "executor/run/plan.h"

namespace tenon::cli {

std::vector<std::pair<uint32_t, uint32_t>> LinksOf(const Plan& plan) {
  constexpr uint32_t kNoStep = UINT32_MAX;
  // By storage: the step that wrote it last, and the copy that read it last.
  std::vector<uint32_t> writer(plan.storages.size(), kNoStep), copied = writer;
  std::vector<std::pair<uint32_t, uint32_t>> links;
  const auto on_stream = [&plan](uint32_t step) {
    return StreamOfStep(plan, step).device != nullptr;
  };
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const size_t outputs = step.first_arg + step.num_inputs;
    const std::string what = LabelOf(plan, i).what;
    if (what.starts_with("wait")) {
      // What comes out of a wait is the work of the copy that it waits for.
      uint32_t source = kNoStep;
      for (size_t a = step.first_arg; a < plan.ArgsEnd(i); ++a) {
        const int32_t s = plan.args[a];
        if (s < 0) continue;
        if (a < outputs) {
          source = copied[s] != kNoStep ? copied[s] : writer[s];
        } else if (source != kNoStep) {
          writer[s] = source;
        }
      }
      continue;
    }
    for (size_t a = step.first_arg; a < plan.ArgsEnd(i); ++a) {
      const int32_t s = plan.args[a];
      if (s < 0) continue;
      if (a < outputs && what.starts_with("copy")) copied[s] = i;
      if (a >= outputs) {
        writer[s] = i;
        copied[s] = kNoStep;
      } else if (writer[s] != kNoStep && (on_stream(i) || on_stream(writer[s]))) {
        links.emplace_back(writer[s], i);
      }
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

std::vector<MemoryInUse> MemoryOfRun(const RunSpan& run) {
  const std::vector<ArenaValue> values = ValuesInArena(*run.plan);
  if (values.empty()) return {};
  std::vector<int64_t> start(run.plan->steps.size(), -1), stop = start;
  for (const RunSpan::Step& step : run.steps) {
    // Of a loop's steps the first begin and the last end.
    if (start[step.index] < 0) start[step.index] = step.start_ns;
    stop[step.index] = step.stop_ns;
  }
  std::map<int64_t, int64_t> changes;
  for (const ArenaValue& value : values) {
    if (start[value.first] < 0 || stop[value.last] < start[value.first]) continue;
    changes[start[value.first]] += value.bytes;
    changes[stop[value.last]] -= value.bytes;
  }
  std::vector<MemoryInUse> in_use;
  int64_t bytes = 0;
  for (const auto& [at_ns, change] : changes) {
    if (change != 0) in_use.push_back({at_ns, bytes += change});
  }
  return in_use;
}

}  // namespace tenon::cli
