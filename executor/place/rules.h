// The rules of placement, as tables in the order in which they are tried. To add a rule: a function
// and a row in rules.cc or neighbour_rules.cc, a case in placer_test.cc, and, if none of the codes
// says why, a code with its row in place_codes.h and a line in docs/graph_run.md.
// Private to executor/place/.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/place/placing.h"

namespace tenon {

// Decides the device of a group. Rules are asked in the order of the table until one decides.
struct GroupRule {
  std::string_view what;  // the rule in one sentence
  // Sets device and reason of n's group and returns true, or changes nothing and returns false. An
  // error ends the placement. n is the first member in the order; what another member may say is
  // asked of all of them (Groups::Members).
  absl::StatusOr<bool> (*decide)(Placing& p, NodeId n);
};
absl::Span<const GroupRule> GroupRules();

// Moves nodes, or whole groups, that are free to move to the device of their neighbours. Runs after
// all groups are decided. All of these rules are applied, in the order of the table.
struct NeighbourRule {
  std::string_view what;  // the rule in one sentence
  void (*apply)(Placing& p);
};
absl::Span<const NeighbourRule> NeighbourRules();

}  // namespace tenon
