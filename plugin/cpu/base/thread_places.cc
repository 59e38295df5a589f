// Nodes are folders of /sys/devices/system/node with the list of their cores, and each core has the
// list of the threads of its physical core.
#include "plugin/cpu/base/thread_places.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCoreNumbers = 1 << 20;

// The numbers of a list as the system writes it: "0-3,8,10-11". What is malformed counts for
// nothing.
std::vector<int> ListIn(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  std::vector<int> numbers;
  for (const std::string_view part : absl::StrSplit(line, ',', absl::SkipWhitespace())) {
    const std::vector<std::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last)) continue;
    if (first < 0 || last >= kMostCoreNumbers) continue;
    for (int n = first; n <= last; ++n) numbers.push_back(n);
  }
  return numbers;
}

// By core: its node.
std::map<int, int> NodesOfCores(const std::string& root) {
  std::map<int, int> node_of;
  std::error_code error;
  for (fs::directory_iterator entry(root + "/sys/devices/system/node", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::string_view number = name;
    int node = 0;
    if (!absl::ConsumePrefix(&number, "node") || !absl::SimpleAtoi(number, &node)) continue;
    for (const int core : ListIn((entry->path() / "cpulist").string())) node_of[core] = node;
  }
  return node_of;
}

}  // namespace

std::vector<Core> DescribeCores(absl::Span<const int> cores, const std::string& root) {
  const std::map<int, int> node_of = NodesOfCores(root);
  std::vector<Core> described;
  std::map<int, int> of_node;  // how many of the cores
  for (const int core : cores) {
    const auto node = node_of.find(core);
    Core& d = described.emplace_back(Core{core, node == node_of.end() ? 0 : node->second, 0});
    ++of_node[d.node];
    const std::vector<int> siblings = ListIn(
        absl::StrCat(root, "/sys/devices/system/cpu/cpu", core, "/topology/thread_siblings_list"));
    for (const int sibling : siblings) {
      // One that the process may not use leaves the whole physical core to the other.
      if (sibling < core && std::ranges::find(cores, sibling) != cores.end()) ++d.sibling;
    }
  }
  std::ranges::sort(described, {}, [&](const Core& c) {
    return std::tuple(c.sibling, -of_node[c.node], c.node, c.number);
  });
  return described;
}

ThreadPlaces PlacesOfThreads(int threads, Pin pin, Numa numa, absl::Span<const int> cores,
                             const std::string& root) {
  const std::vector<Core> described = DescribeCores(cores, root);
  std::map<int, std::vector<int>> of_node;
  for (const Core& core : described) of_node[core.node].push_back(core.number);
  for (auto& [node, numbers] : of_node) std::ranges::sort(numbers);
  ThreadPlaces places;
  places.nodes = std::max<int>(1, static_cast<int>(of_node.size()));
  places.cores.resize(std::max(threads, 1));
  const bool by_node = numa == Numa::kAuto && places.nodes > 1;
  if (pin == Pin::kOff && !by_node) return places;
  for (size_t t = 0; t < std::min(places.cores.size(), described.size()); ++t) {
    const Core& core = described[t];
    places.cores[t] = pin == Pin::kCores ? std::vector<int>{core.number} : of_node[core.node];
  }
  return places;
}

bool BindThread(absl::Span<const int> cores) {
  if (cores.empty()) return true;
  const int most = *std::ranges::max_element(cores) + 1;
  cpu_set_t* const set = CPU_ALLOC(most);
  if (set == nullptr) return false;
  const size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  for (const int core : cores) CPU_SET_S(core, bytes, set);
  const bool bound = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return bound;
}

}  // namespace tenon
