// Writes runs as trace events, the JSON that chrome://tracing and Perfetto read.
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/cli/reports/stream_spans.h"
#include "executor/cli/reports/trace_event.h"
#include "executor/cli/reports/trace_links.h"
#include "executor/cli/reports/trace_planes.h"
#include "executor/run/plan.h"
#include "executor/values/tensor_text.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "proto/xspace.pb.h"

namespace tenon::cli {
namespace {

// Processes are only rows of the viewer: 1 is the host, then come streams and planes.
constexpr int kProcess = 1;
// A process of its own, with a time of its own: the stages before the runs.
constexpr int kBefore = 1000;

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
    fed_ = &watch.before().fed;
    AddBefore(watch.before());
    int threads = 0;
    for (const RunSpan& run : watch.runs()) {
      for (const int last = run.last_lane(); threads <= last; ++threads)
        file_.Add(TraceName("thread_name", kProcess, threads + 1,
                            absl::StrCat("runs, thread ", threads)));
    }
    for (size_t i = 0; i < watch.runs().size(); ++i) AddRun(watch.runs()[i], i);
    AddStreams(watch.runs());
    AddFlows(watch.runs());
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
  struct Place {
    Row row;
    int64_t start_ns, stop_ns;
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
    for (const MemoryInUse& in_use : MemoryOfRun(run)) {
      Json args = Json::Object();
      args.Set("bytes", in_use.bytes);
      Json event = Json::Object();
      event.Set("name", absl::StrCat("arena in use, thread ", run.lane)).Set("ph", "C");
      event.Set("pid", kProcess).Set("ts", TraceTime(in_use.at_ns)).Set("args", std::move(args));
      file_.Add(event);
    }
  }

  // The stages before the runs, one after the other, ending where recording begins. They took
  // place earlier: only their lengths are known.
  void AddBefore(const RunWatch::Before& before) {
    if (before.stages_ms.empty()) return;
    file_.Add(TraceName("process_name", kBefore, 0, "before the runs (lengths only)"));
    double at_us = 0;
    for (const auto& [stage, ms] : before.stages_ms) {
      if (ms <= 0) continue;
      file_.Add(TraceSpan(stage, "stage", kBefore, 1, at_us, ms * 1000));
      at_us += ms * 1000;
    }
  }

  // An arrow from the span of a step to that of another, of one run.
  void AddFlow(const Place& from, const Place& to) {
    for (const bool begins : {true, false}) {
      const Place& at = begins ? from : to;
      Json event = Json::Object();
      event.Set("name", "value").Set("cat", "flow").Set("ph", begins ? "s" : "f");
      event.Set("id", next_flow_).Set("pid", at.row.process).Set("tid", at.row.thread);
      // Within the span, so that viewers find it.
      event.Set("ts", TraceTime((at.start_ns + at.stop_ns) / 2));
      if (!begins) event.Set("bp", "e");
      file_.Add(event);
    }
    ++next_flow_;
  }

  // From node to copy to node. A step that queued work is where its stream did the work.
  void AddFlows(const std::vector<RunSpan>& runs) {
    for (const RunSpan& run : runs) {
      std::map<uint32_t, Place> places;
      for (const RunSpan::Step& step : run.steps)
        places[step.index] = {{kProcess, step.lane + 1}, step.start_ns, step.stop_ns};
      for (const auto& [step, place] : on_streams_[&run]) places[step] = place;
      auto [links, fresh] = links_.try_emplace(run.plan.get());
      if (fresh) links->second = LinksOf(*run.plan);
      for (const auto& [from, to] : links->second) {
        const auto a = places.find(from), b = places.find(to);
        if (a != places.end() && b != places.end()) AddFlow(a->second, b->second);
      }
    }
  }

  // "f32[4,64] i32" of what the step's node gives; empty if it belongs to no node.
  std::string TypesOf(const Plan& plan, uint32_t index) {
    const NodeId n = plan.steps[index].node;
    if (n == kNoNode || plan.graph->op(n) == nullptr) return "";
    auto [found, fresh] = shapes_.try_emplace(&plan);
    if (fresh) found->second = ShapesWithFeeds(*plan.graph, *fed_);
    if (n >= found->second.num_nodes()) return "";
    std::string types;
    for (int32_t port = 0; port < plan.graph->num_outputs(n); ++port) {
      absl::StrAppend(&types, port == 0 ? "" : " ",
                      TypeText(plan.graph->output_type({n, port}), found->second.shape({n, port})));
    }
    return types;
  }

  void AddStep(const RunSpan& run, const RunSpan::Step& step, Row row, int64_t start_ns,
               int64_t stop_ns) {
    const StepLabel label = LabelOf(*run.plan, step.index);
    Json args = Json::Object();
    args.Set("op", label.what).Set("device", label.device).Set("step", step.index);
    if (!label.places.empty()) args.Set("place", label.places);
    if (const std::string types = TypesOf(*run.plan, step.index); !types.empty())
      args.Set("types", types);
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
      for (const StreamSpan& span : row.spans) {
        AddStep(*span.run, *span.step, place, span.start_ns, span.stop_ns);
        on_streams_[span.run][span.step->index] = {place, span.start_ns, span.stop_ns};
      }
    }
  }

  TraceFile file_;
  int next_process_ = kProcess + 1;
  int64_t next_flow_ = 1;
  const FedShapes* fed_ = nullptr;
  std::map<const Plan*, GraphShapes> shapes_;
  std::map<const Plan*, std::vector<std::pair<uint32_t, uint32_t>>> links_;
  std::map<const RunSpan*, std::map<uint32_t, Place>> on_streams_;
};

}  // namespace

absl::Status WriteTrace(const RunWatch& watch, const std::string& path) {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  return file.ok() ? Writer(*std::move(file)).Write(watch) : file.status();
}

}  // namespace tenon::cli
