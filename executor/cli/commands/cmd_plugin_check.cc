// graph_run plugin check: says whether a plug-in would load here, what it needs and brings, and
// what is wrong.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/command_table.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/plugins/plugin_advice.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

struct PluginCheckFlags : CommonFlags {
  bool init = false;  // make PJRT clients too

  void Declare(Declarer& d) {
    d.Group(FlagGroup::kDevices);
    d.Flag("--init", init, "create PJRT clients too: it may take a device's memory");
    DeclareTimeout(d);
    DeclareOutput(d);
  }
};

// In the order of SymbolState.
constexpr std::string_view kStates[] = {"have", "library", "weak", "missing"};

std::string_view Name(const SymbolFinding& symbol) {
  if (symbol.state == SymbolState::kMissing && symbol.cxx) return "c++";
  return kStates[static_cast<size_t>(symbol.state)];
}

std::string_view Name(PluginProbe::End end, bool loads) {
  if (end == PluginProbe::End::kHung) return "hangs";
  if (end == PluginProbe::End::kCrashed) return "crashes";
  return loads ? "loads" : "does not load";
}

Json LibrariesJson(const LinkReport& links) {
  Json array = Json::Array();
  for (const NeededLibrary& needed : links.needed) {
    Json json = Json::Object();
    json.Set("name", needed.name)
        .Set("by", needed.by)
        .Set("path", needed.path)
        .Set("status", needed.of_host           ? "tenon"
                       : needed.path.empty()    ? "missing"
                       : !needed.damage.empty() ? "damaged"
                                                : "found");
    array.Push(std::move(json));
  }
  return array;
}

Json SymbolsJson(const LinkReport& links) {
  Json array = Json::Array();
  for (const SymbolFinding& symbol : links.symbols) {
    Json json = Json::Object();
    json.Set("name", symbol.symbol.name)
        .Set("status", Name(symbol))
        .Set("library", symbol.library)
        .Set("version", symbol.symbol.version)
        .Set("by", symbol.by);
    if (symbol.cxx) json.Set("demangled", symbol.readable);
    array.Push(std::move(json));
  }
  return array;
}

Json ProblemsJson(const std::vector<PluginProblem>& problems) {
  Json array = Json::Array();
  for (const PluginProblem& problem : problems) {
    Json json = Json::Object();
    json.Set("fatal", problem.fatal).Set("what", OneLine(problem.what));
    json.Set("advice", problem.advice);
    array.Push(std::move(json));
  }
  return array;
}

// The value of a key; null if the object has no such key.
Json Get(const Json& object, std::string_view key) {
  std::optional<Json> value = object.Find(key);
  return value ? *std::move(value) : Json();
}

std::string Strings(const Json& array) {
  std::vector<std::string> strings;
  for (size_t i = 0; i < array.size(); ++i) strings.push_back(array.At(i).AsString().value_or(""));
  return absl::StrJoin(strings, ", ");
}

std::string Text(const Json& object, std::string_view key) {
  return Get(object, key).AsString().value_or("");
}

std::string Number(const Json& object, std::string_view key) {
  return absl::StrCat(Get(object, key).AsNumber().value_or(0));
}

void AddLibraries(const LinkReport& links, const Style& style, std::string& text) {
  if (links.needed.empty()) return;
  Table table({"library", "needed by", "here"});
  for (const NeededLibrary& needed : links.needed) {
    table.Row({needed.name, needed.by,
               needed.of_host           ? "Tenon stands for it"
               : needed.path.empty()    ? style.Red("not found")
               : !needed.damage.empty() ? style.Red("damaged")
                                        : needed.path});
  }
  absl::StrAppend(&text, "\n", table.Text(style));
}

void AddSymbols(const LinkReport& links, bool all, const Style& style, std::string& text) {
  Table table({"undefined symbol", "status", "where"});
  for (const SymbolFinding& symbol : links.symbols) {
    const bool missing = symbol.state == SymbolState::kMissing;
    if (!missing && !all) continue;
    const std::string state(Name(symbol));
    table.Row({symbol.readable, missing ? style.Red(state) : state,
               symbol.state == SymbolState::kHost ? "Tenon" : symbol.library});
  }
  if (!table.empty()) absl::StrAppend(&text, "\n", table.Text(style));
}

// Pairs of an object as "name value, name value".
std::string Pairs(const Json& object) {
  std::vector<std::string> pairs;
  for (const std::string& name : object.Keys())
    pairs.push_back(absl::StrCat(name, " ", Text(object, name)));
  return absl::StrJoin(pairs, ", ");
}

void AddPjrtFacts(const Json& facts, const Style& style, std::string& text) {
  const Json pjrt = Get(facts, "pjrt");
  if (!pjrt.is_object()) return;
  Table table({"PJRT", ""});
  table.Row({"version", Text(pjrt, "version")});
  table.Row({"functions", Number(pjrt, "functions")});
  const std::pair<const char*, std::string> rows[] = {
      {"holes", Strings(Get(pjrt, "holes"))},
      {"extensions", Strings(Get(pjrt, "extensions"))},
      {"attributes", Pairs(Get(pjrt, "attributes"))},
      {"platform", Text(pjrt, "platform")},
      {"platform version", Text(pjrt, "platform_version")},
      {"no devices", Text(pjrt, "no_devices")},
      {"warnings", Strings(Get(pjrt, "warnings"))}};
  for (const auto& [name, what] : rows) {
    if (!what.empty()) table.Row({name, OneLine(what)});
  }
  absl::StrAppend(&text, "\n", table.Text(style));
}

