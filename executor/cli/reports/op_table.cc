// Reports time by op and by node, from the steps of recorded runs.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/reports/lane_table.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/run/plan.h"
#include "executor/values/statistics.h"

namespace tenon::cli {
namespace {

struct Row {
  std::string name, op, device;  // no name: the row is of all nodes with this op
  int64_t count = 0, total_ns = 0, max_ns = 0;
  std::vector<int64_t> run_ns;  // sum of each run that had such a step
  double p50_us = 0;            // median over runs
  double estimate_us = 0;       // of all steps; Plan::step_costs_us
};

double Micros(int64_t ns) { return static_cast<double>(ns) / 1000; }
double Mean(const Row& row) { return Micros(row.total_ns) / static_cast<double>(row.count); }
std::string Number(double v) { return absl::StrFormat("%.2f", v); }

std::vector<const RunSpan*> WholeRuns(const RunRecorder& recorder) {
  std::vector<const RunSpan*> whole;
  for (const RunSpan& run : recorder.runs()) {
    if (run.whole) whole.push_back(&run);
  }
  return whole;
}

// The runs to tell of: those that were recorded whole, or else the one of which most is known.
std::vector<const RunSpan*> RunsOf(const RunRecorder& recorder) {
  std::vector<const RunSpan*> runs = WholeRuns(recorder);
  if (!runs.empty() || recorder.runs().empty()) return runs;
  return {&*std::max_element(
      recorder.runs().begin(), recorder.runs().end(),
      [](const RunSpan& a, const RunSpan& b) { return a.steps.size() < b.steps.size(); })};
}

// "of 12 runs; us a run: the median"
std::string CountText(const std::vector<const RunSpan*>& runs) {
  const auto count = static_cast<int64_t>(runs.size());
  if (count == 1 && !runs[0]->whole)
    return absl::StrCat("of the first ", runs[0]->steps.size(), " steps of a run");
  return absl::StrCat("of ", Plural(count, "run"), count > 1 ? "; us a run: the median" : "");
}

// The median over all runs; a run without such a step counts as 0.
double MedianOfRuns(const Row& row, size_t runs) {
  std::vector<double> us(runs - row.run_ns.size(), 0.0);
  for (const int64_t ns : row.run_ns) us.push_back(Micros(ns));
  return Median(std::move(us));
}

// Sums steps up by what `key` says of each; the row that takes longest comes first.
template <typename Key>
std::vector<Row> Rows(const std::vector<const RunSpan*>& runs, Key key) {
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const RunSpan* run : runs) {
    absl::flat_hash_map<Row*, int64_t> of_run;
    for (const RunSpan::Step& step : run->steps) {
      const StepLabel label = LabelOf(*run->plan, step.index);
      Row& row = rows[{key(label), std::string(label.device)}];
      if (row.count++ == 0) row.op = label.what;
      const int64_t ns = step.stop_ns - step.start_ns;
      row.total_ns += ns;
      row.max_ns = std::max(row.max_ns, ns);
      if (const auto& costs = run->plan->step_costs_us; !costs.empty())
        row.estimate_us += costs[step.index];
      of_run[&row] += ns;
    }
    for (const auto& [row, ns] : of_run) row->run_ns.push_back(ns);
  }
  std::vector<Row> sorted;
  for (auto& [names, row] : rows) {
    std::tie(row.name, row.device) = names;
    row.p50_us = MedianOfRuns(row, runs.size());
    sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.p50_us > b.p50_us; });
  return sorted;
}

// The time of a run, as the sum over rows.
double Sum(const std::vector<Row>& rows) {
  double sum = 0;
  for (const Row& row : rows) sum += row.p50_us;
  return sum;
}

// What was expected of a run that had such a step.
double Estimate(const Row& row) { return row.estimate_us / static_cast<double>(row.run_ns.size()); }

double Share(const Row& row, double of) { return of == 0 ? 0 : row.p50_us / of; }

