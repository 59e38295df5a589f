// Writes runs as trace events, the JSON that chrome://tracing and Perfetto read.
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/cli/reports/stream_spans.h"
#include "executor/cli/reports/trace_event.h"
#include "executor/cli/reports/trace_planes.h"
#include "executor/run/plan.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

// Processes are only rows of the viewer: 1 is the host, then come streams and planes.
constexpr int kProcess = 1;

double TraceTime(int64_t ns) { return static_cast<double>(ns) / 1000; }

// Writes events as they come: a trace may be too large to hold it in memory as one document.
class TraceFile {
 public:
  explicit TraceFile(FileWriter file) : file_(std::move(file)) {
    Write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }
  void Add(const Json& event) {
    Write(std::exchange(separator_, ",\n"));
    Write(event.Dump());
  }
  absl::Status Finish() {
    Write("\n]}\n");
    return file_.Finish();
  }

 private:
  // An error stays in the writer, and Finish returns it.
  void Write(std::string_view text) { file_.Write(text).IgnoreError(); }

  FileWriter file_;
  std::string_view separator_ = "\n";
};

class Writer {
 public:
  explicit Writer(FileWriter file) : file_(std::move(file)) {}

  absl::Status Write(const RunWatch& watch) {
    file_.Add(TraceName("process_name", kProcess, 0, "graph_run"));
    int threads = 0;
    for (const RunSpan& run : watch.runs()) {
      for (const int last = run.last_lane(); threads <= last; ++threads)
        file_.Add(TraceName("thread_name", kProcess, threads + 1,
                            absl::StrCat("runs, thread ", threads)));
    }
    for (size_t i = 0; i < watch.runs().size(); ++i) AddRun(watch.runs()[i], i);
    AddStreams(watch.runs());
    for (const RunWatch::Plane& plane : watch.planes()) {
      const PluginProfile& profile = watch.profiles()[plane.profile];
      AddPlane(profile.space->planes(plane.index), next_process_++,
               std::filesystem::path(profile.plugin).filename().string(), plane.clock,
               [this](const Json& event) { file_.Add(event); });
    }
    return file_.Finish();
  }

 private:
  struct Row {
    int process, thread;
  };

  void AddRun(const RunSpan& run, size_t number) {
    const int thread = run.lane + 1;
    const auto span = [&](std::string_view name, int64_t start, int64_t stop) {
      file_.Add(
          TraceSpan(name, "run", kProcess, thread, TraceTime(start), TraceTime(stop - start)));
    };
    span(absl::StrCat("run ", number), run.start_ns, run.stop_ns);
    span("plan", run.start_ns, run.planned_ns);
    for (const RunSpan::Step& step : run.steps)
      AddStep(run, step, {kProcess, step.lane + 1}, step.start_ns, step.stop_ns);
  }

  void AddStep(const RunSpan& run, const RunSpan::Step& step, Row row, int64_t start_ns,
               int64_t stop_ns) {
    const StepLabel label = LabelOf(*run.plan, step.index);
    Json args = Json::Object();
    args.Set("op", label.what).Set("device", label.device).Set("step", step.index);
    if (!label.places.empty()) args.Set("place", label.places);
    Json event = TraceSpan(label.node.empty() ? label.what : label.node, label.what, row.process,
                           row.thread, TraceTime(start_ns), TraceTime(stop_ns - start_ns));
    event.Set("args", std::move(args));
    file_.Add(event);
  }

  void AddStreams(const std::vector<RunSpan>& runs) {
    std::string device;
    int thread = 0;
    for (const StreamRow& row : StreamRows(runs)) {
      if (std::exchange(device, row.device) != row.device) {
        file_.Add(TraceName("process_name", next_process_++, 0, absl::StrCat(device, " streams")));
        thread = 0;
      }
      const Row place{next_process_ - 1, ++thread};
      file_.Add(TraceName("thread_name", place.process, place.thread, row.stream));
      for (const StreamSpan& span : row.spans)
        AddStep(*span.run, *span.step, place, span.start_ns, span.stop_ns);
    }
  }

  TraceFile file_;
  int next_process_ = kProcess + 1;
};

}  // namespace

absl::Status WriteTrace(const RunWatch& watch, const std::string& path) {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  return file.ok() ? Writer(*std::move(file)).Write(watch) : file.status();
}

}  // namespace tenon::cli
