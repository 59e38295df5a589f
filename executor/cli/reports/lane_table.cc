#include "executor/cli/reports/lane_table.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/run/slow_steps.h"
#include "executor/session/lane_schedule.h"

namespace tenon::cli {
namespace {

double MicrosOf(int64_t ns) { return static_cast<double>(ns) / 1000; }
std::string UsOf(double us) { return absl::StrFormat("%.2f", us); }

bool IsWait(const Plan& plan, uint32_t index) {
  const Step& step = plan.steps[index];
  return step.fn == RunSlowStep && static_cast<const SlowStep*>(step.state)->Waits();
}

struct ThreadRow {
  int64_t steps = 0;
  int64_t work_ns = 0, wait_ns = 0;  // of all runs
  double critical_us = 0;            // of the critical path
};

// The time in which a run went on: runs at once count once.
int64_t TimeOf(const std::vector<const RunSpan*>& runs) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const RunSpan* run : runs) spans.emplace_back(run->planned_ns, run->stop_ns);
  std::ranges::sort(spans);
  int64_t time = 0, end = INT64_MIN;
  for (const auto& [start, stop] : spans) {
    time += std::max<int64_t>(0, stop - std::max(start, end));
    end = std::max(end, stop);
  }
  return time;
}

// By step of the graph: what it took in a run, with what it ran. What a branch or a loop runs ends
// before it on the same thread.
std::vector<double> StepTimes(const RunSpan& run, std::vector<int>& lane_of) {
  const uint32_t main_steps = run.plan->main_steps;
  std::vector<double> us(main_steps, 0);
  lane_of.assign(main_steps, 0);
  std::map<int, double> within;  // by thread
  for (const RunSpan::Step& step : run.steps) {
    within[step.lane] += MicrosOf(step.stop_ns - step.start_ns);
    if (step.index >= main_steps) continue;
    us[step.index] += std::exchange(within[step.lane], 0);
    lane_of[step.index] = step.lane;
  }
  return us;
}

const RunSpan& MedianRun(std::vector<const RunSpan*> runs) {
  const auto middle = runs.begin() + static_cast<ptrdiff_t>(runs.size() / 2);
  std::ranges::nth_element(runs, middle, {},
                           [](const RunSpan* run) { return run->stop_ns - run->planned_ns; });
  return **middle;
}

struct CriticalPath {
  const RunSpan& run;
  Chain chain;
  std::vector<double> us;  // by link
  bool of_tasks;
};

// Notes in `threads` which of them ran the chain.
CriticalPath FindCriticalPath(const RunSpan& run, std::map<int, ThreadRow>& threads) {
  const Plan& plan = *run.plan;
  std::vector<int> lane_of;
  const std::vector<double> us = StepTimes(run, lane_of);
  CriticalPath path{run, LongestChain(plan, us), {}, !plan.tasks.empty()};
  for (const uint32_t link : path.chain.links) {
    const uint32_t begin = path.of_tasks ? plan.tasks[link].begin : link;
    const uint32_t end = path.of_tasks ? plan.tasks[link].end : link + 1;
    double sum = 0;
    for (uint32_t i = begin; i < end; ++i) {
      sum += us[i];
      threads[lane_of[i]].critical_us += us[i];
    }
    path.us.push_back(sum);
  }
  return path;
}

Json PathJson(const CriticalPath& path) {
  Json links = Json::Array();
  for (size_t i = 0; i < path.us.size(); ++i) {
    const uint32_t link = path.chain.links[i];
    const Plan& plan = *path.run.plan;
    const StepLabel label = LabelOf(plan, path.of_tasks ? plan.tasks[link].begin : link);
    Json json = Json::Object();
    json.Set(path.of_tasks ? "task" : "step", link)
        .Set("us", path.us[i])
        .Set("node", label.node)
        .Set("op", label.what);
    links.Push(std::move(json));
  }
  Json json = Json::Object();
  json.Set("run_us", MicrosOf(path.run.stop_ns - path.run.planned_ns))
      .Set("us", path.chain.us)
      .Set("of", path.of_tasks ? "tasks" : "steps")
      .Set("links", std::move(links));
  return json;
}

