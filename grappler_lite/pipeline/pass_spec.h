// The text of --passes: which passes run, in which order, with which options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// One entry of the list.
struct PassSpec {
  std::string name;
  PassArguments arguments;  // by the option's name
};

// Options that every built-in pass takes, and no plug-in's pass. Where the user sets none, the
// limit is a million plus kRewritesPerNode (kVisitsPerNode) for each node that the graph has when
// the pass begins: no correct pass comes near.
inline constexpr PassOption kMaxRewrites = {"max_rewrites", 1'000'000, "rewrites in one run of it"};
inline constexpr PassOption kMaxVisits = {"max_visits", 1'000'000,
                                          "looks at nodes in one run of it"};
inline constexpr int64_t kRewritesPerNode = 16, kVisitsPerNode = 64;

// Parses "constant_folding(max_bytes=10MB),remapping,plugin:*", in order; empty entries are
// skipped. Numbers may end in k, M, G, kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of
// 1024). Knows no custom passes. INVALID_ARGUMENT for an unknown pass (any name that begins with
// "plugin:" is taken) or option, with the closest known name if one is close, for an option that is
// given twice, for a missing ')', and for a number that is negative, too large or none. A pass may
// be listed twice.
absl::StatusOr<std::vector<PassSpec>> ParsePassSpecs(std::string_view text);

// Whether the name `given` by a user means `pass`: the two are equal, or `given` is "plugin:TYPE",
// which means the passes of all plug-ins for the device type, or "plugin:*", which means the passes
// of all plug-ins. PassEntry::field, by which a user may also name a pass, is not looked at.
bool MeansPass(std::string_view given, std::string_view pass);

}  // namespace tenon
