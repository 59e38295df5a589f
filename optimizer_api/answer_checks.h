// What the pass of a plug-in may not do to a graph. Private to optimizer_api/.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "grappler_lite/pipeline/pass.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {

// INVALID_ARGUMENT if an answer has many times as many bytes as it was given.
absl::Status CheckBytes(size_t before, size_t after);

// INVALID_ARGUMENT for an answer, sound in itself, that has far more nodes than before, lacks what
// callers hold on to, or changes its types, or has put a node where no kernel for it is. Warns of a
// fetch that another op of ours computes now, as `pass` of `plugin` may have it rightly.
absl::Status CheckAnswer(const Graph& before, const Graph& after, const OptimizerItem& item,
                         const KernelOracle& kernels, std::string_view pass,
                         std::string_view plugin);

}  // namespace tenon
