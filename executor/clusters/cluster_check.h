// Finds the node at which a compiled cluster and ordinary kernels part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/clusters/cluster_program.h"
#include "executor/clusters/runnable_cluster.h"

namespace tenon {

// Compares tensors of the host with `options.judge`, which must be set here and in FindWrongNode.
// `want` and `got` have one tensor for each of cluster.results. The first pair that differs, as
// "'node:1' (Op): element [0] is 1 where 2 is right"; nothing if none does.
std::optional<std::string> FirstDifference(const Cluster& cluster, absl::Span<const Tensor> want,
                                           absl::Span<const Tensor> got,
                                           const ClusterOptions& options);

// Compiles the cluster once more, with all outputs of its nodes as results that can leave a
// program, and runs it on `values` (its constants, then its arguments, in host memory). Returns the
// first output that differs from ordinary kernels although all that its node reads is right;
// nothing if there is none, since the compiler fuses nodes in other ways here. Errors are those of
// compiling and running, and those of `ordinary`.
absl::StatusOr<std::optional<std::string>> FindWrongNode(
    const Cluster& cluster, absl::Span<const stablehlo::Argument> inputs,
    absl::Span<const Tensor> values, const ClusterOptions& options,
    const OrdinaryKernelsFactory& ordinary);

}  // namespace tenon
