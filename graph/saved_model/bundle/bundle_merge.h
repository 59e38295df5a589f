// Merges several checkpoints into one.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace tenon {

// Renames the data files of all checkpoints to those of `destination`, writes one index and removes
// the old ones. Parts of one tensor may come from several checkpoints.
// INVALID_ARGUMENT: a tensor comes twice, or there is nothing to merge.
// NOT_FOUND: a prefix has no index. With `allow_missing` it is left out.
// Nothing is renamed before all indexes have been read. An error after that leaves some files
// renamed.
absl::Status MergeBundles(absl::Span<const std::string> prefixes, const std::string& destination,
                          bool allow_missing);

}  // namespace tenon
