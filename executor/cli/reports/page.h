// Gathers what the page of --report shows while a command goes on, and writes the page.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"
#include "executor/cli/reports/run_watch.h"

namespace tenon::cli {

// Belongs to one thread. Without --report nothing is gathered, and Write does nothing.
class Page {
 public:
  // `flags` must outlive the page.
  explicit Page(const CompileFlags& flags);

  bool wanted() const { return !flags_.report.empty(); }
  // A key of ReportSubject::more.
  void Set(std::string_view key, Json value);
  // What the plan's memory holds ("memory"), and how long the stages took ("times_ms").
  void AddPlan(const Executable& executable, double load_ms);
  // When each step of a run ran, on threads and streams ("timeline"), and the critical path of a
  // run of the same recording ("critical_path"). If no run was recorded whole, the timeline is null
  // and there is no critical path. Streams are shown only if `watch` has recorded them. The next
  // method takes a `watch` as this one does: RunWatch::End must have been called, and one that is
  // not wanted() adds nothing.
  void AddTimeline(const RunWatch& watch);
  // The tables of ops, nodes and threads ("times"), of the runs that AddOpTable chooses.
  void AddTimes(const RunWatch& watch);

  // Writes the page. To be called at most once. `status` is that of the command so far; the page
  // shows it if it is an error. `request` may be null: then the page knows neither shapes of feeds
  // nor results. The keys "about" and "results" are the page's own. The command line must name a
  // file.
  // Returns `status` if it is an error, else that of WriteHtmlReport.
  absl::Status Write(const Workbench& bench, const Executable& executable,
                     const RunRequest* request, absl::Status status);

 private:
  const CompileFlags& flags_;
  Json more_ = Json::Object();
};

}  // namespace tenon::cli
