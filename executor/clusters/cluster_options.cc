#include "executor/clusters/cluster_options.h"

namespace tenon {

Buckets BucketsOf(const ClusterOptions& options) {
  return options.buckets ? *options.buckets : PolicyOfEnvironment().buckets;
}

bool IsAsync(const ClusterOptions& options) {
  return options.async.value_or(PolicyOfEnvironment().async_compilation);
}

}  // namespace tenon