void AddFacts(const Json& facts, const Style& style, std::string& text) {
  AddPjrtFacts(facts, style, text);
  Table structs({"struct", ">size", ">this host's"});
  const Json sizes = Get(facts, "structs");
  for (size_t i = 0; sizes.is_array() && i < sizes.size(); ++i) {
    const Json one = sizes.At(i);
    structs.Row({Text(one, "name"), Number(one, "size"), Number(one, "host_size")});
  }
  if (!structs.empty()) absl::StrAppend(&text, "\n", structs.Text(style));
  Table kernels({"kernel", "device", "types", "notes"});
  const Json rows = Get(facts, "kernels");
  for (size_t i = 0; rows.is_array() && i < rows.size(); ++i) {
    const Json row = rows.At(i);
    kernels.Row({Text(row, "op"), Text(row, "device_type"), Strings(Get(row, "types")),
                 Strings(Get(row, "notes"))});
  }
  if (!kernels.empty()) absl::StrAppend(&text, "\n", kernels.Text(style));
  const Json ops = Get(facts, "ops");
  if (ops.is_array() && ops.size() > 0)
    absl::StrAppend(&text, "\n", style.Dim("ops     "), Strings(ops), "\n");
}

void AddProblems(const std::vector<PluginProblem>& problems, const Style& style,
                 std::string& text) {
  for (const PluginProblem& problem : problems) {
    absl::StrAppend(&text, "\n", problem.fatal ? style.Red("problem ") : style.Yellow("note    "),
                    OneLine(problem.what), "\n", style.Dim("do      "), problem.advice, "\n");
  }
}

std::string SymbolCounts(const LinkReport& links) {
  int64_t counts[std::size(kStates)] = {};
  for (const SymbolFinding& symbol : links.symbols) ++counts[static_cast<size_t>(symbol.state)];
  return absl::StrCat(counts[0], " of Tenon, ", counts[1], " of libraries, ", counts[2],
                      " weak and unused, ", counts[3], " missing");
}

void WriteText(const LinkReport& links, const PluginProbe& probe, std::string_view verdict,
               const std::vector<PluginProblem>& problems, Invocation& invocation) {
  const Style& style = invocation.style;
  std::string& text = invocation.text;
  text = absl::StrCat(style.Bold(links.path), "\n", style.Dim("entry   "),
                      links.entry_points.empty() ? "none" : absl::StrJoin(links.entry_points, ", "),
                      "\n", style.Dim("symbols "), SymbolCounts(links), "\n");
  AddLibraries(links, style, text);
  AddSymbols(links, invocation.output.verbose, style, text);
  if (probe.facts) AddFacts(*probe.facts, style, text);
  AddProblems(problems, style, text);
  if (invocation.output.verbose && !probe.output.empty())
    absl::StrAppend(&text, "\n", style.Dim("It wrote:"), "\n", probe.output);
  absl::StrAppend(&text, "\n", style.Dim("verdict "),
                  verdict == "loads" ? style.Green(verdict) : style.Red(verdict), "\n");
}

absl::Status PluginCheck(const PluginCheckFlags& flags, Invocation& invocation) {
  absl::StatusOr<LinkReport> links = CheckLinks(flags.paths.front());
  if (!links.ok()) return WithExit(Exit::kInvalidInput, links.status());
  TENON_ASSIGN_OR_RETURN(
      PluginProbe probe,
      ProbePlugin(links->path, flags.timeout_s.value_or(kDefaultCallbackTimeout), flags.init));
  const std::vector<PluginProblem> problems = PluginProblems(*links, probe);
  const auto fatal = std::find_if(problems.begin(), problems.end(),
                                  [](const PluginProblem& problem) { return problem.fatal; });
  const std::string_view verdict = Name(probe.end, fatal == problems.end());
  if (!invocation.json()) {
    WriteText(*links, probe, verdict, problems, invocation);
  } else {
    AddVersions(invocation.doc);
    invocation.doc.Set("path", links->path)
        .Set("verdict", verdict)
        .Set("entry_points", Json::ArrayOf(links->entry_points))
        .Set("needed", LibrariesJson(*links))
        .Set("symbols", SymbolsJson(*links))
        .Set("init", probe.facts ? *std::move(probe.facts) : Json())
        .Set("output", probe.output)
        .Set("problems", ProblemsJson(problems));
  }
  if (fatal == problems.end()) return absl::OkStatus();
  const std::string message =
      absl::StrCat("plug-in ", links->path, " ", verdict, ": ", fatal->what);
  return probe.end == PluginProbe::End::kHung
             ? WithExit(Exit::kTimeout, absl::DeadlineExceededError(message))
             : WithExit(Exit::kPluginFault, absl::FailedPreconditionError(message));
}

}  // namespace

extern const Command kPluginCheckCommand = {
    .name = "plugin check",
    .arguments = "SO",
    .fewest = 1,
    .most = 1,
    .what =
        "Whether a plug-in would load here, what it needs and brings, and per problem what to do. "
        "Its code runs in a child process only.",
    .examples = {"graph_run plugin check build/release/lib/plugins/libapu.so",
                 "graph_run plugin check build/release/lib/plugins/libapu.so --json"},
    .start = Start<PluginCheckFlags, PluginCheck>,
    .watches_processes = true,
};

}  // namespace tenon::cli
