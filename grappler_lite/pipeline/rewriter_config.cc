// Reads a RewriterConfig with protobuf's text parser. Toggles are found by reflection, since all
// but a few have the name of their pass. A setting that means nothing here is reported, not
// refused.

#include "grappler_lite/pipeline/rewriter_config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/base/status_macros.h"
#include "proto/rewriter_config.pb.h"

namespace tenon {
namespace {

namespace gp = google::protobuf;

class FirstError : public gp::io::ErrorCollector {
 public:
  void AddError(int line, gp::io::ColumnNumber column, const std::string& message) override {
    // Later errors often follow from the first.
    if (text.empty())
      text = absl::StrCat(line + 1, ":", column + 1, ": ",
                          absl::StrReplaceAll(message, {{"tenon.pb.", ""}}));
  }
  void AddWarning(int, gp::io::ColumnNumber, const std::string&) override {}
  std::string text;
};

// Names in `optimizers` that differ from the fields', and an old name of a field.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"pruning", "model_pruning"},
    {"function", "function_optimization"},
    {"constfold", "constant_folding"},
    {"shape", "shape_optimization"},
    {"arithmetic", "arithmetic_optimization"},
    {"layout", "layout_optimizer"},
    {"remap", "remapping"},
    {"loop", "loop_optimization"},
    {"dependency", "dependency_optimization"},
    {"memory", "memory_optimization"},
    {"autoparallel", "auto_parallel"},
    {"scoped_allocator", "scoped_allocator_optimization"},
    {"pin_to_host", "pin_to_host_optimization"},
    {"auto_mixed_precision_mkl", "auto_mixed_precision_onednn_bfloat16"},
};

std::string_view PassCalled(std::string_view name) {
  for (const auto& [other, pass] : kOtherNames) {
    if (name == other) return pass;
  }
  return name;
}

bool IsPass(std::string_view name) {
  const auto passes = PassOrder();
  return std::any_of(passes.begin(), passes.end(),
                     [&](const PassEntry& pass) { return pass.name == name; });
}

// Whether TensorFlow has a field for a pass of this name.
bool IsToggle(const std::string& name) {
  const gp::FieldDescriptor* field = pb::RewriterConfig::descriptor()->FindFieldByName(name);
  return field != nullptr && field->enum_type() == pb::RewriterConfig::Toggle_descriptor();
}

class Reader {
 public:
  // `lenient`: a mistake in the message is a setting without effect.
  explicit Reader(bool lenient) : lenient_(lenient) {}

  absl::StatusOr<RewriterSettings> Read(const pb::RewriterConfig& config) {
    if (!lenient_) TENON_RETURN_IF_ERROR(CheckEnums(config));
    settings_.no_passes = config.disable_meta_optimizer();
    settings_.use_plugins = config.use_plugin_optimizers() != pb::RewriterConfig::OFF;
    settings_.fail_on_errors = config.fail_on_optimizer_errors();
    if (config.meta_optimizer_iterations() == pb::RewriterConfig::ONE) settings_.iterations = 1;
    if (config.meta_optimizer_iterations() == pb::RewriterConfig::TWO) settings_.iterations = 2;
    if (config.min_graph_nodes() != 0) settings_.min_graph_nodes = config.min_graph_nodes();
    if (config.disable_model_pruning()) settings_.off.emplace_back("model_pruning");
    ReadToggles(config);
    if (config.memory_optimization() == pb::RewriterConfig::NO_MEM_OPT) Off("memory_optimization");
    if (config.meta_optimizer_timeout_ms() > 0)
      Ignore("meta_optimizer_timeout_ms", "work is bounded by count, not by time");
    if (config.auto_parallel().enable()) On("auto_parallel");
    ReadIgnored(config);
    for (const auto& custom : config.custom_optimizers()) {
      if (IsPass(custom.name())) {
        On(custom.name());
      } else {
        Ignore(absl::StrCat("custom optimizer '", custom.name(), "'"), "nothing is registered so");
      }
    }
    TENON_RETURN_IF_ERROR(ReadOptimizers(config));
    return std::move(settings_);
  }

 private:
  void Ignore(std::string_view what, std::string_view why) {
    settings_.without_effect.push_back(absl::StrCat(what, " has no effect: ", why));
  }
  // Of fields that change nothing here.
  void ReadIgnored(const pb::RewriterConfig& config) {
    using Config = pb::RewriterConfig;
    const Config::MemOptType memory = config.memory_optimization();
    if (memory != Config::DEFAULT_MEM_OPT && memory != Config::NO_MEM_OPT)
      On("memory_optimization");
    if (config.cpu_layout_conversion() != Config::NO_CONVERSION_ON_CPU)
      Ignore("cpu_layout_conversion", "layout_optimizer decides by itself");
    if (config.scoped_allocator_opts().enable_op_size() > 0)
      Ignore("scoped_allocator_opts", OffReason("scoped_allocator_optimization"));
    if (!config.memory_optimizer_target_node_name_scope().empty())
      Ignore("memory_optimizer_target_node_name_scope", OffReason("memory_optimization"));
    for (const auto& [on, name] :
         {std::pair(config.experimental_disable_compressed_tensor_optimization(),
                    "experimental_disable_compressed_tensor_optimization"),
          std::pair(config.experimental_disable_folding_quantization_emulation(),
                    "experimental_disable_folding_quantization_emulation"),
          std::pair(config.disable_tfg_optimizer(), "disable_tfg_optimizer")}) {
      if (on) Ignore(name, "there is nothing of the kind to switch off");
    }
    if (config.has_inter_optimizer_verifier_config() ||
        config.has_post_optimization_verifier_config())
      Ignore("a verifier's configuration", "--verify-each and the final check are what there is");
  }

