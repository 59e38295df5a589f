// The text form of a plan, for people.
#pragma once

#include <string>

#include "executor/run/plan.h"

namespace tenon {

// One line with the totals, then one line for each step: its index, its node and op, the storages
// that it reads and the storages that it writes. In front of the first step of each task stands a
// line of the task: its number, its estimated times, how many tasks it waits for, its followers.
//
// "@64+16" is the arena from byte 64 on, 16 bytes long; "const+16" a constant; "feed0",
// "fetch-buffer0" and "tensor0" are numbered; "-" is an argument that the step does not use. "(in
// place)" follows a written storage that the step also reads. A SlowStep has its Describe() in
// brackets behind the op, with its liveness flag unless it always runs. A step without a node has
// its Describe() alone behind the index.
std::string PlanToText(const Plan& plan);

}  // namespace tenon
