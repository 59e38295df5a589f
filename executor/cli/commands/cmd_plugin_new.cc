// graph_run plugin new: writes a plug-in to start from, which builds and passes its test.
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/invocation.h"
#include "graph/base/embedded_file.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

// The name becomes that of a file, a namespace, an op and a device type. A device type has no
// digits.
absl::Status CheckName(const std::string& name) {
  bool valid = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  for (const char c : name) valid = valid && (absl::ascii_isalpha(c) || c == '_');
  if (!valid) {
    return UsageError(absl::StrCat("plugin new: '", name,
                                   "' is no name for a plug-in and its device type: letters and "
                                   "underscores, such as my_board"));
  }
  const std::string type = absl::AsciiStrToUpper(name);
  for (const std::string_view taken : {"CPU", "GPU", "TPU", "DEFAULT", "TF", "STD"}) {
    if (type == taken)
      return UsageError(absl::StrCat("plugin new: '", name, "' would be taken for something else"));
  }
  return absl::OkStatus();
}

// "MyBoard" of "my_board".
std::string CamelCase(const std::string& name) {
  std::string camel;
  for (std::string_view part : absl::StrSplit(name, '_', absl::SkipEmpty())) {
    std::string word(part);
    word[0] = absl::ascii_toupper(word[0]);
    absl::StrAppend(&camel, word);
  }
  return camel;
}

// The files and folders that are made. What is not kept goes again, but for a folder in which
// somebody else has put something.
class MadeFiles {
 public:
  ~MadeFiles() {
    std::error_code ignored;
    for (size_t i = made_.size(); i-- > 0;) fs::remove(made_[i], ignored);
  }
  // Writes a file, and the folders that are missing around it.
  absl::Status Write(const fs::path& path, std::string_view content) {
    MakeFolder(path.parent_path());
    TENON_RETURN_IF_ERROR(WriteFile(path, content));
    made_.push_back(path);
    return absl::OkStatus();
  }
  void Keep() { made_.clear(); }

 private:
  // WriteFile reports a folder that could not be made.
  void MakeFolder(const fs::path& folder) {
    std::error_code error;
    if (folder.empty() || fs::exists(folder, error)) return;
    MakeFolder(folder.parent_path());
    if (fs::create_directory(folder, error)) made_.push_back(folder);
  }

  std::vector<fs::path> made_;
};

struct PluginNewFlags : CommonFlags {
  std::string kind = "device";

  void Declare(Declarer& d) {
    d.Group(FlagGroup::kOutput);
    d.Choice("--kind", {"device", "pjrt"}, "device|pjrt",
             "device: kernels, an op and a pass; pjrt: a device that compiles whole programs",
             [this](const std::string& word) { kind = word; });
    DeclareOutput(d);
  }
};

// A file of the plug-in as it is written.
struct TemplateFile {
  std::string path, content;
};

std::vector<TemplateFile> FilesOf(const std::string& kind, const std::string& lower,
                                  const std::string& type) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"sample", lower}, {"Sample", CamelCase(lower)}, {"SAMPLE", type}};
  std::vector<TemplateFile> files;
  if (kind != "pjrt") {
    for (const EmbeddedFile& file : PluginTemplate()) {
      files.push_back({std::string(file.path), absl::StrReplaceAll(file.content, names)});
    }
    return files;
  }
  for (const EmbeddedFile& file : PjrtTemplate()) {
    std::string_view path = file.path;
    if (absl::ConsumePrefix(&path, "template/")) {
      const std::string place = path == "version.h" ? "face/version.h" : std::string(path);
      files.push_back({place, absl::StrReplaceAll(file.content, names)});
    } else {
      files.push_back(
          {std::string(path),
           absl::StrReplaceAll(
               file.content, {{"pjref", lower}, {"PJREF", type}, {"plugin/pjrt_reference/", ""}})});
    }
  }
  return files;
}

absl::Status PluginNew(const PluginNewFlags& flags, Invocation& invocation) {
  const std::string& name = flags.paths[0];
  const fs::path folder = flags.paths[1];
  TENON_RETURN_IF_ERROR(CheckName(name));
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error))
    return UsageError(absl::StrCat("plugin new: ", folder.string(), " is there and not empty"));
  const std::string lower = absl::AsciiStrToLower(name);
  const std::string type = absl::AsciiStrToUpper(name);
  MadeFiles made;
  std::vector<std::string> written;
  for (const TemplateFile& file : FilesOf(flags.kind, lower, type)) {
    TENON_RETURN_IF_ERROR(made.Write(folder / file.path, file.content));
    written.push_back(file.path);
  }
  made.Keep();
  invocation.doc.Set("name", lower)
      .Set("device_type", type)
      .Set("folder", folder.string())
      .Set("files", Json::ArrayOf(written));
  const Style& style = invocation.style;
  const std::string build = ShellWord((folder / "build").string());
  invocation.text = absl::StrCat(
      style.Bold(folder.string()), " has the plug-in ", lower, " for devices of type ", type, ": ",
      absl::StrJoin(written, ", "), "\n\n", style.Dim("build   "), "cmake -S ",
      ShellWord(folder.string()), " -B ", build,
      " -DCMAKE_PREFIX_PATH=<Tenon's build or install folder>", "\n        cmake --build ", build,
      "\n", style.Dim("test    "), "ctest --test-dir ", build, " --output-on-failure\n");
  return absl::OkStatus();
}

}  // namespace

extern const Command kPluginNewCommand = {
    .name = "plugin new",
    .arguments = "NAME DIR",
    .fewest = 2,
    .most = 2,
    .what =
        "Write a plug-in that builds and passes its test: a device, two kernels, an op, a pass; or "
        "a device behind PJRT.",
    .examples = {"graph_run plugin new toy /tmp/toy",
                 "graph_run plugin new my_board /tmp/my_board --kind pjrt"},
    .start = Start<PluginNewFlags, PluginNew>,
};

}  // namespace tenon::cli
