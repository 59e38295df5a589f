#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/pipeline/rewriter_config.h"

namespace tenon::cli {
namespace {

// Checks each name of a flag's list with `check`.
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

absl::StatusOr<std::vector<PassSpec>> PassSpecsFrom(const CompileFlags& flags) {
  absl::StatusOr<std::vector<PassSpec>> specs = ParsePassSpecs(flags.passes);
  if (!specs.ok()) return UsageError(absl::StrCat("--passes: ", specs.status().message()));
  return specs;
}

// The content of the file of this name, or else the text itself.
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

absl::Status ReadConfig(const CompileFlags& flags, SessionOptions& session) {
  if (flags.config.empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string text, ConfigText(flags.config));
  const absl::StatusOr<RewriterSettings> settings = ParseRewriterConfig(text);
  if (!settings.ok()) return UsageError(absl::StrCat("--config: ", settings.status().message()));
  for (const std::string& line : settings->without_effect)
    Warn(flags, absl::StrCat("--config: ", line));
  if (settings->no_passes) session.opt_level = 0;
  Apply(*settings, session.pipeline);
  return absl::OkStatus();
}

absl::Status SetPrecisionOf(const CompileFlags& flags, SessionOptions& session) {
  const absl::Status set = SetPrecision(flags.precision, session.pipeline);
  if (!set.ok()) return UsageError(absl::StrCat("--precision: ", set.message()));
  if (flags.precision != kFullPrecision && session.opt_level == 0)
    return UsageError("--precision is the work of a pass, and --opt-level 0 runs none");
  return absl::OkStatus();
}

}  // namespace

Target TargetOf(const CompileFlags& flags) {
  if (!flags.target.empty()) return Target::Parse(flags.target).value_or(Target());
  return flags.defaults.target;
}

absl::StatusOr<SessionOptions> SessionOptionsFrom(const CompileFlags& flags) {
  SessionOptions session;
  session.threads = flags.threads;
  session.inter_op = flags.inter_op;
  session.pin = flags.pin;
  session.numa = flags.numa;
  std::tie(session.order, session.order_seed) =
      NodeOrderOf(flags.node_order).value_or(std::pair(NodeOrder::kAuto, uint64_t{0}));
  session.device_streams = flags.device_streams;
  session.max_plan_bytes = flags.max_plan_bytes;
  session.keep_costs = flags.keep_costs;
  session.opt_level = flags.opt_level >= 0 ? flags.opt_level : flags.defaults.opt_level;
  TENON_ASSIGN_OR_RETURN(session.pipeline.passes, PassSpecsFrom(flags));
  TENON_RETURN_IF_ERROR(CheckNames("--disable-pass", flags.disabled_passes, CheckPass));
  TENON_RETURN_IF_ERROR(CheckNames("--print-before", flags.print_before, CheckPassOrAll));
  TENON_RETURN_IF_ERROR(CheckNames("--print-after", flags.print_after, CheckPassOrAll));
  TENON_RETURN_IF_ERROR(CheckNames("--disable-rewrite", flags.disabled_rewrites, CheckRewrite));
  session.pipeline.disabled_passes = flags.disabled_passes;
  session.pipeline.disabled_rewrites = flags.disabled_rewrites;
  session.pipeline.verify_each = !flags.verify_each.empty();
  session.pipeline.fast_math = flags.fast_math;
  session.pipeline.target = TargetOf(flags);
  if (flags.bisect_limit.value_or(-1) >= 0) session.pipeline.bisect_limit = *flags.bisect_limit;
  TENON_RETURN_IF_ERROR(ReadConfig(flags, session));
  TENON_RETURN_IF_ERROR(SetPrecisionOf(flags, session));
  session.placer = flags.placer;
  // With --timeout the watchdog ends the process and names the call that lasts. The session's own
  // limit comes later, so that the watchdog is first.
  constexpr double kGrace = 1;
  session.device_timeout_s = flags.timeout_s ? *flags.timeout_s + kGrace : kDefaultCallbackTimeout;
  session.clusters = flags.clusters;
  if (!flags.xla_buckets.empty()) {
    TENON_ASSIGN_OR_RETURN(session.clusters.buckets, Buckets::Parse(flags.xla_buckets));
  }
  if (flags.xla_async) session.clusters.async = true;
  session.clusters.timeout_s = session.device_timeout_s;
  session.seed = flags.seed;
  return session;
}

}  // namespace tenon::cli
