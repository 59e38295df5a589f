// explain --schedule: a plan as lanes.
#pragma once

#include <string>

#include "executor/session/lane_schedule.h"
#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// The value of the key "schedule". Times are estimated microseconds from the beginning of the run.
// - "estimated": true; "threads", "makespan_us", "work_us", "critical_path_us";
// - "critical_path": numbers of tasks, or of steps of a plan without tasks;
// - "lanes": {"name", "kind": "host" or "stream", "work_us", "wait_us", "idle_share"};
// - "tasks": {"task", "lane", "start_us", "stop_us", "cost_us", "path_us", "waits_for", "then",
//   "first_step", "steps"}; "lane" is an index into "lanes", `waits_for` counts tasks;
// - "spans": {"step", "task", "node", "op", "lane", "start_us", "stop_us", "kind"}, by start. The
//   kind is "work", "wait" or "queue". "task" is null in a plan without tasks. Only the
//   `most_spans` longest, and then "spans_left_out" counts the others.
Json ScheduleJson(const LaneSchedule& schedule, size_t most_spans);

// The same for people: the totals, a drawing of the lanes, and tables of tasks and steps, each of
// kMostRows rows at most: the longest, and a line on the others.
inline constexpr size_t kMostRows = 40;
std::string ScheduleText(const LaneSchedule& schedule, const Style& style);

}  // namespace tenon::cli
