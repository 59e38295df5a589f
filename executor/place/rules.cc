#include "executor/place/rules.h"

namespace tenon {
namespace {

// Whether a request that cannot be met may be given up.
bool IsSoft(const Placing& p, const Group& group) {
  return p.options.soft_placement && (p.options.fallback || !group.by_options);
}

bool Put(Group& group, Device* device, PlaceCode reason) {
  group.device = device;
  group.reason = reason;
  return true;
}

absl::StatusOr<bool> MembersDisagree(Placing& p, NodeId n) {
  Group& group = p.groups.Of(n);
  if (!group.conflict) return false;
  if (!p.options.soft_placement)
    return Refuse(p, n, "the members of its group ask for different devices");
  const bool host = (group.mask & p.types.host_bit()) != 0;
  return Put(group, host ? p.types.host() : p.Best(n, group.mask), PlaceCode::kColocation);
}

absl::StatusOr<bool> AsAsked(Placing& p, NodeId n) {
  Group& group = p.groups.Of(n);
  if (!group.AsksForDevice()) return false;
  Device* const device = p.Find(*group.request, group.mask);
  return device != nullptr && Put(group, device, PlaceCode::kPinned);
}

// TensorFlow gives the type and the ordinal up at once, and takes the device of highest priority.
// Here /device:CPU:7 is CPU:0, even if a plug-in has a kernel.
absl::StatusOr<bool> InsteadOfAsked(Placing& p, NodeId n) {
  Group& group = p.groups.Of(n);
  if (!group.AsksForDevice()) return false;
  const bool exists = p.Find(*group.request, ~uint64_t{0}) != nullptr;
  if (!IsSoft(p, group)) {
    if (!exists) return Refuse(p, n, "there is no such device");
    // TensorFlow answers a request of the graph with INVALID_ARGUMENT. Options are Tenon's own:
    // there the missing kernel is what counts.
    return Refuse(
        p, n, "the device has no kernel for it or for its group",
        group.by_options ? absl::StatusCode::kUnimplemented : absl::StatusCode::kInvalidArgument);
  }
  Device* device = p.types.Find(group.request->type, -1, group.mask);
  if (device == nullptr) device = p.Best(n, group.mask);
  return Put(group, device,
             !exists          ? PlaceCode::kUnavailable
             : group.size > 1 ? PlaceCode::kColocation
                              : PlaceCode::kNoKernel);
}

absl::StatusOr<bool> WhereItIsBest(Placing& p, NodeId n) {
  Group& group = p.groups.Of(n);
  return Put(group, p.Best(n, group.mask),
             group.size > 1 ? (group.by_resource ? PlaceCode::kResource : PlaceCode::kColocation)
             : group.movers_only ? PlaceCode::kGreedy
                                 : PlaceCode::kPriority);
}

// The order matters: a conflict has no one request to look at, a request goes before priorities,
// and the last rule always decides.
constexpr GroupRule kGroupRules[] = {
    {"members that ask for different devices go to the host if it serves them", &MembersDisagree},
    {"a group goes where it asks to go", &AsAsked},
    {"soft placement gives up the ordinal of a request, then the type; never the task",
     &InsteadOfAsked},
    {"a group goes to the device of highest priority that has kernels for it", &WhereItIsBest},
};

}  // namespace

absl::Span<const GroupRule> GroupRules() { return kGroupRules; }

}  // namespace tenon
