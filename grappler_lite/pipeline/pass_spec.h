// Which passes run, in which order, with which options: what --passes says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

struct PassSpec {
  std::string name;
  PassArguments arguments;
};

// Options that every pass takes: a million, and so many for each node of the graph, where nothing
// is said. No pass that works as it should comes near.
inline constexpr PassOption kMaxRewrites = {"max_rewrites", 1'000'000, "rewrites in one run of it"};
inline constexpr PassOption kMaxVisits = {"max_visits", 1'000'000,
                                          "looks at nodes in one run of it"};
inline constexpr int64_t kRewritesPerNode = 16, kVisitsPerNode = 64;

// "constant_folding(max_bytes=10MB),remapping,plugin:*". Numbers may end in k, M, G, kB, MB, GB
// (powers of 1000) or KiB, MiB, GiB. INVALID_ARGUMENT says which pass or option there is instead.
absl::StatusOr<std::vector<PassSpec>> ParsePassSpecs(std::string_view text);

// Whether a name that a user gives means this pass: "plugin:TYPE" is that of each plug-in for the
// type, "plugin:*" that of each for any.
bool MeansPass(std::string_view given, std::string_view pass);

}  // namespace tenon
