// The report of a run for people: a paragraph for each stage, from the import to the comparison.

#include "executor/cli/reports/run_summary.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/reports/staging_report.h"
#include "executor/run/plan.h"
#include "executor/session/executable.h"
#include "executor/values/tensor_text.h"
#include "graph/base/one_line.h"

namespace tenon::cli {
namespace {

constexpr size_t kListed = 6;  // items of a list before "and n more"

// "Relu 5, MatMul 3 and 4 more", the most frequent first.
std::string CountsText(const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == kListed) return absl::StrCat(text, " and ", sorted.size() - i, " more");
    absl::StrAppend(&text, i == 0 ? "" : ", ", sorted[i].first, " ", sorted[i].second);
  }
  return text;
}

class RunSummaryText {
 public:
  RunSummaryText(const RunOutcome& outcome, const std::string& model, const Style& style)
      : outcome_(outcome),
        model_(model),
        style_(style),
        before_(outcome.bench.graph()),
        after_(OptimizedGraph(*outcome.executable)) {}

  std::string Tell() {
    Title();
    Import();
    Passes();
    Plugins();
    Placement();
    Plan();
    Run();
    Compare();
    return std::move(text_);
  }

 private:
  // The first line of a paragraph has its name; the others line up below.
  void Line(std::string_view name, std::string_view body) {
    absl::StrAppend(&text_, "  ", style_.Bold(style_.Cyan(absl::StrFormat("%-10s", name))), body,
                    "\n");
  }

  void Title() {
    std::string devices;
    for (const Device* device : outcome_.bench.host->devices())
      absl::StrAppend(&devices, devices.empty() ? "" : " and ", device->physical_name());
    absl::StrAppend(&text_, "\n", style_.Bold(model_), style_.Dim(absl::StrCat("  on ", devices)),
                    "\n\n");
  }

  void Import() {
    std::map<std::string, int64_t> ops;
    for (NodeId n = 0; n < before_.num_node_ids(); ++n) {
      if (before_.alive(n)) ++ops[std::string(before_.op_name(n))];
    }
    Line("import", absl::StrCat(Plural(before_.num_nodes(), "node"), " of ",
                                Plural(static_cast<int64_t>(ops.size()), "op"),
                                ", read and verified in ", Millis(outcome_.bench.load_ms)));
    Line("", style_.Dim(CountsText(ops)));
    text_ += "\n";
  }

  // One line for each pass: what all its rounds did together. Passes that found nothing share a
  // line, and passes that are off by default have none.
  void Passes() {
    const std::vector<PassReport>& passes = OptimizerReport(*outcome_.executable).passes;
    std::vector<std::string> names;
    for (const PassReport& pass : passes) {
      if (std::find(names.begin(), names.end(), pass.name) == names.end())
        names.push_back(pass.name);
    }
    std::string_view title = "optimize";
    std::vector<std::string> idle;
    for (const std::string& name : names) {
      const auto rows = [&](auto holds) {
        return std::all_of(passes.begin(), passes.end(), [&](const PassReport& pass) {
          return pass.name != name || holds(pass);
        });
      };
      if (rows([](const PassReport& pass) { return pass.skipped && IsOff(pass); })) continue;
      if (rows([](const PassReport& pass) { return pass.reason.empty() && !pass.changed; })) {
        idle.push_back(name);
        continue;
      }
      Pass(name, passes, std::exchange(title, ""));
    }
    if (!idle.empty())
      Line(std::exchange(title, ""),
           style_.Dim(absl::StrCat("nothing to do for ", absl::StrJoin(idle, ", "))));
    if (!title.empty()) Line(title, "no pass runs");
    text_ += "\n";
  }

  static bool IsOff(const PassReport& row) {
    const absl::Span<const PassEntry> all = PassOrder();
    return std::any_of(all.begin(), all.end(), [&](const PassEntry& pass) {
      return pass.name == row.name && !pass.off.empty() && pass.off == row.reason;
    });
  }

