// The user's options for clusters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "executor/clusters/cluster_policy.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// What becomes of a cluster that cannot be compiled or run.
enum class XlaErrors : uint8_t {
  kReport,  // ordinary kernels run, and a warning says why
  kFail,    // the run fails
};

struct ClusterOptions {
  // Which nodes become clusters; nothing: as TF_XLA_FLAGS says. With a mode that makes clusters,
  // also nodes on the host.
  std::optional<XlaMode> mode;
  // The folder in which compiled programs are kept for later processes; empty: as TF_XLA_FLAGS says
  // (--tf_xla_persistent_cache_directory), else none.
  std::string program_cache;
  XlaErrors errors = XlaErrors::kReport;
  bool allow_tf32 = false;  // products may round their operands
  double timeout_s = 60;    // the longest wait for one event of a plug-in
  // How a result differs from the right one, as a part of a sentence; nothing if it does not. If
  // set, the first run of each program is compared with ordinary kernels. If it differs, the
  // warning names the guilty node, and later runs of that program use ordinary kernels. With kFail
  // that run and later ones fail, and the error names the node.
  std::function<std::optional<std::string>(const Tensor& right, const Tensor& is)> judge = nullptr;
};

}  // namespace tenon
