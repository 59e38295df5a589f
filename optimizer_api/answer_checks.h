// Checks the graph that a plug-in's pass gives back. Private to optimizer_api/.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "grappler_lite/pipeline/pass.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {

// INVALID_ARGUMENT if the answer of `after` bytes is larger than 64 MiB plus 10 times the graph
// that the pass got, of `before` bytes. To be called before the answer is read.
absl::Status CheckBytes(size_t before, size_t after);

// Compares the answer `after`, which must verify by itself, with the graph of before, which must
// have every fetch. Looks at the nodes of the graph, not at those of functions.
// INVALID_ARGUMENT if `after`
//   * has more than 1,000 nodes plus 10 times those of `before`;
//   * lacks a fetch;
//   * lacks a feed or a node to preserve that `before` has;
//   * changes the type of a fetched tensor ("node:0"); a fetch "node" only has to be there;
//   * changes the op or an output type of a feed, or declares a shape for it that refuses a value
//     that fitted before;
//   * has a node on a device that does not exist or has no kernel for it, unless the node stood
//     there before, with the same op and without a kernel. `kernels` decides; it lets a Const stand
//     on any device. A node without a device is not checked.
// Returns the first fault that it finds. Warns (WarnOf) if another op, a built-in one, computes a
// fetched tensor now: the rewrite may be right. `pass` and `plugin` name the pass in the warning.
absl::Status CheckAnswer(const Graph& before, const Graph& after, const OptimizerItem& item,
                         const KernelOracle& kernels, std::string_view pass,
                         std::string_view plugin);

}  // namespace tenon
