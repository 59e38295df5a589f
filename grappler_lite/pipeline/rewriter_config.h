// TensorFlow's RewriterConfig, as text, in terms of our passes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pipeline.h"

namespace tenon {

struct RewriterSettings {
  bool no_passes = false;         // disable_meta_optimizer: plug-ins' neither
  bool use_plugins = true;        // use_plugin_optimizers
  bool fail_on_errors = false;    // fail_on_optimizer_errors
  std::optional<int> iterations;  // meta_optimizer_iterations
  std::optional<int64_t> min_graph_nodes;
  std::vector<PassSpec> passes;      // optimizers, then those of plug-ins; empty: all
  std::vector<std::string> off, on;  // passes whose toggle says so
  std::vector<std::string>
      without_effect;  // what is asked for and does nothing here, one line each
};

// Field names, toggles (ON, OFF, AGGRESSIVE as ON) and the names in `optimizers` are TensorFlow's;
// there, our passes' names are taken too. INVALID_ARGUMENT "line:column: …" for text that is none.
absl::StatusOr<RewriterSettings> ParseRewriterConfig(std::string_view text);

// Into options, whose own choices (passes, iterations by flag) stay in front.
void Apply(const RewriterSettings& settings, PipelineOptions& options);

}  // namespace tenon
