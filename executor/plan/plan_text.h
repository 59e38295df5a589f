// A plan as people read it.
#pragma once

#include <string>

#include "executor/run/plan.h"

namespace tenon {

// One line per step: its node, what it reads and what it writes.
std::string PlanToText(const Plan& plan);

}  // namespace tenon
