// Translates a TensorFlow RewriterConfig into options of the pipeline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

namespace pb {
class RewriterConfig;
}

// The settings of one RewriterConfig. The comments name its fields. Passes have our names.
struct RewriterSettings {
  bool no_passes = false;         // disable_meta_optimizer: no passes of plug-ins either
  bool use_plugins = true;        // use_plugin_optimizers
  bool fail_on_errors = false;    // fail_on_optimizer_errors
  std::optional<int> iterations;  // meta_optimizer_iterations; nothing for DEFAULT_NUM_ITERS
  std::optional<int64_t> min_graph_nodes;  // nothing for 0; negative: no minimum
  // The passes that `optimizers` lists, then "plugin:*". Empty if the field is: all passes run.
  std::vector<PassSpec> passes;
  // Passes that a toggle or another field switches off or on. `on` may have passes without
  // rewrites, which stay off; these are in without_effect too. A custom optimizer that has the name
  // of a pass switches it on.
  std::vector<std::string> off, on;
  // Settings that have no effect here, other custom_optimizers among them: a sentence for each.
  std::vector<std::string> without_effect;
};

// Parses the text. Field names, toggles (ON, OFF, and others such as AGGRESSIVE, which count as ON)
// and the names in `optimizers` are TensorFlow's; `optimizers` may also name our passes. A toggle
// of TensorFlow's that names no pass here is in without_effect, unless it is OFF; so is its name in
// `optimizers`.
// INVALID_ARGUMENT "line:column: …" if `text` is no RewriterConfig. INVALID_ARGUMENT without a
// position for a number that is no value of its field's enum, and for a name in `optimizers` that
// is neither a pass here nor a toggle; for a name the message has the closest one if one is close.
absl::StatusOr<RewriterSettings> ParseRewriterConfig(std::string_view text);
// The settings of a message that a program brings. As in TensorFlow it need not be right: numbers
// that are no value of their enum count as the default or as ON, and names in `optimizers` that are
// unknown are in without_effect.
RewriterSettings SettingsOf(const pb::RewriterConfig& config);

// Puts the settings into `options`:
// - `passes` only if options.passes is empty.
// - `off` and `on` are appended to disabled_passes and enabled_passes.
// - `iterations` and `min_graph_nodes` only if they have a value.
// - `use_plugins` and `fail_on_errors` always, also if the text did not mention them.
// The caller itself must heed no_passes and report without_effect.
void Apply(const RewriterSettings& settings, PipelineOptions& options);

}  // namespace tenon
