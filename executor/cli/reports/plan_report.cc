#include "executor/cli/reports/plan_report.h"

#include "absl/strings/str_cat.h"

namespace tenon::cli {

Json PlanCacheJson(const Executable& executable) {
  const PlanCacheReport r = PlanCacheOf(executable);
  Json json = Json::Object();
  json.Set("plans_built", r.builds)
      .Set("plans_reused", r.hits)
      .Set("plans_kept", r.plans)
      .Set("max_plans", r.max_plans)
      .Set("kernels_prepared_in_runs", r.late_builds)
      .Set("kernels_reused_in_runs", r.late_hits)
      .Set("max_prepared_per_step", r.max_late);
  return json;
}

std::string PlanCacheText(const Executable& executable) {
  const PlanCacheReport r = PlanCacheOf(executable);
  std::string text =
      absl::StrCat(r.builds, " built, ", r.hits, " reused (at most ", r.max_plans, " kept)");
  if (r.late_builds > 0)
    absl::StrAppend(&text, "; kernels prepared in runs ", r.late_builds, ", reused ", r.late_hits,
                    " (at most ", r.max_late, " kept a step)");
  return text;
}

}  // namespace tenon::cli
