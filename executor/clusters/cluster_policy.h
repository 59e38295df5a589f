// Which nodes become clusters: the user's choice, by the options of the command and the variable
// TF_XLA_FLAGS.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "executor/clusters/buckets.h"
#include "graph/ir/graph.h"

namespace tenon {

// For which nodes programs are made on devices of plug-ins that have kernels. There a node without
// a kernel and one with _XlaMustCompile are compiled in any mode, while clustering_fuel lasts. Of
// the others, a node with _XlaCompile = false is compiled in none. A group is compiled if it has at
// least min_cluster_size nodes, or a node that is compiled in any mode. On the host a node is
// compiled only if it has _XlaMustCompile, or if cpu_global_jit is set and the mode wants it. On a
// device that takes programs alone, kDefault means kAll, also for nodes with _XlaCompile = false.
enum class XlaMode : uint8_t {
  kDefault,  // for nodes that ask for it (_XlaCompile, _XlaMustCompile)
  kOff,      // for nodes with _XlaMustCompile alone
  kFusible,  // ops of an OpGroup: elementwise, reductions, pools, normalizations, what moves data
  kOn,       // all that can be compiled
  kAll,      // the same
};
// Of "default", "off", "fusible", "on", "all"; nullopt for any other name.
std::optional<XlaMode> XlaModeOf(std::string_view name);
std::string_view XlaModeName(XlaMode mode);

// The members but `mode` (tf_xla_auto_jit) and `buckets` are named as TensorFlow's flags without
// "tf_xla_".
struct ClusterPolicy {
  XlaMode mode = XlaMode::kDefault;
  bool cpu_global_jit = false;  // the mode holds on the host, too
  // On devices that have kernels. Nodes that only move a value do not count.
  int64_t min_cluster_size = 4;
  int64_t max_cluster_size = std::numeric_limits<int64_t>::max();
  int64_t clustering_fuel = std::numeric_limits<int64_t>::max();  // nodes in clusters of one graph
  std::set<std::string, std::less<>> ops_to_cluster;  // names and groups (PW); empty: all
  std::set<std::string, std::less<>> cluster_exclude_ops;
  std::string persistent_cache_directory;  // of programs; empty: none
  bool async_compilation = false;          // ClusterOptions::async
  // ClusterOptions::buckets, by Tenon's own flag --tenon_xla_buckets: TensorFlow knows none.
  Buckets buckets;

  // Whether the lists allow the op of node n.
  bool Allows(const Graph& graph, NodeId n) const;
  // Whether the node is to be in a cluster although its device has a kernel for it.
  bool Wants(const Graph& graph, NodeId n) const;
};

// Whether the node has the attribute _XlaMustCompile (jit_compile=True).
bool MustCompile(const Graph& graph, NodeId n);

// Reads the text of TF_XLA_FLAGS: flags with values, or the path of a file with them. `warnings`
// must not be null. A flag or a value that is not known is left out, with a sentence in `warnings`,
// and so is a file that cannot be read, is not regular or is larger than 1 MiB. Some flags of
// TensorFlow have no effect here; these are passed over without a sentence.
ClusterPolicy ParseXlaFlags(std::string_view text, std::vector<std::string>* warnings);
// Of the variable, which is read once; warnings go to stderr then.
const ClusterPolicy& PolicyOfEnvironment();

}  // namespace tenon