  // Why a pass has no rewrites; empty for one that has.
  static std::string_view OffReason(std::string_view pass) {
    for (const PassEntry& entry : PassOrder()) {
      if (entry.name == pass && entry.make()->rewrites().empty()) return entry.off;
    }
    return "";
  }

  void On(std::string_view pass) {
    settings_.on.emplace_back(pass);
    if (const std::string_view why = OffReason(pass); !why.empty()) Ignore(pass, why);
  }

  void Off(std::string_view pass) {
    if (IsPass(pass)) settings_.off.emplace_back(pass);
  }

  // Numbers may be written for names, also numbers that name nothing.
  static absl::Status CheckEnums(const pb::RewriterConfig& config) {
    const gp::Descriptor& descriptor = *config.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const gp::FieldDescriptor* field = descriptor.field(i);
      if (field->enum_type() == nullptr) continue;
      const int value = config.GetReflection()->GetEnumValue(config, field);
      if (field->enum_type()->FindValueByNumber(value) == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(field->name(), ": ", value, " is no value of ", field->enum_type()->name(),
                         ", such as ", field->enum_type()->value(0)->name()));
      }
    }
    return absl::OkStatus();
  }

  // Every field of type Toggle is named like a pass, but for a few.
  void ReadToggles(const pb::RewriterConfig& config) {
    const gp::Reflection& reflection = *config.GetReflection();
    const gp::Descriptor& descriptor = *config.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const gp::FieldDescriptor* field = descriptor.field(i);
      if (field->enum_type() != pb::RewriterConfig::Toggle_descriptor()) continue;
      const int value = reflection.GetEnumValue(config, field);
      const std::string& name = field->name();
      // use_plugin_optimizers is a Toggle that names no pass. Read has read it.
      if (value == pb::RewriterConfig::DEFAULT || name == "use_plugin_optimizers") continue;
      const std::string_view pass = PassCalled(name);
      if (value == pb::RewriterConfig::OFF) {
        Off(pass);
      } else if (IsPass(pass)) {
        On(pass);
      } else {
        Ignore(name, "there is no such pass");
      }
    }
  }

  absl::Status ReadOptimizers(const pb::RewriterConfig& config) {
    for (const std::string& listed : config.optimizers()) {
      const std::string_view name = PassCalled(listed);
      if (IsToggle(listed) && !IsPass(name)) {
        Ignore(absl::StrCat("optimizer '", listed, "'"), "there is no such pass");
        continue;
      }
      const absl::Status known = CheckPassName(name);
      if (!known.ok() && lenient_) {
        Ignore(absl::StrCat("optimizer '", listed, "'"), known.message());
        continue;
      }
      TENON_RETURN_IF_ERROR(known);
      settings_.passes.push_back({std::string(name), {}});
    }
    // A list of passes names none of a plug-in. use_plugin_optimizers alone decides about those.
    if (!config.optimizers().empty()) settings_.passes.push_back({"plugin:*", {}});
    return absl::OkStatus();
  }

  const bool lenient_;
  RewriterSettings settings_;
};

}  // namespace

absl::StatusOr<RewriterSettings> ParseRewriterConfig(std::string_view text) {
  FirstError errors;
  gp::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  pb::RewriterConfig config;
  if (!parser.ParseFromString(std::string(text), &config)) {
    return absl::InvalidArgumentError(
        absl::StrCat(errors.text, " (a RewriterConfig as text, such as 'remapping: OFF')"));
  }
  return Reader(/*lenient=*/false).Read(config);
}

RewriterSettings SettingsOf(const pb::RewriterConfig& config) {
  return *Reader(/*lenient=*/true).Read(config);
}

void Apply(const RewriterSettings& settings, PipelineOptions& options) {
  if (options.passes.empty()) options.passes = settings.passes;
  options.disabled_passes.insert(options.disabled_passes.end(), settings.off.begin(),
                                 settings.off.end());
  options.enabled_passes.insert(options.enabled_passes.end(), settings.on.begin(),
                                settings.on.end());
  options.iterations = settings.iterations.value_or(options.iterations);
  options.min_graph_nodes = settings.min_graph_nodes.value_or(options.min_graph_nodes);
  options.use_plugins = settings.use_plugins;
  options.fail_on_errors = settings.fail_on_errors;
}

}  // namespace tenon