  void Pass(const std::string& name, const std::vector<PassReport>& passes,
            std::string_view title) {
    int64_t nodes = 0, time_us = 0;
    std::map<std::string, int64_t> rewrites;
    std::string reason;
    bool failed = false, changed = false;
    for (const PassReport& pass : passes) {
      if (pass.name != name) continue;
      // Nodes of bodies are not among the graph's.
      if (pass.function.empty()) nodes += pass.nodes_after - pass.nodes_before;
      time_us += pass.time_us;
      for (const auto& [rewrite, count] : pass.rewrites) rewrites[rewrite] += count;
      if (pass.skipped || pass.failed || pass.left_undone) reason = pass.reason;
      failed |= pass.failed || pass.left_undone;
      changed |= pass.changed;
    }
    std::string what = CountsText(rewrites);
    if (absl::StartsWith(name, "plugin:")) what = PluginRewrites();
    if (what.empty() && changed) what = "changed";
    if (!reason.empty()) what = (failed ? "" : "skipped: ") + ShortReason(reason);
    const std::string delta = nodes == 0 ? "" : absl::StrFormat("%+d nodes", nodes);
    Line(title,
         absl::StrCat(
             absl::StrFormat("%-28s", name), absl::StrFormat("%12s", delta),
             absl::StrFormat("%10s  ",
                             reason.empty() ? Millis(static_cast<double>(time_us) / 1000) : "-"),
             failed            ? style_.Red(what)
             : !reason.empty() ? style_.Dim(what)
                               : style_.Green(what)));
  }

  // The reason with files of plug-ins named without their folders.
  static std::string ShortReason(const std::string& reason) {
    std::string text = OneLine(reason);
    for (const PluginInfo& plugin : ::tenon::Plugins()) {
      const size_t at = text.find(plugin.path);
      if (at != std::string::npos)
        text.replace(at, plugin.path.size(),
                     std::filesystem::path(plugin.path).filename().string());
    }
    return text;
  }

  // "Relu became ApuBiasRelu 5 times": nodes that kept their names and got another op on a
  // plug-in's device.
  std::string PluginRewrites() const {
    std::map<std::string, int64_t> changes;
    for (NodeId n = 0; n < after_.num_node_ids(); ++n) {
      if (!after_.alive(n) || !OnPlugin(n)) continue;
      const NodeId old = before_.FindNode(after_.name(n));
      if (old != kNoNode && before_.op_name(old) != after_.op_name(n))
        ++changes[absl::StrCat(before_.op_name(old), " became ", after_.op_name(n))];
    }
    std::string text;
    for (const auto& [change, count] : changes)
      absl::StrAppend(&text, text.empty() ? "" : ", ", change, " ",
                      count == 1 ? "once" : absl::StrCat(count, " times"));
    return text;
  }

  bool OnPlugin(NodeId n) const {
    const Device* device = PlacementReport(*outcome_.executable)[n].device;
    return device != nullptr && !device->is_host();
  }

  void Plugins() {
    bool any = false;
    for (const PluginInfo& plugin : ::tenon::Plugins()) {
      if (!plugin.status.ok()) continue;
      Line(any ? "" : "plug-in",
           absl::StrCat(std::filesystem::path(plugin.path).filename().string(), " brings ",
                        plugin.device_type.empty()
                            ? ""
                            : absl::StrCat("device type ", plugin.device_type, ", "),
                        Plural(plugin.kernels, "kernel"),
                        plugin.ops.empty() ? "" : absl::StrCat(", op ", Listed(plugin.ops)),
                        plugin.pass ? ", a graph pass" : ""));
      any = true;
    }
    if (any) text_ += "\n";
  }

  void Placement() {
    const std::vector<NodePlacement>& placement = PlacementReport(*outcome_.executable);
    std::string_view title = "place";
    for (const Device* device : outcome_.bench.host->devices()) {
      std::map<std::string, int64_t> ops, refused;
      std::map<std::string_view, int64_t> reasons;
      int64_t count = 0;
      for (NodeId n = 0; n < after_.num_node_ids(); ++n) {
        if (!after_.alive(n) || placement[n].device != device) continue;
        ++count;
        ++ops[std::string(after_.op_name(n))];
        ++reasons[PlaceCodeName(placement[n].reason)];
        for (const RejectedDevice& r : placement[n].rejected) {
          if (r.code == PlaceCode::kNoKernel || r.code == PlaceCode::kDtype)
            ++refused[std::string(after_.op_name(n))];
        }
      }
      std::string why;
      for (const auto& [code, times] : reasons)
        absl::StrAppend(&why, why.empty() ? "" : ", ", code, " ", times);
      Line(title, absl::StrCat(absl::StrFormat("%-16s", device->short_name()),
                               absl::StrFormat("%4d ", count),
                               count == 1 ? "node:  " : "nodes: ", CountsText(ops)));
      Line("", style_.Dim(absl::StrCat(
                   std::string(16, ' '), "why: ", count == 0 ? "-" : why,
                   device->is_host()
                       ? ""
                       : absl::StrCat("; priority ", device->priority(), ", above the CPU's"),
                   refused.empty()
                       ? ""
                       : absl::StrCat("; no other device has a kernel for ",
                                      refused.size() == 1 ? refused.begin()->first
                                      : refused.size() == ops.size()
                                          ? "these ops"
                                          : absl::StrCat(refused.size(), " of these ops")))));
      title = "";
    }
    text_ += "\n";
  }

