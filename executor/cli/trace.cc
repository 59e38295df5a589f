// Runs as trace events (the JSON that chrome://tracing and Perfetto read).
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/run_reports.h"
#include "executor/cli/stream_spans.h"
#include "executor/cli/trace_event.h"
#include "executor/cli/trace_planes.h"
#include "executor/plan.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

constexpr int kProcess = 1;

double Micros(int64_t ns) { return static_cast<double>(ns) / 1000; }

// Writes events as they come: a trace can be larger than one wants a document to be in memory.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : out_(path, std::ios::binary | std::ios::trunc) {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  }
  void Add(const Json& event) {
    out_ << (first_ ? "\n" : ",\n") << event.Dump();
    first_ = false;
  }
  bool Close() {
    out_ << "\n]}\n";
    out_.close();
    return !out_.fail();
  }

 private:
  std::ofstream out_;
  bool first_ = true;
};

class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  bool Write(const RunWatch& watch) {
    file_.Add(TraceName("process_name", kProcess, 0, "graph_run"));
    int threads = 0;
    for (const RunSpan& run : watch.runs()) {
      for (; threads <= run.lane; ++threads)
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
    return file_.Close();
  }

 private:
  struct Row {
    int process, thread;
  };

  void AddRun(const RunSpan& run, size_t number) {
    const int thread = run.lane + 1;
    const auto span = [&](std::string_view name, int64_t start, int64_t stop) {
      file_.Add(TraceSpan(name, "run", kProcess, thread, Micros(start), Micros(stop - start)));
    };
    span(absl::StrCat("run ", number), run.start_ns, run.stop_ns);
    span("plan", run.start_ns, run.planned_ns);
    for (const RunSpan::Step& step : run.steps)
      AddStep(run, step, {kProcess, thread}, step.start_ns, step.stop_ns);
  }

  void AddStep(const RunSpan& run, const RunSpan::Step& step, Row row, int64_t start_ns,
               int64_t stop_ns) {
    const StepLabel label = LabelOf(*run.plan, step.index);
    Json args = Json::Object();
    args.Set("op", label.what).Set("device", label.device).Set("step", step.index);
    Json event = TraceSpan(label.node.empty() ? label.what : label.node, label.what, row.process,
                           row.thread, Micros(start_ns), Micros(stop_ns - start_ns));
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
  if (Writer(path).Write(watch)) return absl::OkStatus();
  return UsageError(absl::StrCat("--trace: cannot write '", path, "'"));
}

}  // namespace tenon::cli
