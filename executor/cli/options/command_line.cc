// Writes flags as arguments again, for commands that repeat what this process does.

#include "executor/cli/options/command_line.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/values/text.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

// Scripts may be run from another folder.
std::string FullPath(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

std::string LibraryPath(const std::string& library) {
  std::error_code error;
  const bool is_searched_for = library.find('/') == library.npos && !fs::exists(library, error);
  return is_searched_for ? library : FullPath(library);
}

class Arguments {
 public:
  void Add(std::string_view flag) { absl::StrAppend(&text_, " ", flag); }
  void Add(std::string_view flag, std::string_view value) {
    absl::StrAppend(&text_, " ", flag, "=", ShellWord(value));
  }
  void Add(const GivenFlag& flag) {
    if (flag.value.empty()) {
      Add(flag.name);
    } else {
      Add(flag.name, flag.value);
    }
  }
  void AddEach(std::string_view flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) Add(flag, value);
  }
  // All digits: what is repeated must judge as this process does.
  void AddIf(std::string_view flag, const std::optional<double>& value) {
    if (value) Add(flag, ShortestText(*value));
  }
  std::string Text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string ProgramWord() {
  std::error_code error;
  // The shell's PATH may find another graph_run.
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "graph_run" : ShellWord(program.string());
}

std::string OptimizerArguments(const CompileFlags& flags) {
  Arguments arguments;
  for (const std::string& plugin : flags.plugins) {
    const size_t options_begin = std::min(plugin.find(';'), plugin.size());
    arguments.Add("--plugin",
                  LibraryPath(plugin.substr(0, options_begin)) + plugin.substr(options_begin));
  }
  for (const GivenFlag& flag : flags.given_placement) arguments.Add(flag);
  arguments.AddEach("--disable-rewrite", flags.disabled_rewrites);
  if (flags.fast_math) arguments.Add("--fast-math");
  if (!flags.target.empty()) arguments.Add("--target", flags.target);
  if (flags.precision != kFullPrecision) arguments.Add("--precision", flags.precision);
  return std::move(arguments).Text();
}

std::string PassArguments(const OptimizerFlags& flags) {
  Arguments arguments;
  if (!flags.passes.empty()) arguments.Add("--passes", flags.passes);
  arguments.AddEach("--disable-pass", flags.disabled_passes);
  if (!flags.config.empty()) {
    std::error_code error;
    const bool is_file = fs::exists(flags.config, error);
    arguments.Add("--config", is_file ? FullPath(flags.config) : flags.config);
  }
  if (flags.opt_level >= 0) arguments.Add("--opt-level", absl::StrCat(flags.opt_level));
  return std::move(arguments).Text();
}

std::string JudgeArguments(const ToleranceFlags& flags) {
  Arguments arguments;
  arguments.AddIf("--rtol", flags.rtol);
  arguments.AddIf("--atol", flags.atol);
  if (flags.max_ulp) arguments.Add("--max-ulp", absl::StrCat(*flags.max_ulp));
  if (flags.equal_nan) arguments.Add("--equal-nan");
  return std::move(arguments).Text();
}

std::string TimeoutArgument(const CommonFlags& flags) {
  Arguments arguments;
  arguments.AddIf("--timeout", flags.timeout_s);
  return std::move(arguments).Text();
}

}  // namespace tenon::cli
