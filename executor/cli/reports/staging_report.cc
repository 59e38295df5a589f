#include "executor/cli/reports/staging_report.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/plan.h"
#include "executor/session/executable.h"
#include "executor/values/text.h"
#include "plugin/host/devices/pluggable_device.h"

namespace tenon::cli {
namespace {

std::vector<std::pair<std::string, HostStagingFacts>> StagingOfDevices(const Executable& e) {
  std::vector<std::pair<std::string, HostStagingFacts>> rows;
  const auto plan = e.last_plan();
  if (plan == nullptr) return rows;
  for (const Device* device : plan->devices) {
    if (auto facts = HostStagingOf(*device))
      rows.emplace_back(device->short_name(), *std::move(facts));
  }
  return rows;
}

}  // namespace

Json HostStagingJson(const Executable& executable) {
  Json rows = Json::Array();
  for (const auto& [device, facts] : StagingOfDevices(executable)) {
    Json row = Json::Object();
    row.Set("device", device)
        .Set("mode", facts.mode)
        .Set("why", facts.why)
        .Set("regions", facts.regions)
        .Set("pool_bytes", facts.pool_bytes)
        .Set("staged", facts.staged)
        .Set("straight", facts.straight)
        .Set("unstaged", facts.unstaged)
        .Set("pool_targets", facts.pool_targets)
        .Set("other_targets", facts.other_targets);
    rows.Push(std::move(row));
  }
  return rows;
}

std::vector<std::string> HostStagingLines(const Executable& executable) {
  std::vector<std::string> lines;
  for (const auto& [device, f] : StagingOfDevices(executable)) {
    if (f.staged + f.straight + f.unstaged + f.pool_targets + f.other_targets == 0) continue;
    lines.push_back(absl::StrCat(device, ": large copies to it ", f.staged, " staged, ", f.straight,
                                 " straight, ", f.unstaged, " from other memory (staging ", f.mode,
                                 ": ", f.why, "); from it ", f.pool_targets, " into its ",
                                 Bytes(f.pool_bytes), " of host memory, ", f.other_targets,
                                 " into other memory"));
  }
  return lines;
}

}  // namespace tenon::cli
