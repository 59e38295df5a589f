// Reports what the memory of a session holds: constants, the arena, and the largest values in it.
#include <sys/resource.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/reports/memory_map.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/run/plan.h"
#include "executor/session/executable.h"

namespace tenon::cli {
namespace {

constexpr size_t kLargest = 10;

}  // namespace

double PeakRssMb() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void AddMemory(const Executable& executable, Invocation& invocation) {
  const MemoryReport memory = MemoryOf(executable);
  const std::shared_ptr<const Plan> plan = executable.last_plan();
  std::vector<ArenaValue> largest;
  if (plan != nullptr) largest = ValuesInArena(*plan);
  largest.resize(std::min(largest.size(), kLargest));
  if (invocation.json()) {
    Json values = Json::Array();
    for (const ArenaValue& value : largest) values.Push(ValueJson(value));
    Json json = MemoryJson(executable);
    json.Set("largest", std::move(values));
    invocation.doc.Set("memory", std::move(json));
    return;
  }
  const Style& style = invocation.style;
  absl::StrAppend(&invocation.text, "\n", style.Dim("memory  "), "weights ",
                  Bytes(memory.weights_bytes), ", arena ", Bytes(memory.arena_bytes), " (at least ",
                  Bytes(memory.arena_lower_bound_bytes), "), process at most ",
                  absl::StrFormat("%.1f MB", PeakRssMb()), "\n");
  Table table({"largest in the arena", "op", ">bytes", ">from step", ">to step"});
  for (const ArenaValue& v : largest)
    table.Row(
        {style.Bold(v.name), v.op, Bytes(v.bytes), absl::StrCat(v.first), absl::StrCat(v.last)});
  if (!table.empty()) absl::StrAppend(&invocation.text, table.Text(style));
}

}  // namespace tenon::cli
