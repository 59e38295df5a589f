#include "executor/cli/reports/timeline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/cli/reports/stream_spans.h"
#include "executor/run/plan.h"

namespace tenon::cli {
namespace {

constexpr size_t kMostSpans = 5000;  // a browser draws so many with ease

struct TimelineSpan {
  size_t row;
  int64_t start_ns, stop_ns;
  uint32_t step;
};

std::vector<const RunSpan*> ByLength(const RunRecorder& recorder) {
  std::vector<const RunSpan*> runs;
  for (const RunSpan& run : recorder.runs()) {
    if (run.whole) runs.push_back(&run);
  }
  std::stable_sort(runs.begin(), runs.end(), [](const RunSpan* a, const RunSpan* b) {
    return a->stop_ns - a->planned_ns < b->stop_ns - b->planned_ns;
  });
  return runs;
}

Json TimelineRow(const std::string& name, std::string_view kind) {
  Json row = Json::Object();
  row.Set("name", name).Set("kind", kind);
  return row;
}

Json TimelineSpanJson(const RunSpan& run, const TimelineSpan& span) {
  const StepLabel label = LabelOf(*run.plan, span.step);
  Json json = Json::Object();
  json.Set("row", span.row)
      .Set("start_us", static_cast<double>(span.start_ns - run.planned_ns) / 1000)
      .Set("us", static_cast<double>(span.stop_ns - span.start_ns) / 1000)
      .Set("node", label.node)
      .Set("op", label.what);
  return json;
}

}  // namespace

Json TimelineJson(const RunRecorder& recorder) {
  const std::vector<const RunSpan*> runs = ByLength(recorder);
  if (runs.empty()) return {};
  const RunSpan& run = *runs[runs.size() / 2];
  Json rows = Json::Array();
  std::vector<TimelineSpan> spans;
  for (int lane = 0; lane <= run.last_lane(); ++lane)
    rows.Push(TimelineRow(absl::StrCat("thread ", lane), "thread"));
  for (const RunSpan::Step& step : run.steps)
    spans.push_back({static_cast<size_t>(step.lane), step.start_ns, step.stop_ns, step.index});
  for (const StreamRow& row : StreamRows(absl::MakeConstSpan(&run, 1))) {
    for (const StreamSpan& span : row.spans)
      spans.push_back({rows.size(), span.start_ns, span.stop_ns, span.step->index});
    rows.Push(TimelineRow(absl::StrCat(row.device, " ", row.stream), "stream"));
  }
  const size_t shown = std::min(spans.size(), kMostSpans);
  std::stable_sort(spans.begin(), spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return a.stop_ns - a.start_ns > b.stop_ns - b.start_ns;
  });
  const size_t left_out = spans.size() - shown;
  spans.resize(shown);
  std::stable_sort(spans.begin(), spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return a.start_ns < b.start_ns;
  });
  Json list = Json::Array();
  for (const TimelineSpan& span : spans) list.Push(TimelineSpanJson(run, span));
  Json json = Json::Object();
  json.Set("run_us", static_cast<double>(run.stop_ns - run.planned_ns) / 1000)
      .Set("runs", runs.size())
      .Set("rows", std::move(rows))
      .Set("spans", std::move(list))
      .Set("spans_left_out", left_out);
  return json;
}

}  // namespace tenon::cli