  void Plan() {
    const auto plan = outcome_.executable->last_plan();
    const Times& times = TimesReport(*outcome_.executable);
    if (plan == nullptr) return;
    int64_t streams = 1, copied = 0;
    // A device has a stream to compute, and one each for copies to it, from it and within it.
    for (const Device* device : plan->devices) streams += device->is_host() ? 0 : 4;
    for (const PlanCopy& copy : plan->copies) copied += std::max<int64_t>(copy.bytes, 0);
    const MemoryReport memory = MemoryOf(*outcome_.executable);
    const int64_t copies = static_cast<int64_t>(plan->copies.size());
    Line("plan",
         absl::StrCat(Plural(static_cast<int64_t>(plan->steps.size()), "step"), " on ",
                      Plural(streams, "stream"), ", ", Plural(plan->num_events, "event"), ", ",
                      copies == 1 ? "1 copy" : absl::StrCat(copies, " copies"), " between devices",
                      copied > 0 ? absl::StrCat(" (", Bytes(copied), ")") : "", ", made in ",
                      Millis(times.plan)));
    Line("", style_.Dim(absl::StrCat("arena ", Bytes(memory.arena_bytes), ", of which ",
                                     Bytes(memory.arena_lower_bound_bytes),
                                     " is the least possible; constants ",
                                     Bytes(memory.weights_bytes))));
    for (const std::string& line : HostStagingLines(*outcome_.executable))
      Line("", style_.Dim(line));
    text_ += "\n";
  }

  void Run() {
    const Times& times = TimesReport(*outcome_.executable);
    const auto best = std::min_element(outcome_.run_us.begin(), outcome_.run_us.end());
    std::string body = absl::StrCat("first ", Millis(times.first_run));
    if (outcome_.run_us.size() > 1)
      absl::StrAppend(&body, ", best of ", outcome_.run_us.size(), ": ", Millis(*best / 1000));
    Line("run", body);
    for (size_t i = 0; i < outcome_.request.outputs.size(); ++i) {
      const Tensor& value = outcome_.values[i];
      if (!value.initialized()) continue;  // a node without outputs
      Line("", absl::StrCat(outcome_.request.outputs[i].name, "  ",
                            TypeText(value.dtype(), value.shape())));
      // More would not leave the summary on one screen.
      if (i == 0 && value.num_elements() <= 40) text_ += TensorText(value, "            ");
    }
    text_ += "\n";
  }

  void Compare() {
    std::string_view title = "compare";
    for (const NamedComparison& c : outcome_.comparisons) {
      const std::string numbers =
          absl::StrFormat("largest difference %.3g, %d ulps", c.result.max_abs, c.result.max_ulp);
      const std::string result = c.ignored     ? style_.Dim("ignored")
                                 : c.result.ok ? style_.Green("right")
                                               : style_.Red("wrong");
      Line(title, absl::StrCat(result, "  ", c.name,
                               c.result.ok ? absl::StrCat(" is what was expected: ", numbers)
                                           : absl::StrCat(" ", c.result.problem)));
      title = "";
    }
    if (!outcome_.comparisons.empty()) text_ += "\n";
  }

  const RunOutcome& outcome_;
  const std::string& model_;
  const Style& style_;
  const Graph& before_;
  const Graph& after_;
  std::string text_;
};

}  // namespace

std::string RunSummary(const RunOutcome& outcome, const std::string& model, const Style& style) {
  return RunSummaryText(outcome, model, style).Tell();
}

}  // namespace tenon::cli
