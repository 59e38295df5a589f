// Judges what the files of a plug-in show and what happened when a child process loaded it. What
// keeps the plug-in from loading comes first.

#include "executor/cli/plugins/plugin_advice.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/values/text.h"
#include "graph/base/one_line.h"

namespace tenon::cli {
namespace {

// Symbols that one problem names.
constexpr size_t kMaxExamples = 3;

class Judge {
 public:
  Judge(const LinkReport& links, const PluginProbe& probe) : links_(links), probe_(probe) {}

  std::vector<PluginProblem> Run() {
    LookAtLibraries();
    LookAtSymbols();
    LookAtEntryPoints();
    LookAtLoad();
    LookAtStructs();
    if (links_.file.unique_symbols) {
      Note("it has symbols that are unique in the process: the system never unloads it",
           "compile with -fno-gnu-unique (g++), so that it can be unloaded and loaded again");
    }
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const auto& a, const auto& b) { return a.fatal > b.fatal; });
    return std::move(problems_);
  }

 private:
  void Fatal(std::string what, std::string advice) {
    problems_.push_back({true, std::move(what), std::move(advice)});
  }
  void Note(std::string what, std::string advice) {
    problems_.push_back({false, std::move(what), std::move(advice)});
  }

  // What was found in files is only a guess if the plug-in has loaded all the same.
  void Missing(std::string what, std::string advice) {
    problems_.push_back({!Loaded(), std::move(what), std::move(advice)});
  }
  bool Loaded() const {
    return probe_.end == PluginProbe::End::kAnswered &&
           Text(*probe_.facts->Find("status"), "code") == "OK";
  }

  void LookAtLibraries() {
    for (const NeededLibrary& needed : links_.needed) {
      if (needed.of_host) continue;
      if (!needed.damage.empty()) {
        Missing(
            absl::StrCat("library ", needed.name, ", which ", needed.by, " needs: ", needed.damage),
            "install it again, for x86-64");
      } else if (needed.path.empty()) {
        Missing(
            absl::StrCat("library ", needed.name, ", which ", needed.by, " needs, is not found"),
            absl::StrCat("install what brings ", needed.name,
                         ", add its folder to LD_LIBRARY_PATH, or ship it beside the plug-in "
                         "and link that with -Wl,-rpath,'$ORIGIN'"));
      }
    }
  }

  // One problem for all missing symbols of one library.
  void LookAtSymbols() {
    struct Group {
      int64_t count = 0;
      std::vector<std::string> examples;
    };
    std::map<std::pair<std::string, bool>, Group> groups;
    std::map<std::string, Group> versions;
    for (const SymbolFinding& symbol : links_.symbols) {
      if (symbol.state != SymbolState::kMissing) continue;
      if (!symbol.wrong_version.empty()) {
        AddTo(versions[absl::StrCat(symbol.symbol.version, " of ", symbol.library,
                                    ", which has up to ", symbol.wrong_version)],
              symbol);
      } else {
        AddTo(groups[{symbol.library, symbol.cxx}], symbol);
      }
    }
    for (const auto& [what, group] : versions) {
      Missing(absl::StrCat(Plural(group.count, "symbol"), " of version ", what, ": ",
                           Examples(group.examples, group.count)),
              "build the plug-in on a system as old as the oldest that it is to run on");
    }
    for (const auto& [owner, group] : groups) {
      const auto& [library, cxx] = owner;
      Missing(absl::StrCat(Plural(group.count, cxx ? "C++ symbol" : "symbol"), " missing",
                           library.empty() ? "" : absl::StrCat(", of ", library), ": ",
                           Examples(group.examples, group.count)),
              SymbolAdvice(library, cxx));
    }
  }

  template <typename Group>
  static void AddTo(Group& group, const SymbolFinding& symbol) {
    if (group.examples.size() < kMaxExamples) group.examples.push_back(symbol.readable);
    ++group.count;
  }

  static std::string Examples(const std::vector<std::string>& examples, int64_t count) {
    return absl::StrCat(absl::StrJoin(examples, ", "),
                        count > static_cast<int64_t>(examples.size()) ? ", ..." : "");
  }

  static std::string SymbolAdvice(const std::string& owner, bool cxx) {
    if (absl::StrContains(owner, "sanitizer"))
      return "build the plug-in without -fsanitize, or run it in a host that is built with it";
    if (absl::StartsWith(owner, "TensorFlow's C library")) {
      return "this host exports what TensorFlow 2.12 to 2.21 documents for plug-ins; declare the "
             "function weak, or look it up with dlsym and do without it";
    }
    if (absl::StartsWith(owner, "TensorFlow's C++"))
      return "use the C API only: TensorFlow's C++ is in no host but TensorFlow";
    if (owner == "Abseil" || owner == "protobuf")
      return absl::StrCat("link ", owner, " into the plug-in, statically and hidden");
    if (owner == "Python") return "keep what needs Python in a library of its own";
    if (cxx) return "link the library that defines them, or build without what uses them";
    return "link the library that defines them: -Wl,--no-undefined finds such at link time, with "
           "TensorFlow's C API as the only exception";
  }

