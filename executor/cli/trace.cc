// Runs as trace events (the JSON that chrome://tracing and Perfetto read).
#include <fstream>

#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/run_reports.h"
#include "executor/plan.h"

namespace tenon::cli {
namespace {

constexpr int kProcess = 1;

double Micros(int64_t ns) { return static_cast<double>(ns) / 1000; }

Json Name(std::string_view what, int thread, std::string_view name) {
  Json args = Json::Object();
  args.Set("name", name);
  Json event = Json::Object();
  event.Set("name", what).Set("ph", "M").Set("pid", kProcess).Set("tid", thread);
  event.Set("args", std::move(args));
  return event;
}

Json Span(std::string_view name, std::string_view category, int thread, int64_t start_ns,
          int64_t stop_ns) {
  Json event = Json::Object();
  event.Set("name", name).Set("cat", category).Set("ph", "X").Set("pid", kProcess);
  event.Set("tid", thread).Set("ts", Micros(start_ns)).Set("dur", Micros(stop_ns - start_ns));
  return event;
}

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

void AddRun(const RunSpan& run, size_t number, TraceFile& file) {
  const int thread = run.lane + 1;
  file.Add(Span(absl::StrCat("run ", number), "run", thread, run.start_ns, run.stop_ns));
  file.Add(Span("plan", "run", thread, run.start_ns, run.planned_ns));
  for (const RunSpan::Step& step : run.steps) {
    const StepLabel label = LabelOf(*run.plan, step.index);
    Json args = Json::Object();
    args.Set("op", label.what).Set("device", label.device).Set("step", step.index);
    Json event = Span(label.node.empty() ? label.what : label.node, label.what, thread,
                      step.start_ns, step.stop_ns);
    event.Set("args", std::move(args));
    file.Add(event);
  }
}

}  // namespace

absl::Status WriteTrace(const RunRecorder& recorder, const std::string& path) {
  TraceFile file(path);
  file.Add(Name("process_name", 0, "graph_run"));
  int threads = 0;
  for (const RunSpan& run : recorder.runs()) {
    for (; threads <= run.lane; ++threads)
      file.Add(Name("thread_name", threads + 1, absl::StrCat("runs, thread ", threads)));
  }
  for (size_t i = 0; i < recorder.runs().size(); ++i) AddRun(recorder.runs()[i], i, file);
  if (file.Close()) return absl::OkStatus();
  return UsageError(absl::StrCat("--trace: cannot write '", path, "'"));
}

}  // namespace tenon::cli
