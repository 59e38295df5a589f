// graph_run check: runs self-checking graphs.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/cli/check/check_case.h"
#include "executor/cli/check/check_workers.h"
#include "executor/cli/check/plugin_coverage.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "graph/base/closest.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

struct CheckFlags : CompileFlags {
  std::vector<std::string> only_ops, skipped_ops;
  bool gradients = false;

  // Without passes, so that the kernel computes the result, and not constant folding.
  CheckFlags() { defaults.opt_level = 0; }
  void Declare(Declarer& d);
};

void CheckFlags::Declare(Declarer& d) {
  DeclarePlugins(d);
  DeclarePlacement(d);
  DeclareLevel(d);
  DeclareSeed(d);
  DeclareTimeout(d, "a case that takes longer is stopped, and counts as crashed (default 60)");
  d.Group(FlagGroup::kOps);
  d.List("--ops", only_ops, "A,B", "only these ops");
  d.List("--skip-ops", skipped_ops, "A,B", "not these ops");
  d.Flag("--gradients", gradients,
         "the files hold cases of gradients: differentiate each loss and compare");
  DeclareLimits(d);
  DeclareOutput(d);
}

bool IsCheckFile(const std::string& name) {
  return absl::EndsWith(name, ".pbtxt") || absl::EndsWith(name, ".pbtxt.xz") ||
         absl::EndsWith(name, ".pbtxt.gz");
}

bool Wanted(const std::string& path, const CheckFlags& flags) {
  const auto has = [&](const std::vector<std::string>& ops) {
    return std::find(ops.begin(), ops.end(), OpOfFile(path)) != ops.end();
  };
  return (flags.only_ops.empty() || has(flags.only_ops)) && !has(flags.skipped_ops);
}

// For the first name that is no op of these: a message with the closest op; empty if all are.
std::string UnknownOp(const std::vector<std::string>& names, const std::set<std::string>& ops) {
  for (const std::string& name : names) {
    if (ops.contains(name)) continue;
    ClosestName closest(name);
    for (const std::string& op : ops) closest.Offer(op);
    return absl::StrCat(" '", name, "': no self-checking graph is of this op", closest.Hint());
  }
  return "";
}

absl::Status CheckOpNames(const CheckFlags& flags, const std::vector<std::string>& files) {
  std::set<std::string> ops;
  for (const std::string& path : files) ops.insert(OpOfFile(path));
  if (const std::string skipped = UnknownOp(flags.skipped_ops, ops); !skipped.empty())
    Warn(flags, absl::StrCat("--skip-ops", skipped));
  const std::string wanted = UnknownOp(flags.only_ops, ops);
  return wanted.empty() ? absl::OkStatus() : UsageError(absl::StrCat("--ops", wanted));
}

absl::StatusOr<std::vector<std::string>> FilesToCheck(const CheckFlags& flags) {
  std::vector<std::string> files;
  for (const std::string& path : flags.paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      std::vector<std::string> found;
      for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        if (IsCheckFile(entry.path().filename().string())) found.push_back(entry.path().string());
      }
      std::sort(found.begin(), found.end());
      files.insert(files.end(), found.begin(), found.end());
    } else if (fs::exists(path, error)) {
      files.push_back(path);
    } else {
      return WithExit(Exit::kInvalidInput,
                      absl::NotFoundError(absl::StrCat(path, ": no such file or folder")));
    }
  }
  if (!files.empty()) TENON_RETURN_IF_ERROR(CheckOpNames(flags, files));
  std::erase_if(files, [&](const std::string& path) { return !Wanted(path, flags); });
  if (files.empty())
    return UsageError(absl::StrCat("no self-checking graph (*.pbtxt) in ",
                                   absl::StrJoin(flags.paths, " "),
                                   flags.only_ops.empty() ? "" : " for --ops"));
  return files;
}

struct CheckCounts {
  int64_t passed = 0, failed = 0, unimplemented = 0, crashed = 0;

  void Add(CaseStatus status) {
    switch (status) {
      case CaseStatus::kPassed:
        ++passed;
        break;
      case CaseStatus::kFailed:
        ++failed;
        break;
      case CaseStatus::kUnimplemented:
        ++unimplemented;
        break;
      case CaseStatus::kCrashed:
        ++crashed;
        break;
    }
  }
  int64_t total() const { return passed + failed + unimplemented + crashed; }
};

// A bar on a terminal. It appears after a second, so that short work shows none.
class Progress {
 public:
  Progress(size_t total, bool wanted)
      : total_(total), shown_(wanted && isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (drawn_) fprintf(stderr, "\r\033[K");
  }
  void Update(size_t finished) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - start_ < std::chrono::seconds(1) ||
        now - last_ < std::chrono::milliseconds(100))
      return;
    constexpr size_t kWidth = 40;
    const size_t filled = kWidth * finished / total_;
    fprintf(stderr, "\r[%s%s] %zu of %zu files", std::string(filled, '#').c_str(),
            std::string(kWidth - filled, ' ').c_str(), finished, total_);
    last_ = now;
    drawn_ = true;
  }

 private:
  size_t total_;
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_;
};

Json CaseJson(const CaseRecord& record, const std::string& path, bool plugins) {
  Json json = Json::Object();
  json.Set("file", path)
      .Set("case", record.name)
      .Set("op", OpOfFile(path))
      .Set("status", CaseStatusName(record.result.status))
      .Set("detail", OneLine(record.result.detail));
  if (!plugins) return json;
  std::vector<std::string> kernels;
  for (const auto& [plugin, op] : record.result.plugin_kernels) kernels.push_back(op);
  json.Set("plugin_kernels", Json::ArrayOf(kernels));
  return json;
}

