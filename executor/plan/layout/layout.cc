// Lays memory out in this order: storages share places, fetched places leave the arena, the rest
// and the scratch memory of steps get offsets, and storages that share a place copy its offset.

#include "executor/plan/layout/layout.h"

#include <algorithm>
#include <utility>

#include "executor/plan/layout/memory_planner.h"
#include "executor/plan/layout/task_arena.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

constexpr uint64_t kScratchLine = 64;  // Step::scratch counts lines
// The limit for all values together: no machine has more, and no sum of offsets overflows.
constexpr uint64_t kMostBytes = uint64_t{1} << 62;

// The buffers that the arena must hold: places, and the scratch memory of steps.
struct ArenaRequests {
  std::vector<BufferRequest> buffers;
  std::vector<int32_t> owners;  // by buffer: a storage; -1 - k: step k
};

// Lets fetched values be computed right into buffers that the caller gets, so that nothing is
// copied at the end of a run. A whole place becomes such a buffer, with all storages that share it.
// Two fetches of one place share the buffer.
void PlaceFetches(const StepGraph& graph, Layout& layout) {
  layout.fetches = graph.fetches;
  for (size_t i = 0; i < layout.fetches.size(); ++i) {
    if (graph.fetch_values[i] < 0) continue;
    const PlanValue& v = graph.values[graph.fetch_values[i]];
    Storage& s = layout.storages[layout.places.Find(v.storage)];
    if (s.where == Where::kArena) {
      s.where = Where::kFetch;
      s.index = static_cast<int32_t>(layout.fetch_buffers.size());
      layout.fetch_buffers.push_back({{v.dtype, *v.shape}, v.output.node});
    }
    layout.fetches[i].where = s.where;
    layout.fetches[i].index = s.index;
  }
}

ArenaRequests FindRequests(const StepGraph& graph, const Lifetimes& lifetimes,
                           const Layout& layout) {
  ArenaRequests requests;
  const int32_t end = graph.num_steps();
  for (int32_t s = 0; s < static_cast<int32_t>(layout.storages.size()); ++s) {
    const Storage& storage = layout.storages[s];
    if (layout.places.IsShared(s) || storage.where != Where::kArena || lifetimes.last[s] < 0)
      continue;
    requests.buffers.push_back(
        {storage.bytes, lifetimes.first[s], std::min(lifetimes.last[s], end)});
    requests.owners.push_back(s);
  }
  for (int32_t k = 0; k < end; ++k) {
    const uint64_t bytes = graph.steps[k].scratch_bytes;
    if (bytes == 0) continue;
    requests.buffers.push_back({(bytes + kScratchLine - 1) / kScratchLine * kScratchLine, k, k});
    requests.owners.push_back(-1 - k);
  }
  return requests;
}

absl::Status PlaceArena(const PlanInput& input, const StepGraph& graph,
                        const ArenaRequests& requests, Layout& layout) {
  const std::vector<BufferRequest>& buffers = requests.buffers;
  const auto largest =
      std::max_element(buffers.begin(), buffers.end(),
                       [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (largest != buffers.end()) layout.arena_largest = graph.steps[largest->first].node;
  const auto too_large = [&] {
    return NodeError(input.graph, input.calls, layout.arena_largest,
                     absl::ResourceExhaustedError("the values of a run are too large for one "
                                                  "arena; this node's part is the largest"));
  };
  uint64_t total = 0;
  for (const BufferRequest& buffer : buffers) {
    if (buffer.bytes > kMostBytes - total) return too_large();
    total += buffer.bytes;
  }
  const ArenaLayout arena = layout.tasks.empty() ? PlanArena(buffers)
                                                 : PlanTaskArena(graph, layout.tasks, layout.places,
                                                                 buffers, requests.owners);
  layout.arena_bytes = arena.bytes;
  layout.arena_lower_bound = arena.lower_bound;
  layout.scratch_line.assign(graph.steps.size(), 0);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int32_t owner = requests.owners[i];
    if (owner >= 0) {
      layout.storages[owner].offset = arena.offsets[i];
      continue;
    }
    uint32_t& line = layout.scratch_line[-1 - owner];
    line = static_cast<uint32_t>(arena.offsets[i] / kScratchLine);
    // The product is computed in 64 bits: it differs if the line did not fit into 32.
    if (line * kScratchLine != arena.offsets[i]) return too_large();
  }
  return absl::OkStatus();
}

// The tasks, if their arena can be planned in good time.
TaskGraph TasksWithin(const PlanInput& input, const StepGraph& graph, const StepSchedule& schedule,
                      const Places& places) {
  if (!AllowsTasks(input, graph)) return TaskGraph();
  std::vector<int32_t> place_of(graph.storages.size());
  size_t in_arena = 0;
  for (int32_t s = 0; s < static_cast<int32_t>(place_of.size()); ++s) {
    place_of[s] = places.Find(s);
    if (place_of[s] == s && graph.storages[s].where == Where::kArena) ++in_arena;
  }
  if (in_arena > kMostTaskBuffers) return TaskGraph();
  return FindTasks(input, graph, schedule, place_of);
}

// Gives every storage that shares a place the place's own storage.
void SettleShared(Layout& layout) {
  for (int32_t s = 0; s < static_cast<int32_t>(layout.storages.size()); ++s) {
    if (layout.places.IsShared(s)) layout.storages[s] = layout.storages[layout.places.Find(s)];
  }
}

}  // namespace

absl::StatusOr<Layout> MakeLayout(const PlanInput& input, const StepGraph& graph,
                                  const StepSchedule& schedule) {
  Lifetimes lifetimes = FindLifetimes(graph);
  Places places = SharePlaces(graph, lifetimes);
  TaskGraph tasks = TasksWithin(input, graph, schedule, places);
  LastUses last_uses(graph, schedule, lifetimes, tasks);
  Layout layout(std::move(places), std::move(tasks), std::move(last_uses));
  layout.storages = graph.storages;
  // Fetches leave the arena before it is planned.
  PlaceFetches(graph, layout);
  const ArenaRequests requests = FindRequests(graph, lifetimes, layout);
  TENON_RETURN_IF_ERROR(PlaceArena(input, graph, requests, layout));
  SettleShared(layout);
  return layout;
}

}  // namespace tenon
