// Finds when each stream was busy. A span begins when its step queued it, or when the span before
// it ended, and ends at the host callback, or with the step if the callback did not come.

#include "executor/cli/reports/stream_spans.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tenon::cli {

std::vector<StreamRow> StreamRows(absl::Span<const RunSpan> runs) {
  std::map<std::pair<std::string, std::string>, std::vector<StreamSpan>> streams;
  for (const RunSpan& run : runs) {
    for (const RunSpan::Queued& queued : run.queued) {
      const RunSpan::Step& step = run.steps[queued.step];
      const StreamOf queue = StreamOfStep(*run.plan, step.index);
      const int64_t done_ns = queued.done_ns->load();
      streams[{queue.device->short_name(), std::string(queue.name)}].push_back(
          {&run, &step, step.start_ns, done_ns == 0 ? step.stop_ns : done_ns});
    }
  }
  std::vector<StreamRow> rows;
  for (auto& [key, spans] : streams) {
    // A stream does one piece of work after another, so a span cannot begin before the one before
    // it ends.
    std::sort(spans.begin(), spans.end(),
              [](const StreamSpan& a, const StreamSpan& b) { return a.stop_ns < b.stop_ns; });
    for (size_t i = 1; i < spans.size(); ++i)
      spans[i].start_ns = std::max(spans[i].start_ns, spans[i - 1].stop_ns);
    rows.push_back({key.first, key.second, std::move(spans)});
  }
  return rows;
}

}  // namespace tenon::cli
