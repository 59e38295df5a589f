// Translates the text of a TensorFlow RewriterConfig into options of the pipeline.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

// The settings of one RewriterConfig. The comments name its fields.
struct RewriterSettings {
  bool no_passes = false;         // disable_meta_optimizer: no passes of plug-ins either
  bool use_plugins = true;        // use_plugin_optimizers
  bool fail_on_errors = false;    // fail_on_optimizer_errors
  std::optional<int> iterations;  // meta_optimizer_iterations
  std::optional<int64_t> min_graph_nodes;
  std::vector<PassSpec> passes;      // optimizers, then the passes of plug-ins; empty: all passes
  std::vector<std::string> off, on;  // passes that a toggle switches off or on
  std::vector<std::string> without_effect;  // settings that have no effect here, one line each
};

// Parses the text. Field names, toggles (ON, OFF, and AGGRESSIVE, which counts as ON) and the names
// in `optimizers` are TensorFlow's; `optimizers` may also name our passes. INVALID_ARGUMENT
// "line:column: …" if `text` is no RewriterConfig.
absl::StatusOr<RewriterSettings> ParseRewriterConfig(std::string_view text);

// Puts the settings into `options`. A list of passes that `options` already has stays; `off` and
// `on` are appended; the other settings replace the values in `options`. The caller heeds no_passes
// and without_effect.
void Apply(const RewriterSettings& settings, PipelineOptions& options);

}  // namespace tenon
