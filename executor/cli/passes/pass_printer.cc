// Prints graphs between passes, and their changes, to stderr.
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/cli/graphs/graph_text.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/passes/watchers.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon::cli {
namespace {

void Print(const std::string& text) { fwrite(text.data(), 1, text.size(), stderr); }

bool Wanted(const std::vector<std::string>& list, std::string_view pass) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& name) { return name == "*" || MeansPass(name, pass); });
}

std::string Title(std::string_view when, const PassRun& run) {
  const std::string graph =
      run.function.empty() ? "graph" : absl::StrCat("body of function '", run.function, "'");
  return absl::StrCat("*** ", graph, " ", when, " ", run.pass, ", round ", run.iteration + 1,
                      " ***\n");
}

class PassPrinter : public PipelineObserver {
 public:
  explicit PassPrinter(const WatchFlags& flags)
      : before_(flags.print_before), after_(flags.print_after), changed_(flags.print_changed) {}

  void BeforePass(const PassRun& run) override {
    if (Wanted(before_, run.pass)) Print(Title("before", run) + GraphText(run.before));
  }

  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override {
    if (changed_ == "diff" && row.changed) {
      Print(Title("changed by", run) + DiffText(run.before, after,
                                                ChangesBetween(run.before, after),
                                                Style::For(STDERR_FILENO)));
    }
    if ((changed_ == "graph" && row.changed) || Wanted(after_, run.pass))
      Print(Title("after", run) + GraphText(after));
  }

 private:
  const std::vector<std::string> before_, after_;
  const std::string changed_;
};

// LLVM's form, so that tools that read it go on working.
class BisectLines : public PipelineObserver {
 public:
  void OnRewrite(const RewriteEvent& event) override {
    PrintErrorLine(
        absl::StrCat("BISECT: ", event.allowed ? "" : "NOT ", "running pass (", ++number_, ") ",
                     event.pass, event.rewrite.empty() ? "" : ".", event.rewrite, " on ",
                     !event.node.empty()      ? absl::StrCat("node ", event.node)
                     : event.function.empty() ? "the graph"
                                              : absl::StrCat("function ", event.function)));
  }

 private:
  int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<PipelineObserver> MakePassPrinter(const WatchFlags& flags) {
  return std::make_unique<PassPrinter>(flags);
}

std::unique_ptr<PipelineObserver> MakeBisectLines() { return std::make_unique<BisectLines>(); }

}  // namespace tenon::cli
