#include "executor/place/reasons.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

static_assert(std::ranges::adjacent_find(kPlaceCodes, std::ranges::greater_equal(),
                                         &PlaceCodeFacts::code) == std::end(kPlaceCodes));

std::string WhyGreedy(const Placing& p, const Group& group) {
  if (group.near) {
    return absl::StrCat("beside its neighbours on ", group.device->short_name(),
                        " it causes fewer copies");
  }
  if (group.movers_only && group.device == p.types.host())
    return "nothing computes it, so its value lies on the host";
  return "its neighbours were there before the passes";
}

// Why n is on its device and not on `device`, where it could run, as its reason's row in
// place_codes.h says. Where the reason is about a request, a group or priorities, what the group
// allows goes before n's own request, and priorities come last.
RejectedDevice WhyPassedOver(Placing& p, NodeId n, Device* device) {
  const Group& group = p.groups.Of(n);
  const PlaceCodeFacts& facts = FactsOf(group.reason);
  const std::string there = group.device->short_name();
  const std::string asked = p.Asked(n);
  if (facts.passed_over == PassedOver::kByNeighbours)
    return {device, facts.code, WhyGreedy(p, group)};
  if (facts.passed_over == PassedOver::kByPass)
    return {device, facts.code, absl::StrCat("a pass put it on ", there)};
  const bool group_allows = (group.mask & p.types.Bit(device)) != 0;
  if (facts.passed_over == PassedOver::kByItself && group_allows)
    return {device, facts.code, std::string(facts.means)};
  const bool asks_for_type =
      facts.passed_over == PassedOver::kByRequest ||
      (group.request != nullptr && group.request->type == group.device->type());
  if (facts.passed_over == PassedOver::kByGroup || (asks_for_type && asked.empty()) ||
      !group_allows) {
    const bool resource = group.by_resource || group.reason == PlaceCode::kResource;
    return {device, resource ? PlaceCode::kResource : PlaceCode::kColocation,
            absl::StrCat("its group is on ", there)};
  }
  if (asks_for_type)
    return {device, PlaceCode::kPinned, absl::StrCat("'", asked, "' is asked for")};
  return {device, PlaceCode::kPriority, p.types.WhyWorse(p.graph, n, device, group.device)};
}

}  // namespace

std::vector<RejectedDevice> WhyNotOtherDevices(Placing& p, NodeId n) {
  const Group& group = p.groups.Of(n);
  std::vector<RejectedDevice> rejected;
  if (group.reason == PlaceCode::kUnavailable)
    rejected.push_back({nullptr, PlaceCode::kUnavailable, "there is no such device"});
  const KindSupport& support = p.types.Support(p.graph, n);
  for (Device* device : p.types.devices()) {
    if (device == group.device) continue;
    const uint64_t bit = p.types.Bit(device);
    if ((support.mask & bit) != 0) {
      rejected.push_back(WhyPassedOver(p, n, device));
      continue;
    }
    const PlaceCode code = support.mover && !device->compiles() ? PlaceCode::kHostMemory
                           : (support.mismatch & bit) != 0      ? PlaceCode::kDtype
                                                                : PlaceCode::kNoKernel;
    rejected.push_back({device, code, p.types.WhyNot(p.graph, n, device)});
  }
  return rejected;
}

}  // namespace tenon
