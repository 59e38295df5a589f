// Time by op: what the steps of all recorded runs took together.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/run/plan.h"

namespace tenon::cli {
namespace {

struct Row {
  std::string op, device;
  int64_t count = 0, total_ns = 0, max_ns = 0;
};

// The largest total first.
std::vector<Row> Rows(const RunRecorder& recorder) {
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (const RunSpan& run : recorder.runs()) {
    for (const RunSpan::Step& step : run.steps) {
      StepLabel label = LabelOf(*run.plan, step.index);
      Row& row = rows[{label.what, std::string(label.device)}];
      const int64_t ns = step.stop_ns - step.start_ns;
      ++row.count;
      row.total_ns += ns;
      row.max_ns = std::max(row.max_ns, ns);
    }
  }
  std::vector<Row> sorted;
  for (auto& [key, row] : rows) {
    std::tie(row.op, row.device) = key;
    sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.total_ns > b.total_ns; });
  return sorted;
}

double Micros(int64_t ns) { return static_cast<double>(ns) / 1000; }
double Mean(const Row& row) { return Micros(row.total_ns) / static_cast<double>(row.count); }
std::string Number(double v) { return absl::StrFormat("%.2f", v); }

}  // namespace

void AddOpTable(const RunRecorder& recorder, std::string_view form, Invocation& invocation) {
  const std::vector<Row> rows = Rows(recorder);
  int64_t total = 0;
  for (const Row& row : rows) total += row.total_ns;
  const auto share = [total](const Row& row) {
    return total == 0 ? 0 : static_cast<double>(row.total_ns) / static_cast<double>(total);
  };
  if (invocation.json()) {
    Json table = Json::Array();
    for (const Row& row : rows) {
      Json json = Json::Object();
      json.Set("op", row.op).Set("device", row.device).Set("count", row.count);
      json.Set("total_us", Micros(row.total_ns)).Set("mean_us", Mean(row));
      json.Set("max_us", Micros(row.max_ns)).Set("share", share(row));
      table.Push(std::move(json));
    }
    invocation.doc.Set("op_table", std::move(table));
    return;
  }
  if (form == "csv") {
    invocation.text = "op,device,count,total_us,mean_us,max_us,share\n";
    for (const Row& row : rows)
      absl::StrAppendFormat(&invocation.text, "%s,%s,%d,%.3f,%.3f,%.3f,%.4f\n", row.op, row.device,
                            row.count, Micros(row.total_ns), Mean(row), Micros(row.max_ns),
                            share(row));
    return;
  }
  Table table({"op", ">share", ">count", ">total us", ">mean us", ">max us", "device"});
  for (const Row& row : rows) {
    table.Row({invocation.style.Bold(row.op), absl::StrFormat("%.1f %%", share(row) * 100),
               absl::StrCat(row.count), Number(Micros(row.total_ns)), Number(Mean(row)),
               Number(Micros(row.max_ns)), row.device});
  }
  const size_t runs = recorder.runs().size();
  absl::StrAppend(&invocation.text, "\n", table.Text(invocation.style), "of ",
                  Plural(static_cast<int64_t>(runs), "run"), "\n");
}

}  // namespace tenon::cli
