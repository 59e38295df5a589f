// Where every value lives: lifetimes, in-place reuse, one arena, buffers for fetches, tensors that
// are let go early.
#include <algorithm>

#include "executor/plan_builder.h"
#include "executor/plan_builder_inl.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

constexpr uint64_t kLine = 64;
// Of all values together: no machine has more, and no sum of offsets overflows.
constexpr uint64_t kMostBytes = uint64_t{1} << 62;

void BuildRows(absl::Span<const std::pair<int32_t, uint32_t>> uses, size_t rows, PatchList& list) {
  list.begin.assign(rows + 1, 0);
  for (const auto& [row, arg] : uses) ++list.begin[row + 1];
  for (size_t i = 0; i < rows; ++i) list.begin[i + 1] += list.begin[i];
  std::vector<uint32_t> next(list.begin.begin(), list.begin.end() - 1);
  list.args.resize(uses.size());
  for (const auto& [row, arg] : uses) list.args[next[row]++] = arg;
}

}  // namespace

int32_t PlanBuilder::Place(int32_t storage) {
  while (shared_with_[storage] != storage) {
    shared_with_[storage] = shared_with_[shared_with_[storage]];
    storage = shared_with_[storage];
  }
  return storage;
}

int32_t PlanBuilder::CommonScope(int32_t a, int32_t b) const {
  // Scopes are opened outermost first: the later one lies deeper, or beside.
  while (a != b) {
    int32_t& later = a > b ? a : b;
    later = loop_scopes_[later].parent;
  }
  return a;
}

// What a loop and the steps around it share lives as long as the loop.
void PlanBuilder::FindLifetimes() {
  constexpr int32_t kUnused = -2;
  const int32_t end = static_cast<int32_t>(steps_.size());
  first_.assign(storages_.size(), end);
  last_.assign(storages_.size(), -1);
  std::vector<int32_t> scope(loop_scopes_.empty() ? 0 : storages_.size(), kUnused);
  const auto each_use = [&](auto use) {
    for (int32_t k = 0; k < end; ++k) {
      const BuildStep& step = steps_[k];
      for (uint32_t a = 0; a < step.num_inputs + step.num_outputs; ++a) {
        if (args_[step.first_arg + a] >= 0) use(args_[step.first_arg + a], k);
      }
    }
  };
  each_use([&](int32_t s, int32_t k) {
    first_[s] = std::min(first_[s], k);
    last_[s] = std::max(last_[s], k);
    if (!scope.empty())
      scope[s] = scope[s] == kUnused ? steps_[k].scope : CommonScope(scope[s], steps_[k].scope);
  });
  if (!scope.empty()) {
    each_use([&](int32_t s, int32_t k) {
      int32_t inner = steps_[k].scope;
      if (inner == scope[s]) return;
      while (loop_scopes_[inner].parent != scope[s]) inner = loop_scopes_[inner].parent;
      first_[s] = std::min(first_[s], loop_scopes_[inner].open_step);
      last_[s] = std::max(last_[s], loop_scopes_[inner].close_step);
    });
  }
  for (int32_t id : fetch_values_) {
    if (id >= 0) last_[values_[id].storage] = end;
  }
  for (int32_t s : held_) last_[s] = end;
}

// Whether output `out` of the step may overwrite `place`: the step is its last reader, and reads it
// only as inputs that the kernel declared for this output (candidates [first, last) of in_place_).
bool PlanBuilder::MayWriteInto(const BuildStep& step, int32_t index, size_t first, size_t last,
                               int16_t out, int32_t place) const {
  if (storages_[place].where != Where::kArena || last_[place] != index || first_[place] == index)
    return false;
  const auto place_of = [this](int32_t s) {
    while (shared_with_[s] != s) s = shared_with_[s];
    return s;
  };
  for (uint32_t i = 0; i < step.num_inputs; ++i) {
    const int32_t s = args_[step.first_arg + i];
    if (s < 0 || place_of(s) != place) continue;
    const bool declared = std::any_of(
        in_place_.begin() + first, in_place_.begin() + last,
        [&](const InPlace& c) { return c.out == out && c.in == static_cast<int16_t>(i); });
    if (!declared) return false;
  }
  for (uint32_t o = 0; o < step.num_outputs; ++o) {
    const int32_t s = args_[step.first_arg + step.num_inputs + o];
    if (s >= 0 && place_of(s) == place) return false;
  }
  return true;
}

void PlanBuilder::ShareInPlace() {
  for (size_t first = 0, last; first < in_place_.size(); first = last) {
    last = first;
    while (last < in_place_.size() && in_place_[last].step == in_place_[first].step) ++last;
    const BuildStep& step = steps_[in_place_[first].step];
    for (size_t c = first; c < last; ++c) {
      const int32_t source = args_[step.first_arg + in_place_[c].in];
      const int32_t target = args_[step.first_arg + step.num_inputs + in_place_[c].out];
      if (source < 0 || target < 0 || shared_with_[target] != target) continue;
      const int32_t place = Place(source);
      if (storages_[place].bytes != storages_[target].bytes || storages_[target].bytes == 0)
        continue;
      if (!MayWriteInto(step, in_place_[c].step, first, last, in_place_[c].out, place)) continue;
      shared_with_[target] = place;
      last_[place] = last_[target];
    }
  }
}

