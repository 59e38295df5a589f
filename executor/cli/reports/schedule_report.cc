#include "executor/cli/reports/schedule_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/run/run_recorder.h"

namespace tenon::cli {
namespace {

double LengthOf(const LaneSpan& span) { return span.stop_us - span.start_us; }

double IdleShare(const LaneSchedule& schedule, const Lane& lane) {
  return schedule.makespan_us > 0 ? 1 - lane.work_us / schedule.makespan_us : 0;
}

// By step of the graph: its task; -1 without tasks.
std::vector<int64_t> TasksOfSteps(const Plan& plan) {
  std::vector<int64_t> task_of(plan.steps.size(), -1);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    for (uint32_t i = plan.tasks[t].begin; i < plan.tasks[t].end; ++i)
      task_of[i] = static_cast<int64_t>(t);
  }
  return task_of;
}

// The indices of the `most` longest items, in their order.
template <typename Length>
std::vector<size_t> Longest(size_t count, size_t most, const Length& length) {
  std::vector<size_t> items(count);
  for (size_t i = 0; i < count; ++i) items[i] = i;
  if (count <= most) return items;
  std::ranges::stable_sort(items, [&](size_t a, size_t b) { return length(a) > length(b); });
  items.resize(most);
  std::ranges::sort(items);
  return items;
}

std::string NameOf(const StepLabel& label) {
  return label.node.empty() ? label.what : std::string(label.node);
}

std::string UsText(double us) {
  return us < 100 ? absl::StrFormat("%.2f", us) : absl::StrFormat("%.0f", us);
}
std::string IdleText(double share) { return absl::StrFormat("%.1f %%", share * 100); }

// "host 0  ####..##~~  ": a column stands for a part of the run; '#' where the lane works for most
// of what is not idle there, '~' where it waits.
std::string Bar(const LaneSchedule& schedule, int32_t lane, size_t columns) {
  std::vector<std::array<double, 2>> busy(columns);  // by column: of work and of waits
  const double column_us = schedule.makespan_us / static_cast<double>(columns);
  for (const LaneSpan& span : schedule.spans) {
    if (span.lane != lane || column_us <= 0) continue;
    const auto column = [&](double us) {
      return std::min(static_cast<size_t>(us / column_us), columns - 1);
    };
    for (size_t c = column(span.start_us), last = column(span.stop_us); c <= last; ++c) {
      const double begin = static_cast<double>(c) * column_us;
      busy[c][span.waits ? 1 : 0] +=
          std::max(0.0, std::min(span.stop_us, begin + column_us) - std::max(span.start_us, begin));
    }
  }
  std::string bar;
  for (const auto& [work, waits] : busy) {
    const double idle = column_us - work - waits;
    bar += work > 0 && work >= waits && work >= 0.1 * idle ? '#' : waits > idle ? '~' : '.';
  }
  return bar;
}

std::string LanesText(const LaneSchedule& schedule, const Style& style) {
  constexpr size_t kNarrowest = 20, kWidest = 60, kOthers = 50;
  const size_t columns =
      style.width() == 0
          ? kWidest
          : std::clamp(style.width(), kNarrowest + kOthers, kWidest + kOthers) - kOthers;
  Table table({"lane", ">work us", ">waits us", ">idle", "# works  ~ waits  . idle"});
  size_t idle_hosts = 0;
  for (size_t i = 0; i < schedule.lanes.size(); ++i) {
    const Lane& lane = schedule.lanes[i];
    if (lane.is_host && i > 0 && lane.work_us == 0 && lane.wait_us == 0) {
      ++idle_hosts;
      continue;
    }
    table.Row({style.Bold(lane.name), UsText(lane.work_us), UsText(lane.wait_us),
               IdleText(IdleShare(schedule, lane)),
               Bar(schedule, static_cast<int32_t>(i), columns)});
  }
  std::string text = table.Text(style);
  if (idle_hosts > 0)
    absl::StrAppend(&text, Plural(static_cast<int64_t>(idle_hosts), "more thread"),
                    " with nothing to do\n");
  return text;
}

// "MatMul a, Relu b and 3 more"
std::string StepsText(const Plan& plan, const PlanTask& task) {
  constexpr uint32_t kShown = 3;
  std::vector<std::string> names;
  for (uint32_t i = task.begin; i < std::min(task.end, task.begin + kShown); ++i)
    names.push_back(NameOf(LabelOf(plan, i)));
  std::string text = absl::StrJoin(names, ", ");
  if (task.end - task.begin > kShown)
    absl::StrAppend(&text, " and ", task.end - task.begin - kShown, " more");
  return text;
}

std::string LeftOut(size_t count, std::string_view noun, double us) {
  if (count == 0) return "";
  return absl::StrCat("and ", Plural(static_cast<int64_t>(count), noun), " of ", UsText(us),
                      " us in all; --json has them\n");
}

std::string TasksText(const LaneSchedule& schedule, const Style& style) {
  const Plan& plan = *schedule.plan;
  if (plan.tasks.empty()) return "";
  const auto length = [&](size_t t) {
    return schedule.tasks[t].stop_us - schedule.tasks[t].start_us;
  };
  const std::vector<size_t> shown = Longest(plan.tasks.size(), kMostRows, length);
  Table table({">task", "lane", ">start us", ">us", ">to the end", ">waits for", "then", "steps"});
  double left_us = 0;
  for (size_t t = 0; t < plan.tasks.size(); ++t) left_us += length(t);
  for (const size_t t : shown) {
    const PlanTask& task = plan.tasks[t];
    left_us -= length(t);
    std::vector<std::string> then;
    for (const int32_t f : task.followers) then.push_back(absl::StrCat(f));
    table.Row({absl::StrCat(t), schedule.lanes[schedule.tasks[t].lane].name,
               UsText(schedule.tasks[t].start_us), UsText(length(t)), UsText(task.path_us),
               absl::StrCat(task.waits_for), Listed(then), StepsText(plan, task)});
  }
  return absl::StrCat("\n", table.Text(style),
                      LeftOut(plan.tasks.size() - shown.size(), "shorter task", left_us));
}

std::string SpansText(const LaneSchedule& schedule, const Style& style) {
  const Plan& plan = *schedule.plan;
  const std::vector<int64_t> task_of = TasksOfSteps(plan);
  const std::vector<LaneSpan>& spans = schedule.spans;
  const std::vector<size_t> shown =
      Longest(spans.size(), kMostRows, [&](size_t i) { return LengthOf(spans[i]); });
  Table table({">step", ">task", "lane", ">start us", ">us", "op", "node"});
  double left_us = 0;
  for (const LaneSpan& span : spans) left_us += LengthOf(span);
  for (const size_t i : shown) {
    const LaneSpan& span = spans[i];
    const StepLabel label = LabelOf(plan, span.step);
    left_us -= LengthOf(span);
    table.Row({absl::StrCat(span.step),
               task_of[span.step] < 0 ? "-" : absl::StrCat(task_of[span.step]),
               schedule.lanes[span.lane].name, UsText(span.start_us), UsText(LengthOf(span)),
               absl::StrCat(span.queues  ? "queue "
                            : span.waits ? "wait: "
                                         : "",
                            label.what),
               std::string(label.node)});
  }
  return absl::StrCat("\n", table.Text(style),
                      LeftOut(spans.size() - shown.size(), "shorter span", left_us));
}

std::string CriticalText(const LaneSchedule& schedule) {
  constexpr size_t kShown = 12;
  const bool has_tasks = !schedule.plan->tasks.empty();
  const std::vector<uint32_t>& chain = schedule.critical.links;
  std::string text = absl::StrCat("critical path ", UsText(schedule.critical.us), " us, ",
                                  has_tasks ? "tasks " : "steps ");
  for (size_t i = 0; i < std::min(chain.size(), kShown); ++i)
    absl::StrAppend(&text, i == 0 ? "" : " > ", chain[i]);
  if (chain.size() > kShown) absl::StrAppend(&text, " and ", chain.size() - kShown, " more");
  return text + "\n";
}

}  // namespace

