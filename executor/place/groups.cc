// Union-find over nodes. The members of a set form a ring (next_), so that two sets join in
// constant time and the members of a set can be listed.

#include "executor/place/groups.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <numeric>

namespace tenon {

class Groups::Sets {
 public:
  explicit Sets(size_t count)
      : rank_(count, 0), parent_(count), sets_(rank_.data(), parent_.data()) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  NodeId Root(NodeId n) { return sets_.find_set(n); }
  void Join(NodeId a, NodeId b) { sets_.union_set(a, b); }

 private:
  std::vector<NodeId> rank_, parent_;
  boost::disjoint_sets<NodeId*, NodeId*> sets_;
};

Groups::Groups(size_t count) : sets_(std::make_unique<Sets>(count)), groups_(count), next_(count) {
  std::iota(next_.begin(), next_.end(), 0);
  for (size_t n = 0; n < count; ++n) groups_[n].first = static_cast<NodeId>(n);
}

Groups::~Groups() = default;

NodeId Groups::Root(NodeId n) { return sets_->Root(n); }

std::vector<NodeId> Groups::Members(NodeId n) const {
  std::vector<NodeId> members = {n};
  for (NodeId i = next_[n]; i != n; i = next_[i]) members.push_back(i);
  // The order of a ring depends on the order of joins; messages must not.
  std::ranges::sort(members);
  return members;
}

// Merges the request of `b` into that of `a`. All requests are of this task, so only types and
// ordinals can differ. A request of the graph or of a rule goes before the default device. A
// request for a type and one for an ordinal become one request for both.
void Groups::MergeRequests(Group& a, const Group& b) {
  a.conflict |= b.conflict;
  if (b.request == nullptr || (a.request != nullptr && !a.by_default && b.by_default)) return;
  if (a.request == nullptr || (a.by_default && !b.by_default)) {
    a.request = b.request;
    a.by_default = b.by_default;
    a.by_options = b.by_options;
    return;
  }
  a.by_options |= b.by_options;
  const DeviceRequest &x = *a.request, &y = *b.request;
  const bool type_conflict = !x.type.empty() && !y.type.empty() && x.type != y.type;
  const bool ordinal_conflict = x.ordinal >= 0 && y.ordinal >= 0 && x.ordinal != y.ordinal;
  if (type_conflict || ordinal_conflict) {
    a.conflict = true;
    return;
  }
  const bool tells_type = x.type.empty() && !y.type.empty();
  const bool tells_ordinal = x.ordinal < 0 && y.ordinal >= 0;
  if (!tells_type && !tells_ordinal) return;
  DeviceRequest& both = merged_.emplace_back(x);
  if (tells_type) both.type = y.type;
  if (tells_ordinal) both.ordinal = y.ordinal;
  a.request = &both;
}

void Groups::JoinTwo(NodeId a, NodeId b, bool by_resource) {
  const NodeId from = Root(a), into = Root(b);
  if (from == into) return;
  Group joined = groups_[into];
  const Group& other = groups_[from];
  MergeRequests(joined, other);
  joined.mask &= other.mask;
  joined.own |= other.own;
  joined.size += other.size;
  joined.first = std::min(joined.first, other.first);
  joined.movers_only &= other.movers_only;
  joined.by_resource |= by_resource | other.by_resource;
  sets_->Join(from, into);
  groups_[Root(into)] = joined;
  std::swap(next_[from], next_[into]);  // makes one ring of two
}

NodeId Groups::Join(absl::Span<const NodePair> pairs, bool by_resource, bool splits) {
  if (pairs.empty()) return kNoNode;
  Sets connected(groups_.size());
  // Components are found first, in sets of their own: whether a component fits a device type must
  // not depend on the pair that comes first, as it does in TensorFlow.
  for (const auto& [a, b] : pairs) connected.Join(Root(a), Root(b));
  std::vector<uint64_t> masks(groups_.size(), ~uint64_t{0});
  for (const auto& [a, b] : pairs) masks[connected.Root(Root(a))] &= Of(a).mask & Of(b).mask;
  // Joins move roots: what stays apart is found before.
  std::vector<bool> apart;
  for (const auto& [a, b] : pairs) apart.push_back(splits && masks[connected.Root(Root(a))] == 0);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!apart[i]) JoinTwo(pairs[i].first, pairs[i].second, by_resource);
  }
  for (const auto& [a, b] : pairs) {
    if (Of(a).mask == 0) return Root(a);
  }
  return kNoNode;
}

}  // namespace tenon
