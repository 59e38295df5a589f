// Reports what the memory of a session holds: constants, the arena, and the largest values in it.
#include <sys/resource.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/run/plan.h"
#include "executor/session/executable.h"

namespace tenon::cli {
namespace {

constexpr size_t kLargest = 10;

struct Value {
  std::string name, op;
  int64_t bytes = 0;
  // The step that writes the value first, and the step that reads it last.
  size_t first = 0, last = 0;
};

// The largest values in the arena, by storage. A value that is overwritten in place counts once, as
// what it was first.
std::vector<Value> LargestInArena(const Plan& plan) {
  std::vector<Value> values(plan.storages.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.node == kNoNode) continue;
    // Arguments of a step are its inputs, then its outputs.
    const size_t outputs = step.first_arg + step.num_inputs;
    for (size_t a = step.first_arg; a < plan.ArgsEnd(i); ++a) {
      const int32_t s = plan.args[a];
      if (s < 0 || plan.storages[s].where != Where::kArena) continue;
      Value& value = values[s];
      value.last = i;
      if (a < outputs || !value.name.empty()) continue;
      value.name = plan.graph->OutputName({step.node, static_cast<int32_t>(a - outputs)});
      value.op = plan.graph->op_name(step.node);
      value.bytes = static_cast<int64_t>(plan.storages[s].bytes);
      value.first = i;
    }
  }
  std::erase_if(values, [](const Value& v) { return v.name.empty(); });
  std::stable_sort(values.begin(), values.end(),
                   [](const Value& a, const Value& b) { return a.bytes > b.bytes; });
  values.resize(std::min(values.size(), kLargest));
  return values;
}

}  // namespace

double PeakRssMb() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void AddMemory(const Executable& executable, Invocation& invocation) {
  const MemoryReport memory = MemoryOf(executable);
  const std::shared_ptr<const Plan> plan = executable.last_plan();
  const std::vector<Value> largest = plan == nullptr ? std::vector<Value>() : LargestInArena(*plan);
  if (invocation.json()) {
    Json values = Json::Array();
    for (const Value& v : largest) {
      Json json = Json::Object();
      json.Set("name", v.name).Set("op", v.op).Set("bytes", v.bytes);
      json.Set("first_step", v.first).Set("last_step", v.last);
      values.Push(std::move(json));
    }
    Json json = Json::Object();
    json.Set("arena_bytes", memory.arena_bytes)
        .Set("arena_lower_bound_bytes", memory.arena_lower_bound_bytes)
        .Set("weights_bytes", memory.weights_bytes)
        .Set("peak_rss_mb", PeakRssMb())
        .Set("largest", std::move(values));
    invocation.doc.Set("memory", std::move(json));
    return;
  }
  const Style& style = invocation.style;
  absl::StrAppend(&invocation.text, "\n", style.Dim("memory  "), "weights ",
                  Bytes(memory.weights_bytes), ", arena ", Bytes(memory.arena_bytes), " (at least ",
                  Bytes(memory.arena_lower_bound_bytes), "), process at most ",
                  absl::StrFormat("%.1f MB", PeakRssMb()), "\n");
  Table table({"largest in the arena", "op", ">bytes", ">from step", ">to step"});
  for (const Value& v : largest)
    table.Row(
        {style.Bold(v.name), v.op, Bytes(v.bytes), absl::StrCat(v.first), absl::StrCat(v.last)});
  if (!table.empty()) absl::StrAppend(&invocation.text, table.Text(style));
}

}  // namespace tenon::cli
