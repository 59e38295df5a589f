// The cores that this process may use: its affinity and the quotas of its control groups.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// The numbers of the cores that the calling thread may run on, ascending. Empty if the system does
// not tell. Thread-safe.
std::vector<int> CoresOfThread();

// How many cores' time the quotas of control groups leave the process: the least quota of the
// process's group and of the groups above that group, as far as they are mounted, rounded up, at
// least 1. Version 2 has quotas in cpu.max, version 1 in cpu.cfs_quota_us and cpu.cfs_period_us.
// 0 if there is no quota, or none can be read.
//
// `root` stands before the paths of the system's files, such as /proc/self/cgroup. `root` is empty
// but in tests, which have folders of their own.
int CoresOfQuota(const std::string& root = "");

// How many threads a pool has for which nobody says a number: the number of cores that the calling
// thread may run on now, or of the machine's if the system does not tell. At most CoresOfQuota(),
// which only the process's first call of DefaultThreads reads. At least 1. Thread-safe.
int DefaultThreads();

}  // namespace tenon
