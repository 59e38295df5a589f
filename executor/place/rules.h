// The rules of placement, as tables in the order in which they are tried. To add a rule: a function
// and a row in rules.cc or neighbour_rules.cc, a case in placer_test.cc, and, if none of the codes
// says why, a code in placer.h and its name in place_codes.cc. Private to executor/place/.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/place/placing.h"

namespace tenon {

// Decides where a group goes. The first rule that decides is the last one that is asked.
struct GroupRule {
  std::string_view what;
  // Sets device and reason of n's group and answers true, or leaves the group alone.
  absl::StatusOr<bool> (*decide)(Placing& p, NodeId n);
};
absl::Span<const GroupRule> GroupRules();

// Moves nodes that nothing holds to a device of their neighbours, once all groups are decided. Each
// of these rules is applied, one after the other.
struct NeighbourRule {
  std::string_view what;
  void (*apply)(Placing& p);
};
absl::Span<const NeighbourRule> NeighbourRules();

}  // namespace tenon
