// Reports how many plans were built and how often one was used again.
#pragma once

#include <string>

#include "executor/session/session.h"
#include "executor/values/json.h"

namespace tenon::cli {

// The value of the key "plan_cache".
Json PlanCacheJson(const Executable& executable);
// "1 built, 9 reused (at most 64 kept)". If kernels were prepared in runs, this comes behind it:
// "; kernels prepared in runs 2, reused 8 (at most 32 kept a step)".
std::string PlanCacheText(const Executable& executable);

}  // namespace tenon::cli
