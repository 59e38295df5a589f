// Where control groups are is written in /proc/self/mountinfo, and the group of the process in
// /proc/self/cgroup.
#include "plugin/cpu/base/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tenon {
namespace {

constexpr int kMostCores = 1 << 20;  // more than any system has
constexpr double kNoQuota = std::numeric_limits<double>::infinity();

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

std::string FirstLine(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

double CoresOf(std::string_view quota, std::string_view period) {
  int64_t q = 0, p = 0;  // microseconds
  if (!absl::SimpleAtoi(quota, &q) || !absl::SimpleAtoi(period, &p)) return kNoQuota;
  if (q <= 0 || p <= 0) return kNoQuota;  // "max" and -1 mean none
  return static_cast<double>(q) / static_cast<double>(p);
}

// The quota of one group's folder, in cores.
double QuotaOfFolder(const std::string& folder, bool version_2) {
  if (!version_2) {
    return CoresOf(FirstLine(folder + "/cpu.cfs_quota_us"),
                   FirstLine(folder + "/cpu.cfs_period_us"));
  }
  const std::vector<std::string> words =
      absl::StrSplit(FirstLine(folder + "/cpu.max"), ' ', absl::SkipEmpty());
  return words.size() == 2 ? CoresOf(words[0], words[1]) : kNoQuota;
}

bool HasWord(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = absl::StrSplit(list, ',');
  return std::ranges::find(words, word) != words.end();
}

// The process's group in the hierarchy that has quotas of a version.
std::optional<std::string> GroupOf(const std::string& root, bool version_2) {
  for (const std::string& line : LinesOf(root + "/proc/self/cgroup")) {
    // number:controllers:path; a path may have colons
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    if (version_2 ? parts[0] == "0" && parts[1].empty() : HasWord(parts[1], "cpu")) return parts[2];
  }
  return std::nullopt;
}

// Where a hierarchy is to be seen: a folder, and the group that it stands for.
struct Mount {
  std::string folder, group;
};

std::optional<Mount> MountOf(const std::string& root, bool version_2) {
  for (const std::string& line : LinesOf(root + "/proc/self/mountinfo")) {
    // number parent device group folder options … - type source options
    const std::vector<std::string> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (halves.size() != 2) continue;
    const std::vector<std::string> left = absl::StrSplit(halves[0], ' ');
    const std::vector<std::string> right = absl::StrSplit(halves[1], ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const bool fits =
        version_2 ? right[0] == "cgroup2" : right[0] == "cgroup" && HasWord(right[2], "cpu");
    if (fits) return Mount{left[4], left[3]};
  }
  return std::nullopt;
}

// The least quota of the process's group and of those above it that can be seen.
double QuotaOfHierarchy(const std::string& root, bool version_2) {
  const std::optional<std::string> group = GroupOf(root, version_2);
  const std::optional<Mount> mount = MountOf(root, version_2);
  if (!group.has_value() || !mount.has_value()) return kNoQuota;
  const std::string base = root + mount->folder;
  // In a container the mount may stand for the process's own group.
  std::string_view below = *group;
  if (mount->group != "/") {
    const bool is_below = absl::ConsumePrefix(&below, mount->group) && below.starts_with('/');
    if (!is_below) below = "";
  }
  double least = QuotaOfFolder(base, version_2);
  for (size_t end = below.find('/', 1); below.size() > 1; end = below.find('/', end + 1)) {
    least = std::min(least, QuotaOfFolder(absl::StrCat(base, below.substr(0, end)), version_2));
    if (end == std::string_view::npos) break;
  }
  return least;
}

}  // namespace

std::vector<int> CoresOfThread() {
  std::vector<int> cores;
  // The system refuses a set that is smaller than its own.
  for (int most = 1024; most <= kMostCores; most *= 2) {
    cpu_set_t* const set = CPU_ALLOC(most);
    if (set == nullptr) return cores;
    const size_t bytes = CPU_ALLOC_SIZE(most);
    const int failed = sched_getaffinity(0, bytes, set);
    const int error = errno;
    for (int core = 0; failed == 0 && core < most; ++core) {
      if (CPU_ISSET_S(core, bytes, set)) cores.push_back(core);
    }
    CPU_FREE(set);
    if (failed == 0 || error != EINVAL) return cores;
  }
  return cores;
}

int CoresOfQuota(const std::string& root) {
  const double cores = std::min(QuotaOfHierarchy(root, true), QuotaOfHierarchy(root, false));
  if (cores >= kMostCores) return 0;
  return std::max(1, static_cast<int>(std::ceil(cores)));
}

int DefaultThreads() {
  static const int quota = CoresOfQuota();
  // hardware_concurrency() is 0 where the system does not tell.
  int cores = static_cast<int>(CoresOfThread().size());
  if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  if (quota > 0) cores = std::min(cores, quota);
  return std::max(cores, 1);
}

}  // namespace tenon
