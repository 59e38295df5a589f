#include "executor/cli/command_line.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/text.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

std::string FullPath(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

class Flags {
 public:
  void Add(std::string_view flag) { absl::StrAppend(&text_, " ", flag); }
  void Add(std::string_view flag, std::string_view value) {
    absl::StrAppend(&text_, " ", flag, "=", ShellWord(value));
  }
  void AddEach(std::string_view flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) Add(flag, value);
  }
  template <typename T>
  void AddIf(std::string_view flag, const std::optional<T>& value) {
    if (value) Add(flag, absl::StrCat(*value));
  }
  std::string Text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string ProgramWord() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "graph_run" : ShellWord(program.string());
}

std::string OptimizerFlags(const Options& options) {
  Flags flags;
  for (const std::string& plugin : options.plugins) {
    const size_t options_begin = std::min(plugin.find(';'), plugin.size());
    flags.Add("--plugin", FullPath(plugin.substr(0, options_begin)) + plugin.substr(options_begin));
  }
  if (!options.device.empty()) flags.Add("--device", options.device);
  flags.AddEach("--place", options.place);
  if (options.no_fallback) flags.Add("--no-fallback");
  if (!options.soft_placement) flags.Add("--soft-placement=off");
  flags.AddEach("--disable-rewrite", options.disabled_rewrites);
  if (options.fast_math) flags.Add("--fast-math");
  if (!options.target.empty()) flags.Add("--target", options.target);
  return std::move(flags).Text();
}

std::string PassFlags(const Options& options) {
  Flags flags;
  if (!options.passes.empty()) flags.Add("--passes", options.passes);
  flags.AddEach("--disable-pass", options.disabled_passes);
  if (!options.config.empty()) {
    std::error_code error;
    const bool is_file = fs::exists(options.config, error);
    flags.Add("--config", is_file ? FullPath(options.config) : options.config);
  }
  if (options.opt_level >= 0) flags.Add("--opt-level", absl::StrCat(options.opt_level));
  return std::move(flags).Text();
}

std::string JudgeFlags(const Options& options) {
  Flags flags;
  flags.AddIf("--rtol", options.rtol);
  flags.AddIf("--atol", options.atol);
  flags.AddIf("--max-ulp", options.max_ulp);
  if (options.equal_nan) flags.Add("--equal-nan");
  return std::move(flags).Text();
}

}  // namespace tenon::cli
