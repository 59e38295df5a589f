#include "executor/cli/check/plugin_coverage.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tenon::cli {
namespace {

Json CountsJson(const std::map<std::string, int64_t, std::less<>>& counts) {
  Json json = Json::Object();
  for (const auto& [name, count] : counts) json.Set(name, count);
  return json;
}

std::string NamesOf(const std::map<std::string, int64_t, std::less<>>& counts) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(name);
  return Listed(names);
}

}  // namespace

PluginCoverage::PluginCoverage(const std::vector<CheckedCases::Plugin>& plugins) {
  for (const CheckedCases::Plugin& plugin : plugins) {
    Plugin& mine = plugins_.emplace_back();
    mine.path = plugin.path;
    mine.registered = plugin.kernels;
  }
}

// Counts kernels that were called: neither placement nor a pass can say what ran.
void PluginCoverage::Add(std::string_view op, const CaseRecord& record) {
  const CaseResult& result = record.result;
  ++cases_;
  if (result.status == CaseStatus::kCrashed) ++crashed_;
  for (const std::string& pass : result.changing_passes) ++changing_passes_[pass];
  if (!result.failed_pass.empty()) ++failed_passes_[result.failed_pass];
  std::set<std::string_view> ran;  // plug-ins
  for (const auto& [path, kernel] : result.plugin_kernels) {
    const auto plugin = std::find_if(plugins_.begin(), plugins_.end(),
                                     [&](const Plugin& p) { return p.path == path; });
    if (plugin == plugins_.end()) continue;
    ++plugin->kernels[kernel];
    ++plugin->kernels_by_op[std::string(op)][kernel];
    if (!ran.insert(path).second) continue;
    ++plugin->cases;
    ++plugin->ops[std::string(op)];
  }
}

Json PluginCoverage::PluginsJson() const {
  Json array = Json::Array();
  for (const Plugin& plugin : plugins_) {
    Json json = Json::Object();
    json.Set("path", plugin.path)
        .Set("cases", plugin.cases)
        .Set("ops", CountsJson(plugin.ops))
        .Set("kernels", CountsJson(plugin.kernels));
    array.Push(std::move(json));
  }
  return array;
}

Json PluginCoverage::PassesJson() const { return CountsJson(changing_passes_); }

std::string PluginCoverage::Text(const Style& style) const {
  std::string text;
  for (const Plugin& plugin : plugins_) {
    Table table({"op", ">cases", "kernels that ran"});
    for (const auto& [op, cases] : plugin.ops)
      table.Row({op, absl::StrCat(cases), NamesOf(plugin.kernels_by_op.find(op)->second)});
    absl::StrAppend(&text, "\n", style.Bold(plugin.path), "\n",
                    plugin.registered == 0
                        ? "it has no kernels\n"
                        : absl::StrCat(plugin.cases, " of ", Plural(cases_, "case"),
                                       " ran a kernel of this plug-in\n"),
                    table.empty() ? "" : absl::StrCat("\n", table.Text(style)));
  }
  for (const auto& [pass, cases] : changing_passes_)
    absl::StrAppend(&text, "\n", pass, " changed the graphs of ", Plural(cases, "case"), "\n");
  return text;
}

std::vector<std::string> PluginCoverage::Warnings() const {
  std::vector<std::string> warnings;
  for (const auto& [what, cases] : failed_passes_)
    warnings.push_back(absl::StrCat("pass ", what, " (in ", Plural(cases, "case"), ")"));
  for (const Plugin& plugin : plugins_) {
    // A kernel that crashed did run, but its case could not say so.
    if (plugin.cases > 0 || plugin.registered == 0 || crashed_ > 0) continue;
    warnings.push_back(absl::StrCat(
        "no case ran any of the ", Plural(plugin.registered, "kernel"), " of plug-in ", plugin.path,
        ": nothing of them was tested (graph_run explain says why a node is not theirs)"));
  }
  return warnings;
}

}  // namespace tenon::cli
