// The user's options for clusters.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "executor/clusters/buckets.h"
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
  // Sizes to which open dimensions of arguments are padded, where the results allow it; nothing: as
  // TF_XLA_FLAGS says (--tenon_xla_buckets), else none.
  std::optional<Buckets> buckets;
  // Programs are compiled while ordinary kernels run; nothing: as TF_XLA_FLAGS says
  // (--tf_xla_async_compilation), else not.
  std::optional<bool> async;
  // For the search for a node that a program gets wrong: nodes, by name, that are in no cluster
  // whatever else is said. If set, clusters may be of any size. Null: none.
  std::function<bool(std::string_view node)> leave_out = nullptr;
  bool allow_tf32 = false;  // products may round their operands
  double timeout_s = 60;    // the longest wait for one event of a plug-in
  // How a result differs from the right one, as a part of a sentence; nothing if it does not. If
  // set, the first run of each program that ends well is compared with ordinary kernels. If a
  // result differs, that run and later runs of the program give the results of ordinary kernels,
  // and a warning names the result and, if it can be found, the first wrong node. With kFail that
  // run and later ones fail with such an error. Several threads may call `judge` at once.
  std::function<std::optional<std::string>(const Tensor& right, const Tensor& is)> judge = nullptr;
};

// What holds where the options say nothing.
Buckets BucketsOf(const ClusterOptions& options);
bool IsAsync(const ClusterOptions& options);

}  // namespace tenon