void PlanBuilder::PlaceFetches() {
  for (size_t i = 0; i < fetch_values_.size(); ++i) {
    if (fetch_values_[i] < 0) continue;
    const PlanValue& v = values_[fetch_values_[i]];
    Storage& s = storages_[Place(v.storage)];
    FetchSpec& fetch = plan_->fetches[i];
    if (s.where == Where::kArena) {
      s.where = Where::kFetch;
      s.index = static_cast<int32_t>(plan_->fetch_buffers.size());
      plan_->fetch_buffers.push_back({{v.dtype, *v.shape}, v.output.node});
    }
    fetch.where = s.where;
    fetch.index = s.index;
    if (s.where != Where::kConst) continue;
    const auto constant = std::find_if(plan_->constants.begin(), plan_->constants.end(),
                                       [&](const Tensor& t) { return t.data() == s.address; });
    fetch.constant = Tensor(v.dtype, *v.shape, constant->buffer());
  }
}

absl::Status PlanBuilder::PlaceArena() {
  std::vector<BufferRequest> requests;
  std::vector<int32_t> owners;  // storage, or -1 - step for scratch
  const int32_t end = static_cast<int32_t>(steps_.size());
  for (int32_t s = 0; s < static_cast<int32_t>(storages_.size()); ++s) {
    if (shared_with_[s] != s || storages_[s].where != Where::kArena || last_[s] < 0) continue;
    requests.push_back({storages_[s].bytes, first_[s], std::min(last_[s], end)});
    owners.push_back(s);
  }
  for (int32_t k = 0; k < end; ++k) {
    if (steps_[k].scratch_bytes == 0) continue;
    requests.push_back({(steps_[k].scratch_bytes + kLine - 1) / kLine * kLine, k, k});
    owners.push_back(-1 - k);
  }
  const auto largest =
      std::max_element(requests.begin(), requests.end(),
                       [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (largest != requests.end()) plan_->arena_largest = steps_[largest->first].node;
  const auto too_large = [&] {
    return NodeError(in_.graph, in_.calls, plan_->arena_largest,
                     absl::ResourceExhaustedError("the values of a run are too large for one "
                                                  "arena; this node's part is the largest"));
  };
  uint64_t total = 0;
  for (const BufferRequest& request : requests) {
    if (request.bytes > kMostBytes - total) return too_large();
    total += request.bytes;
  }
  const ArenaLayout layout = PlanArena(requests);
  plan_->arena_bytes = layout.bytes;
  plan_->arena_lower_bound = layout.lower_bound;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] >= 0) {
      storages_[owners[i]].offset = layout.offsets[i];
      continue;
    }
    BuildStep& step = steps_[-1 - owners[i]];
    step.scratch_line = static_cast<uint32_t>(layout.offsets[i] / kLine);
    if (step.scratch_line * kLine != layout.offsets[i]) return too_large();
  }
  return absl::OkStatus();
}

void PlanBuilder::EmitPatches() {
  std::vector<std::pair<int32_t, uint32_t>> feeds, fetches, slots;
  for (size_t a = 0; a < args_.size(); ++a) {
    if (args_[a] < 0) continue;
    args_[a] = Place(args_[a]);
    const Storage& s = storages_[args_[a]];
    const std::pair<int32_t, uint32_t> use(s.index, static_cast<uint32_t>(a));
    if (s.where == Where::kFeed) feeds.push_back(use);
    if (s.where == Where::kFetch) fetches.push_back(use);
    if (s.where == Where::kSlot) slots.push_back(use);
  }
  BuildRows(feeds, plan_->feeds.size(), plan_->feed_uses);
  BuildRows(fetches, plan_->fetch_buffers.size(), plan_->fetch_uses);
  BuildRows(slots, static_cast<size_t>(plan_->num_slots), plan_->slot_uses);
}

absl::Status PlanBuilder::Layout() {
  for (int32_t id : fetch_values_) {
    if (id < 0) continue;
    TENON_RETURN_IF_ERROR(ReadStorage(id).status());
  }
  FindLifetimes();
  shared_with_.resize(storages_.size());
  for (size_t s = 0; s < storages_.size(); ++s) shared_with_[s] = static_cast<int32_t>(s);
  ShareLoopVariables();
  ShareInPlace();
  PlaceFetches();
  TENON_RETURN_IF_ERROR(PlaceArena());
  FindRegions();
  FindReleases();
  EmitSteps();
  EmitPatches();
  plan_->storages.reserve(storages_.size());
  for (size_t s = 0; s < storages_.size(); ++s)
    plan_->storages.push_back(storages_[Place(static_cast<int32_t>(s))]);
  plan_->args = std::move(args_);
  plan_->devices = used_devices_;
  return absl::OkStatus();
}

}  // namespace tenon
