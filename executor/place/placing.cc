// State that the rules share, and the error of a node that no rule can place.

#include "executor/place/placing.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/node_note.h"

namespace tenon {
namespace {

// The members of n's group for an error message, the first ten at most; empty if n is alone.
std::string DescribeMembers(Placing& p, NodeId n) {
  constexpr size_t kMost = 10;
  std::vector<std::string> members;
  for (const NodeId i : p.groups.Members(n)) {
    if (members.size() == kMost) break;
    members.push_back(absl::StrCat(
        "'", p.graph.name(i), "' (", p.graph.op_name(i), ")",
        p.requested[i].empty() ? "" : absl::StrCat(" asks for '", p.requested[i], "'")));
  }
  if (members.size() < 2) return "";
  return absl::StrCat("; its colocation group: ", absl::StrJoin(members, ", "));
}

std::string FullNames(const Placing& p) {
  std::vector<std::string> names;
  for (const Device* const device : p.types.devices()) names.push_back(device->full_name());
  return absl::StrJoin(names, ", ");
}

// The node that the error should name: n if it asks for a device, else a member of its group that
// does, else the group's first member.
NodeId Asker(Placing& p, NodeId n) {
  if (!p.requested[n].empty()) return n;
  for (const NodeId i : p.groups.Members(n)) {
    if (!p.requested[i].empty()) return i;
  }
  return p.groups.Of(n).first;
}

}  // namespace

Device* Placing::Best(NodeId n, uint64_t mask) {
  const Group& group = groups.Of(n);
  if (group.movers_only && (mask & types.host_bit()) != 0) return types.host();
  // Devices with kernels of their own go before devices that only borrow those of the host.
  if ((mask & group.own) != 0) mask &= group.own;
  // Priorities of kernels compare kernels of one op, so they count only for a node that is alone.
  return types.Best(
      mask, group.size == 1 ? types.Support(graph, n).priority : absl::Span<const int32_t>());
}

std::string Placing::Asked(NodeId n) {
  return requested[n].empty() && groups.Of(n).by_default ? options.default_device
                                                         : std::string(requested[n]);
}

absl::Status Refuse(Placing& p, NodeId n, std::string_view why, absl::StatusCode code) {
  const NodeId asker = Asker(p, n);
  const std::string asked = p.Asked(asker);
  absl::Status status(
      code, absl::StrCat(p.graph.Locate(asker), ": cannot place node '", p.graph.name(asker), "' (",
                         p.graph.op_name(asker), ")",
                         asked.empty() ? "" : absl::StrCat(" on '", asked, "'"), ": ", why,
                         "; the devices are ", p.types.Names(), DescribeMembers(p, n)));
  if (asked.empty()) return NoteNode(std::move(status), p.graph.name(asker));
  status =
      NoteAnswer(std::move(status), absl::StatusCode::kInvalidArgument,
                 absl::StrCat("Cannot assign a device for operation ", p.graph.name(asker),
                              ": {{node ", p.graph.name(asker), "}} was explicitly assigned to ",
                              asked, " but available devices are [ ", FullNames(p),
                              " ]. Make sure the device specification refers to a valid "
                              "device. Here ",
                              why, "."));
  return NoteNode(std::move(status), p.graph.name(asker));
}

}  // namespace tenon