// The longest links of the chain, in its order.
std::string PathText(const CriticalPath& path, const Style& style) {
  constexpr size_t kShown = 10;
  const Plan& plan = *path.run.plan;
  std::vector<size_t> shown(path.us.size());
  for (size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  std::ranges::stable_sort(shown, [&](size_t a, size_t b) { return path.us[a] > path.us[b]; });
  double left_us = 0;
  for (size_t i = kShown; i < shown.size(); ++i) left_us += path.us[shown[i]];
  const size_t left = shown.size() - std::min(shown.size(), kShown);
  shown.resize(shown.size() - left);
  std::ranges::sort(shown);
  const std::string_view link = path.of_tasks ? "task" : "step";
  Table table({absl::StrCat(">", link), ">us", "op", "node"});
  for (const size_t i : shown) {
    const uint32_t number = path.chain.links[i];
    const uint32_t first = path.of_tasks ? plan.tasks[number].begin : number;
    const StepLabel label = LabelOf(plan, first);
    const uint32_t more = path.of_tasks ? plan.tasks[number].end - first - 1 : 0;
    table.Row({absl::StrCat(number), UsOf(path.us[i]), label.what,
               absl::StrCat(std::string(label.node),
                            more > 0 ? absl::StrCat(" and ", Plural(more, "step")) : "")});
  }
  std::string text = absl::StrCat(
      style.Bold("critical path"), " ", UsOf(path.chain.us), " us of a run of ",
      UsOf(MicrosOf(path.run.stop_ns - path.run.planned_ns)),
      " us: ", Plural(static_cast<int64_t>(path.us.size()), link),
      path.of_tasks ? " that wait for each other\n" : " that read each other's results\n",
      table.Text(style));
  if (left > 0)
    absl::StrAppend(&text, "and ",
                    Plural(static_cast<int64_t>(left), absl::StrCat("shorter ", link)), " of ",
                    UsOf(left_us), " us in all\n");
  return text;
}

}  // namespace

void AddLaneTable(const std::vector<const RunSpan*>& runs, std::string_view form,
                  Invocation& invocation) {
  if (runs.empty()) return;
  std::map<int, ThreadRow> threads;
  for (const RunSpan* run : runs) {
    for (const RunSpan::Step& step : run->steps) {
      ThreadRow& row = threads[step.lane];
      ++row.steps;
      (IsWait(*run->plan, step.index) ? row.wait_ns : row.work_ns) += step.stop_ns - step.start_ns;
    }
  }
  const CriticalPath path = FindCriticalPath(MedianRun(runs), threads);
  const auto count = static_cast<double>(runs.size());
  const int64_t time = TimeOf(runs);
  const auto idle = [&](const ThreadRow& row) {
    const double busy = static_cast<double>(row.work_ns + row.wait_ns);
    return time > 0 ? std::max(0.0, 1 - busy / static_cast<double>(time)) : 0;
  };
  if (invocation.json()) {
    Json lanes = Json::Array();
    for (const auto& [thread, row] : threads) {
      Json json = Json::Object();
      json.Set("thread", thread).Set("steps", row.steps);
      json.Set("work_us", MicrosOf(row.work_ns) / count)
          .Set("wait_us", MicrosOf(row.wait_ns) / count)
          .Set("idle_share", idle(row))
          .Set("critical_us", row.critical_us);
      lanes.Push(std::move(json));
    }
    invocation.doc.Set("lanes", std::move(lanes)).Set("critical_path", PathJson(path));
    return;
  }
  if (form == "lanes-csv") {
    invocation.text = "thread,steps,work_us,wait_us,idle_share,critical_us\n";
    for (const auto& [thread, row] : threads)
      absl::StrAppendFormat(&invocation.text, "%d,%d,%.3f,%.3f,%.4f,%.3f\n", thread, row.steps,
                            MicrosOf(row.work_ns) / count, MicrosOf(row.wait_ns) / count, idle(row),
                            row.critical_us);
    return;
  }
  Table table({">thread", ">mean us a run", ">waits us", ">idle", ">steps a run", ">critical us"});
  for (const auto& [thread, row] : threads) {
    table.Row({absl::StrCat(thread), UsOf(MicrosOf(row.work_ns) / count),
               UsOf(MicrosOf(row.wait_ns) / count), absl::StrFormat("%.1f %%", idle(row) * 100),
               absl::StrFormat("%.1f", static_cast<double>(row.steps) / count),
               UsOf(row.critical_us)});
  }
  absl::StrAppend(&invocation.text, "\n", table.Text(invocation.style), "\n",
                  PathText(path, invocation.style));
}

}  // namespace tenon::cli
