// The text form of a plan, for people.
#pragma once

#include <string>

#include "executor/run/plan.h"

namespace tenon {

// One line for each step: its node, the storages that it reads and the storages that it writes.
std::string PlanToText(const Plan& plan);

}  // namespace tenon