Json ScheduleJson(const LaneSchedule& schedule, size_t most_spans) {
  const Plan& plan = *schedule.plan;
  Json lanes = Json::Array(), tasks = Json::Array(), spans = Json::Array();
  for (const Lane& lane : schedule.lanes) {
    Json json = Json::Object();
    json.Set("name", lane.name)
        .Set("kind", lane.is_host ? "host" : "stream")
        .Set("work_us", lane.work_us)
        .Set("wait_us", lane.wait_us)
        .Set("idle_share", IdleShare(schedule, lane));
    lanes.Push(std::move(json));
  }
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const PlanTask& task = plan.tasks[t];
    const LaneTask& at = schedule.tasks[t];
    Json json = Json::Object();
    json.Set("task", t).Set("lane", at.lane);
    json.Set("start_us", at.start_us).Set("stop_us", at.stop_us);
    json.Set("cost_us", static_cast<double>(task.cost_us))
        .Set("path_us", static_cast<double>(task.path_us))
        .Set("waits_for", task.waits_for)
        .Set("then", Json::ArrayOf(task.followers))
        .Set("first_step", task.begin)
        .Set("steps", task.end - task.begin);
    tasks.Push(std::move(json));
  }
  const std::vector<int64_t> task_of = TasksOfSteps(plan);
  const std::vector<size_t> shown = Longest(schedule.spans.size(), most_spans,
                                            [&](size_t i) { return LengthOf(schedule.spans[i]); });
  for (const size_t i : shown) {
    const LaneSpan& span = schedule.spans[i];
    const StepLabel label = LabelOf(plan, span.step);
    Json json = Json::Object();
    json.Set("step", span.step)
        .Set("task", task_of[span.step] < 0 ? Json() : Json(task_of[span.step]))
        .Set("node", label.node)
        .Set("op", label.what)
        .Set("lane", span.lane)
        .Set("start_us", span.start_us)
        .Set("stop_us", span.stop_us)
        .Set("kind", span.waits    ? "wait"
                     : span.queues ? "queue"
                                   : "work");
    spans.Push(std::move(json));
  }
  Json json = Json::Object();
  json.Set("estimated", true)
      .Set("threads", schedule.threads)
      .Set("makespan_us", schedule.makespan_us)
      .Set("work_us", schedule.work_us)
      .Set("critical_path_us", schedule.critical.us)
      .Set("critical_path", Json::ArrayOf(schedule.critical.links))
      .Set("lanes", std::move(lanes))
      .Set("tasks", std::move(tasks))
      .Set("spans", std::move(spans));
  if (shown.size() < schedule.spans.size())
    json.Set("spans_left_out", schedule.spans.size() - shown.size());
  return json;
}

std::string ScheduleText(const LaneSchedule& schedule, const Style& style) {
  const Plan& plan = *schedule.plan;
  const std::string tasks =
      plan.tasks.empty() ? "one row" : Plural(static_cast<int64_t>(plan.tasks.size()), "task");
  return absl::StrCat(style.Bold("schedule"), ": ", Plural(schedule.threads, "thread"), ", ",
                      Plural(static_cast<int64_t>(plan.steps.size()), "step"), ", ", tasks,
                      "; all times are estimates, not measured\n", "run ",
                      UsText(schedule.makespan_us), " us, work ", UsText(schedule.work_us), " us, ",
                      CriticalText(schedule), "\n", LanesText(schedule, style),
                      TasksText(schedule, style), SpansText(schedule, style));
}

}  // namespace tenon::cli