// With --plugin-errors=fail a case fails if a plug-in's pass fails on its graph.
void FailWithPass(const CheckFlags& flags, CaseResult& result) {
  if (!flags.fail_on_plugin_errors || result.failed_pass.empty()) return;
  result.status = CaseStatus::kFailed;
  result.detail = absl::StrCat("pass ", result.failed_pass);
}

std::string Number(int64_t n) { return n == 0 ? "-" : absl::StrCat(n); }

// The table. Without --verbose it has no rows for ops of which all cases passed, and one line for
// ops of which no case has a kernel.
std::string CheckText(const std::map<std::string, CheckCounts>& ops, const CheckCounts& all,
                      bool verbose, const Style& style) {
  Table table({"op", ">cases", ">passed", ">failed", ">unimplemented", ">crashed"});
  std::vector<std::string> missing;
  int64_t complete = 0;
  for (const auto& [op, c] : ops) {
    if (c.passed == c.total()) ++complete;
    if (c.unimplemented == c.total()) missing.push_back(op);
    if (!verbose && (c.passed == c.total() || c.unimplemented == c.total())) continue;
    table.Row({op, Number(c.total()), Number(c.passed),
               c.failed > 0 ? style.Red(Number(c.failed)) : "-", Number(c.unimplemented),
               c.crashed > 0 ? style.Red(Number(c.crashed)) : "-"});
  }
  std::string text = table.empty() ? "" : table.Text(style) + "\n";
  if (!missing.empty() && !verbose)
    absl::StrAppend(&text, style.Dim("not implemented: "), absl::StrJoin(missing, " "), "\n\n");
  const bool bad = all.failed + all.crashed > 0;
  absl::StrAppend(
      &text, Plural(static_cast<int64_t>(ops.size()), "op"), " (", complete, " complete), ",
      Plural(all.total(), "case"), ": ",
      bad ? absl::StrCat(all.passed, " passed") : style.Green(absl::StrCat(all.passed, " passed")),
      ", ", bad ? style.Red(absl::StrCat(all.failed, " failed")) : "0 failed", ", ",
      all.unimplemented, " unimplemented, ", all.crashed, " crashed\n");
  return text;
}

absl::Status Check(const CheckFlags& flags, Invocation& invocation) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesToCheck(flags));
  CheckedCases checked;
  {
    Progress progress(files.size(), !flags.quiet);
    TENON_ASSIGN_OR_RETURN(
        checked, RunInWorkers(files, flags.gradients ? CheckKind::kGradients : CheckKind::kAnswers,
                              flags, [&](size_t finished) { progress.Update(finished); }));
  }
  const bool plugins = !checked.plugins.empty();
  PluginCoverage coverage(checked.plugins);
  CheckCounts all;
  int64_t invalid_files = 0;
  std::map<std::string, CheckCounts> ops;
  Json cases = Json::Array();
  for (CaseRecord& record : checked.records) {
    const std::string& path = files[record.file];
    FailWithPass(flags, record.result);
    coverage.Add(OpOfFile(path), record);
    const CaseStatus status = record.result.status;
    all.Add(status);
    ops[OpOfFile(path)].Add(status);
    if (record.name.empty() && status == CaseStatus::kFailed) ++invalid_files;
    if (status == CaseStatus::kFailed || status == CaseStatus::kCrashed) {
      PrintErrorLine(absl::StrCat(path, record.name.empty() ? "" : ": ", record.name, ": ",
                                  CaseStatusName(status), ": ", record.result.detail));
    }
    if (invocation.json()) cases.Push(CaseJson(record, path, plugins));
  }
  Json summary = Json::Object();
  summary.Set("ops", ops.size())
      .Set("cases", all.total())
      .Set("passed", all.passed)
      .Set("failed", all.failed)
      .Set("unimplemented", all.unimplemented)
      .Set("crashed", all.crashed);
  invocation.doc.Set("cases", std::move(cases)).Set("summary", std::move(summary));
  if (plugins) {
    invocation.doc.Set("plugins", coverage.PluginsJson())
        .Set("changing_passes", coverage.PassesJson())
        .Set("warnings", Json::ArrayOf(coverage.Warnings()));
  }
  for (const std::string& warning : coverage.Warnings()) Warn(flags, OneLine(warning));
  if (!invocation.json()) {
    invocation.text = absl::StrCat(CheckText(ops, all, flags.verbose, invocation.style),
                                   coverage.Text(invocation.style));
  }
  if (all.failed + all.crashed == 0) return absl::OkStatus();
  return AlreadyPrinted(WithExit(
      invalid_files > 0 ? Exit::kInvalidInput : Exit::kMismatch,
      absl::FailedPreconditionError(absl::StrCat(all.failed, " failed, ", all.crashed,
                                                 " crashed of ", Plural(all.total(), "case")))));
}

}  // namespace

extern const Command kCheckCommand = {
    .name = "check",
    .arguments = "PATH...",
    .fewest = 1,
    .most = SIZE_MAX,
    .what =
        "Run self-checking graphs; a table of passed, failed, unimplemented and crashed cases per "
        "op.",
    .examples = {"graph_run check tests/golden/ops",
                 "graph_run check tests/golden/ops --ops Relu,MatMul --json"},
    .start = Start<CheckFlags, Check>,
    .watches_processes = true,
};

}  // namespace tenon::cli
