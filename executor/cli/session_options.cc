#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/invocation.h"
#include "executor/cli/options.h"
#include "executor/place/name_pattern.h"
#include "graph/file_bytes.h"
#include "graph/status_macros.h"
#include "grappler_lite/rewriter_config.h"

namespace tenon::cli {
namespace {

// "REGEX=DEVICE": device names hold no '=', expressions may.
absl::StatusOr<std::pair<std::string, std::string>> ParseRule(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return UsageError(
        absl::StrCat("--place '", text, "' is no REGEX=DEVICE, such as 'layer1/.*=APU:0'"));
  }
  const std::string device = text.substr(equals + 1);
  const absl::Status valid = ParseDeviceFlag(device).status();
  if (!valid.ok()) return UsageError(absl::StrCat("--place '", text, "': ", valid.message()));
  const std::string pattern = text.substr(0, equals);
  const absl::Status known = NamePattern::Compile(pattern).status();
  if (!known.ok()) return UsageError(absl::StrCat("--place '", text, "': ", known.message()));
  return std::pair(pattern, device);
}

absl::Status PlacerOptionsFrom(const Options& options, PlacerOptions& placer) {
  placer.soft_placement = options.soft_placement;
  placer.fallback = !options.no_fallback;
  placer.default_device = options.device;
  if (!options.device.empty()) {
    const absl::Status valid = ParseDeviceFlag(options.device).status();
    if (!valid.ok()) return UsageError(absl::StrCat("--device: ", valid.message()));
  }
  for (const std::string& text : options.place) {
    TENON_ASSIGN_OR_RETURN(auto rule, ParseRule(text));
    placer.rules.push_back(std::move(rule));
  }
  return absl::OkStatus();
}

// Every name of a flag's list, checked by `check`.
absl::Status CheckNames(std::string_view flag, const std::vector<std::string>& names,
                        absl::Status (*check)(std::string_view)) {
  for (const std::string& name : names) {
    const absl::Status known = check(name);
    if (!known.ok()) return UsageError(absl::StrCat(flag, ": ", known.message()));
  }
  return absl::OkStatus();
}

absl::Status CheckPass(std::string_view name) { return CheckPassName(name); }
absl::Status CheckPassOrAll(std::string_view name) {
  return name == "*" ? absl::OkStatus() : CheckPassName(name);
}
absl::Status CheckRewrite(std::string_view name) { return CheckRewriteName(name); }

absl::StatusOr<std::vector<PassSpec>> PassSpecsFrom(const Options& options) {
  absl::StatusOr<std::vector<PassSpec>> specs = ParsePassSpecs(options.passes);
  if (!specs.ok()) return UsageError(absl::StrCat("--passes: ", specs.status().message()));
  return specs;
}

// A file of this name, or else the text itself.
absl::StatusOr<std::string> ConfigText(const std::string& config) {
  std::error_code error;
  if (!std::filesystem::exists(config, error)) {
    if (config.find_first_of(":{") != std::string::npos) return config;
    return UsageError(absl::StrCat("--config: there is no file '", config,
                                   "', and it is no RewriterConfig such as 'remapping: OFF'"));
  }
  constexpr size_t kMaxBytes = size_t{1} << 20;
  const absl::StatusOr<FileBytes> file = ReadFile(config, kMaxBytes);
  if (!file.ok()) return UsageError(absl::StrCat("--config: ", file.status().message()));
  return std::string(file->bytes);
}

absl::Status ReadConfig(const Options& options, SessionOptions& session) {
  if (options.config.empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string text, ConfigText(options.config));
  const absl::StatusOr<RewriterSettings> settings = ParseRewriterConfig(text);
  if (!settings.ok()) return UsageError(absl::StrCat("--config: ", settings.status().message()));
  for (const std::string& line : settings->without_effect)
    Warn(options, absl::StrCat("--config: ", line));
  if (settings->no_passes) session.opt_level = 0;
  Apply(*settings, session.pipeline);
  return absl::OkStatus();
}

}  // namespace

Target TargetOf(const Options& options) {
  if (!options.target.empty()) return Target::Parse(options.target).value_or(Target());
  return options.command == Command::kOpt ? Target::TensorFlow() : Target();
}

absl::StatusOr<SessionOptions> SessionOptionsFrom(const Options& options) {
  SessionOptions session;
  session.threads = options.threads;
  session.opt_level = options.opt_level >= 0               ? options.opt_level
                      : options.command == Command::kCheck ? 0
                                                           : 1;
  TENON_ASSIGN_OR_RETURN(session.pipeline.passes, PassSpecsFrom(options));
  TENON_RETURN_IF_ERROR(CheckNames("--disable-pass", options.disabled_passes, CheckPass));
  TENON_RETURN_IF_ERROR(CheckNames("--print-before", options.print_before, CheckPassOrAll));
  TENON_RETURN_IF_ERROR(CheckNames("--print-after", options.print_after, CheckPassOrAll));
  TENON_RETURN_IF_ERROR(CheckNames("--disable-rewrite", options.disabled_rewrites, CheckRewrite));
  session.pipeline.disabled_passes = options.disabled_passes;
  session.pipeline.disabled_rewrites = options.disabled_rewrites;
  session.pipeline.verify_each = !options.verify_each.empty();
  session.pipeline.fast_math = options.fast_math;
  session.pipeline.target = TargetOf(options);
  if (options.bisect_limit.value_or(-1) >= 0) session.pipeline.bisect_limit = *options.bisect_limit;
  TENON_RETURN_IF_ERROR(ReadConfig(options, session));
  TENON_RETURN_IF_ERROR(PlacerOptionsFrom(options, session.placer));
  // With --timeout the watchdog ends the process, and names the wait that lasts: let it be first.
  constexpr double kGrace = 1;
  session.device_timeout_s =
      options.timeout_s ? *options.timeout_s + kGrace : kDefaultCallbackTimeout;
  session.seed = options.seed;
  return session;
}

}  // namespace tenon::cli
