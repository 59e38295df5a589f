// Computes a cluster with the kernels of the host, though it is the cluster of a device that
// compiles. Private to executor/session/.
#pragma once

#include "executor/clusters/runnable_cluster.h"
#include "executor/session/executable.h"

namespace tenon {

// The factory for clusters of a session with these parts. `parts` is copied; what it refers to must
// outlive the factory and what the factory makes. Thread-safe.
OrdinaryKernelsFactory OrdinaryKernelsOf(const SessionParts& parts);

}  // namespace tenon