Json OpsJson(const std::vector<Row>& ops) {
  const double sum = Sum(ops);
  Json table = Json::Array();
  for (const Row& row : ops) {
    Json json = Json::Object();
    json.Set("op", row.op).Set("device", row.device).Set("count", row.count);
    json.Set("p50_us", row.p50_us).Set("total_us", Micros(row.total_ns));
    json.Set("mean_us", Mean(row)).Set("max_us", Micros(row.max_ns)).Set("share", Share(row, sum));
    json.Set("estimate_us", Estimate(row));
    table.Push(std::move(json));
  }
  return table;
}

Json NodesJson(const std::vector<Row>& nodes) {
  const double sum = Sum(nodes);
  Json table = Json::Array();
  for (const Row& row : nodes) {
    Json json = Json::Object();
    json.Set("name", row.name).Set("op", row.op).Set("device", row.device);
    json.Set("p50_us", row.p50_us).Set("thread_share", Share(row, sum));
    json.Set("estimate_us", Estimate(row));
    table.Push(std::move(json));
  }
  return table;
}

std::string OpsCsv(const std::vector<Row>& ops) {
  const double sum = Sum(ops);
  std::string text = "op,device,count,total_us,mean_us,max_us,share,p50_us,estimate_us\n";
  for (const Row& row : ops)
    absl::StrAppendFormat(&text, "%s,%s,%d,%.3f,%.3f,%.3f,%.4f,%.3f,%.3f\n", row.op, row.device,
                          row.count, Micros(row.total_ns), Mean(row), Micros(row.max_ns),
                          Share(row, sum), row.p50_us, Estimate(row));
  return text;
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", share * 100); }

std::string OpsText(const std::vector<Row>& ops, const std::vector<const RunSpan*>& runs,
                    const Style& style) {
  const double sum = Sum(ops);
  Table table(
      {"op", ">share", ">us a run", ">estimate us", ">nodes", ">mean us", ">max us", "device"});
  for (const Row& row : ops) {
    table.Row({style.Bold(row.op), Percent(Share(row, sum)), Number(row.p50_us),
               Number(Estimate(row)),
               absl::StrCat(row.count / static_cast<int64_t>(row.run_ns.size())), Number(Mean(row)),
               Number(Micros(row.max_ns)), row.device});
  }
  return absl::StrCat(table.Text(style), CountText(runs), "\n");
}

std::string NodesText(const std::vector<Row>& nodes, const Style& style) {
  constexpr size_t kShown = 10;
  const double sum = Sum(nodes);
  Table table({"node", ">share", ">us a run", ">estimate us", "op", "device"});
  for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
    const Row& row = nodes[i];
    table.Row({style.Bold(row.name), Percent(Share(row, sum)), Number(row.p50_us),
               Number(Estimate(row)), row.op, row.device});
  }
  return table.Text(style);
}

}  // namespace

void AddOpTable(const RunRecorder& recorder, std::string_view form, Invocation& invocation) {
  const std::vector<const RunSpan*> runs = RunsOf(recorder);
  const std::vector<Row> ops = Rows(runs, [](const StepLabel& label) { return label.what; });
  if (!invocation.json() && form == "csv") {
    invocation.text = OpsCsv(ops);
    return;
  }
  if (!invocation.json() && form == "lanes-csv") return AddLaneTable(runs, form, invocation);
  const std::vector<Row> nodes = Rows(runs, [](const StepLabel& label) {
    return label.node.empty() ? label.what : std::string(label.node);
  });
  if (invocation.json()) {
    invocation.doc.Set("op_table", OpsJson(ops)).Set("nodes", NodesJson(nodes));
    AddLaneTable(runs, form, invocation);
    return;
  }
  absl::StrAppend(&invocation.text, "\n", OpsText(ops, runs, invocation.style), "\n",
                  NodesText(nodes, invocation.style));
  AddLaneTable(runs, form, invocation);
}

}  // namespace tenon::cli