  void LookAtEntryPoints() {
    const auto& entries = links_.entry_points;
    const bool called = std::any_of(entries.begin(), entries.end(),
                                    [](const std::string& e) { return e != "TFNPD_InitPlugin"; });
    if (called) return;
    if (entries.empty()) {
      Note("it exports no entry point",
           "export SE_InitPlugin, TF_InitKernel, TF_InitGraph, TF_InitProfiler or GetPjrtApi: "
           "extern \"C\", "
           "visibility default, and in the version script if there is one");
    } else {
      Note(absl::StrCat("it has no entry point that this host calls, only ",
                        absl::StrJoin(entries, " and ")),
           "export SE_InitPlugin, or GetPjrtApi, beside it: this host has no NextPluggableDevice");
    }
  }

  void LookAtLoad() {
    if (probe_.end == PluginProbe::End::kHung) {
      Fatal(absl::StrCat("it hangs: ", probe_.death),
            "nothing may wait for devices or servers at load; --timeout allows more time");
      return;
    }
    if (probe_.end == PluginProbe::End::kCrashed) {
      Fatal(absl::StrCat("it crashes: ", probe_.death), CrashAdvice(probe_.death));
      return;
    }
    const Json status = *probe_.facts->Find("status");
    const std::string code = Text(status, "code"), message = Text(status, "message");
    if (code != "OK") {
      Fatal(absl::StrCat(code, ": ", message), LoadAdvice(code, message));
      return;
    }
    NoteAll("warnings", "it loads all the same");
    NoteAll("doubts", "correct the registration: it loads all the same, and is of no use");
    const double devices = probe_.facts->Find("devices")->AsNumber().value_or(0);
    // Without a client, nobody has asked a PJRT plug-in for its devices.
    const std::optional<Json> pjrt = probe_.facts->Find("pjrt");
    const bool asked =
        !pjrt || !Text(*pjrt, "platform").empty() || !Text(*pjrt, "no_devices").empty();
    if (asked && (pjrt || !Text(*probe_.facts, "device_type").empty()) && devices == 0) {
      Note("it finds no device on this machine: everything stays on the CPU",
           "look at its driver, the rights on its device files, and its own variables");
    }
  }

  void NoteAll(std::string_view key, const std::string& advice) {
    const std::optional<Json> texts = probe_.facts->Find(key);
    for (size_t i = 0; texts && i < texts->size(); ++i)
      Note(texts->At(i).AsString().value_or(""), advice);
  }

  static std::string Text(const Json& object, std::string_view key) {
    const std::optional<Json> value = object.Find(key);
    return value ? value->AsString().value_or("") : "";
  }

  static std::string CrashAdvice(const std::string& death) {
    if (absl::StrContains(death, "that this processor does not have") ||
        absl::StrContains(death, "which this processor does not have")) {
      return "build it for this processor (no -march=native of another one), or have it choose at "
             "run time what the processor has";
    }
    return "run `gdb --args graph_run devices --plugin SO`; its output is shown with --verbose";
  }

  // By the words of the loader's own messages, which the status code alone does not tell apart.
  static std::string LoadAdvice(const std::string& code, const std::string& message) {
    if (code == "NOT_FOUND")
      return "the loader's own words; the problems above say the same in full";
    if (absl::StrContains(message, "struct_size"))
      return "set struct_size of each struct to the *_STRUCT_SIZE of your headers";
    if (absl::StrContains(message, "field in"))
      return "set that member: TensorFlow requires it too";
    if (absl::StrContains(message, "must match"))
      return "a type is made of capital letters and underscores";
    if (absl::StrContains(message, " closed standard "))
      return "close no file that the plug-in did not open: results go to this one";
    if (code == "ALREADY_EXISTS") return "give the op a name of its own, with a prefix";
    if (absl::StrContains(message, "exception"))
      return "catch exceptions in each callback and set the status instead";
    return "the plug-in's own words; its documentation knows more";
  }

  void LookAtStructs() {
    const std::optional<Json> structs = probe_.facts ? probe_.facts->Find("structs") : std::nullopt;
    for (size_t i = 0; structs && i < structs->size(); ++i) {
      const Json one = structs->At(i);
      const double size = one.Find("size")->AsNumber().value_or(0);
      const double host = one.Find("host_size")->AsNumber().value_or(0);
      if (size == host) continue;
      Note(absl::StrFormat("%s.struct_size is %.0f, this host's %.0f", Text(one, "name"), size,
                           host),
           size < host ? "it was compiled against older headers, or the size is wrong: members "
                         "beyond it count as not set"
                       : "it was compiled against newer headers: members beyond ours are not used");
    }
  }

  const LinkReport& links_;
  const PluginProbe& probe_;
  std::vector<PluginProblem> problems_;
};

}  // namespace

std::vector<PluginProblem> PluginProblems(const LinkReport& links, const PluginProbe& probe) {
  return Judge(links, probe).Run();
}

}  // namespace tenon::cli
