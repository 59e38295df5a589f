#include "executor/session/spread_runs.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace tenon {
namespace {

// The most devices of one type among the types on which nodes are.
size_t MostDevicesOfAType(absl::Span<const NodePlacement> placement,
                          absl::Span<Device* const> devices) {
  size_t most = 1;
  const Device* last = nullptr;  // neighbours are mostly on one device
  for (const NodePlacement& node : placement) {
    if (node.device == nullptr || node.device == last || node.device->is_host()) continue;
    last = node.device;
    const auto count = std::ranges::count(devices, last->type(), &Device::type);
    most = std::max(most, static_cast<size_t>(count));
  }
  return most;
}

}  // namespace

size_t LeastBusy::Take() {
  absl::MutexLock lock(&mutex_);
  const auto least = std::ranges::min_element(uses_);
  ++*least;
  return static_cast<size_t>(least - uses_.begin());
}

void LeastBusy::Give(size_t number) {
  absl::MutexLock lock(&mutex_);
  --uses_[number];
}

std::unique_ptr<SpreadRuns> SpreadRuns::Make(Executable& owner, const Graph& graph,
                                             const std::vector<std::string>& feeds,
                                             const std::vector<std::string>& fetches,
                                             const SessionParts& parts) {
  const size_t placements = MostDevicesOfAType(*owner.optimized().placement, parts.devices);
  if (placements == 1) return nullptr;
  return std::unique_ptr<SpreadRuns>(
      new SpreadRuns(owner, graph, feeds, fetches, parts, placements));
}

SpreadRuns::SpreadRuns(Executable& owner, const Graph& graph, std::vector<std::string> feeds,
                       std::vector<std::string> fetches, const SessionParts& parts,
                       size_t placements)
    : owner_(owner),
      graph_(graph),
      feeds_(std::move(feeds)),
      fetches_(std::move(fetches)),
      parts_(parts),
      busy_(placements) {
  for (size_t i = 1; i < placements; ++i) {
    others_.push_back(std::make_unique<Other>(parts.options));
    others_.back()->options.placer.spread_from = static_cast<int>(i);
  }
}

Executable& SpreadRuns::At(size_t number) {
  if (number == 0) return owner_;
  Other& other = *others_[number - 1];
  absl::MutexLock lock(&other.mutex);
  if (!std::exchange(other.is_made, true)) {
    const SessionParts parts = {other.options,  parts_.devices,
                                parts_.host,    parts_.registry,
                                parts_.workers, parts_.states,
                                parts_.arenas,  parts_.next_step,
                                parts_.fixed,   parts_.states_live_longer};
    auto made = Executable::Make(graph_, feeds_, fetches_, parts);
    if (made.ok()) other.executable = *std::move(made);
  }
  return other.executable == nullptr ? owner_ : *other.executable;
}

absl::StatusOr<std::vector<Tensor>> SpreadRuns::Run(absl::Span<const Tensor> feeds,
                                                    RunRecorder* recorder,
                                                    const RunLimits* limits) {
  const size_t number = busy_.Take();
  const absl::Cleanup give = [this, number] { busy_.Give(number); };
  return At(number).RunAsPlaced(feeds, recorder, limits);
}

}  // namespace tenon
