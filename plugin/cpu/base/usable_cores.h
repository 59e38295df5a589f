// The cores that this process may use: its affinity and the quotas of its control groups.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// The numbers of the cores that the calling thread may run on, ascending. Empty if the system does
// not tell. Thread-safe.
std::vector<int> CoresOfThread();

// How many cores' time the quotas of the process's control groups leave it: the least of those of
// its group and of the groups above it, rounded up, at least 1. Version 2 has them in cpu.max,
// version 1 in cpu.cfs_quota_us and cpu.cfs_period_us. 0: there is no quota, or it cannot be read.
//
// `root` stands before the paths of the system's files, such as /proc/self/cgroup. Tests have
// folders of their own; it is empty otherwise.
int CoresOfQuota(const std::string& root = "");

// How many threads a pool has for which nobody says a number: the cores that the calling thread
// may run on, but no more than CoresOfQuota() was when it was first asked. At least 1. Thread-safe.
int DefaultThreads();

}  // namespace tenon
