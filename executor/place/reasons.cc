#include "executor/place/reasons.h"

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

std::string WhyGreedy(const Placing& p, const Group& group) {
  if (group.near) {
    return absl::StrCat("beside its neighbours on ", group.device->short_name(),
                        " it causes fewer copies");
  }
  if (group.movers_only && group.device == p.types.host())
    return "nothing computes it, so its value lies on the host";
  return "its neighbours were there before the passes";
}

// Why `device`, on which n could run, is not the chosen one. In the order of the cases: reasons of
// the node's neighbours, of passes and of its group go before its own request, and priorities come
// last.
RejectedDevice PassedOver(Placing& p, NodeId n, Device* device) {
  const Group& group = p.groups.Of(n);
  const std::string there = group.device->short_name();
  const std::string asked = p.Asked(n);
  const bool asks_for_type =
      group.reason == PlaceCode::kPinned ||
      (group.request != nullptr && group.request->type == group.device->type());
  if (group.reason == PlaceCode::kGreedy) return {device, PlaceCode::kGreedy, WhyGreedy(p, group)};
  if (group.reason == PlaceCode::kPassMoved)
    return {device, PlaceCode::kPassMoved, absl::StrCat("a pass put it on ", there)};
  if (group.reason == PlaceCode::kColocation || group.reason == PlaceCode::kResource ||
      (asks_for_type && asked.empty()) || (group.mask & p.types.Bit(device)) == 0) {
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
      rejected.push_back(PassedOver(p, n, device));
      continue;
    }
    const PlaceCode code = support.mover                   ? PlaceCode::kHostMemory
                           : (support.mismatch & bit) != 0 ? PlaceCode::kDtype
                                                           : PlaceCode::kNoKernel;
    rejected.push_back({device, code, p.types.WhyNot(p.graph, n, device)});
  }
  return rejected;
}

}  // namespace tenon
