// A field that has nothing to act on here is reported if a program may count on it, and passed over
// if it only tunes TensorFlow's own workings.
#include "executor/api/base/session_config.h"

#include <google/protobuf/stubs/logging.h>

#include <climits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "grappler_lite/pipeline/rewriter_config.h"
#include "proto/config.pb.h"

namespace tenon::api {
namespace {

class ConfigReader {
 public:
  explicit ConfigReader(const pb::ConfigProto& proto) : proto_(proto) {}

  absl::StatusOr<SessionConfig> Read() {
    for (const auto& [type, count] : proto_.device_count()) config_.device_count[type] = count;
    config_.own_threads = proto_.use_per_session_threads();
    config_.log_placement = proto_.log_device_placement();
    config_.thread_pools = std::max(proto_.session_inter_op_thread_pool_size(), 1);
    config_.options.threads = std::max(proto_.intra_op_parallelism_threads(), 0);
    config_.options.placer.soft_placement = proto_.allow_soft_placement();
    if (proto_.operation_timeout_in_ms() > 0)
      config_.timeout = absl::Milliseconds(proto_.operation_timeout_in_ms());
    if (proto_.experimental().has_session_metadata())
      config_.metadata = proto_.experimental().session_metadata().SerializeAsString();
    ReadOptimizers();
    ReadRest();
    return std::move(config_);
  }

 private:
  void Ignore(std::string_view what, std::string_view why) {
    config_.without_effect.push_back(absl::StrCat("ConfigProto: ", what, " has no effect: ", why));
  }

  // The passes of RewriterConfig, then the older options: level L0 leaves only the passes that
  // either of the two names.
  void ReadOptimizers() {
    SessionOptions& options = config_.options;
    const pb::OptimizerOptions& older = proto_.graph_options().optimizer_options();
    const RewriterSettings settings = SettingsOf(proto_.graph_options().rewrite_options());
    for (const std::string& sentence : settings.without_effect)
      config_.without_effect.push_back(absl::StrCat("ConfigProto: rewrite_options: ", sentence));
    Apply(settings, options.pipeline);
    if (older.opt_level() == pb::OptimizerOptions::L0 && options.pipeline.passes.empty()) {
      for (const std::string& pass : NamedPasses(older, settings))
        options.pipeline.passes.push_back({pass, {}});
      if (options.pipeline.passes.empty()) options.opt_level = 0;
    }
    if (settings.no_passes) options.opt_level = 0;
    if (older.global_jit_level() > 0 || older.cpu_global_jit())
      Ignore("global_jit_level", "there is no XLA compiler");
  }

  static std::vector<std::string> NamedPasses(const pb::OptimizerOptions& older,
                                              const RewriterSettings& settings) {
    std::vector<std::string> passes = settings.on;
    if (older.do_function_inlining()) passes.emplace_back("function_optimization");
    if (older.do_common_subexpression_elimination())
      passes.emplace_back("common_subgraph_elimination");
    if (older.do_constant_folding()) passes.emplace_back("constant_folding");
    return passes;
  }

  void ReadRest() {
    // 0 leaves the number open, and 1 is what there is.
    if (proto_.inter_op_parallelism_threads() > 1)
      Ignore("inter_op_parallelism_threads",
             "the nodes of a run share the threads of intra_op_parallelism_threads");
    if (proto_.session_inter_op_thread_pool_size() > 0)
      Ignore("session_inter_op_thread_pool",
             "the nodes of a run share the threads of intra_op_parallelism_threads");
    IgnoreDeviceOptions("gpu_options", proto_.gpu_options());
    IgnoreDeviceOptions("pluggable_device_options", proto_.pluggable_device_options());
    if (proto_.graph_options().build_cost_model() > 0)
      Ignore("build_cost_model", "passes go by the ops, not by measured costs");
    config_.executor_type = proto_.experimental().executor_type();
    config_.no_partition_graphs = proto_.experimental().disable_output_partition_graphs();
    if (config_.executor_type == "SINGLE_THREADED_EXECUTOR")
      Ignore("executor_type", "there is one executor");
    if (proto_.experimental().use_numa_affinity())
      Ignore("use_numa_affinity", "the system places threads");
  }

  void IgnoreDeviceOptions(std::string_view name, const pb::GPUOptions& options) {
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    options.GetReflection()->ListFields(options, &fields);
    if (fields.empty()) return;
    Ignore(absl::StrCat(name, ".",
                        absl::StrJoin(fields, ", ",
                                      [](std::string* out, const auto* field) {
                                        out->append(field->name());
                                      })),
           "a plug-in decides by itself which devices it has and how they allocate memory");
  }

  const pb::ConfigProto& proto_;
  SessionConfig config_;
};

}  // namespace

// A program that calls the C API may open any file without it, so its kernels may too. Its runs
// wait for each other as long as it likes.
SessionConfig::SessionConfig() {
  options.placer.soft_placement = false;
  options.files = FileAccess::Anything();
}

absl::StatusOr<SessionConfig> ReadSessionConfig(std::string_view proto) {
  const google::protobuf::LogSilencer silence;
  pb::ConfigProto config;
  if (proto.size() > INT_MAX ||
      !config.ParseFromArray(proto.data(), static_cast<int>(proto.size())))
    return absl::InvalidArgumentError("Unparseable ConfigProto");
  return ConfigReader(config).Read();
}

absl::Status CheckExecutorType(std::string_view type) {
  if (type.empty() || type == "DEFAULT" || type == "SINGLE_THREADED_EXECUTOR")
    return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("No executor factory registered for the given executor type: ", type,
                   " Registered factories are {DEFAULT, , SINGLE_THREADED_EXECUTOR}."));
}

}  // namespace tenon::api
