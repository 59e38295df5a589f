// Makes one checkpoint of several.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace tenon {

// The data files of all checkpoints become those of `destination`, and their indexes one. Parts of
// one tensor may come from several; INVALID_ARGUMENT for a tensor that comes twice. Nothing is
// moved unless all indexes are good. Prefixes without an index are left out if `allow_missing`.
absl::Status MergeBundles(absl::Span<const std::string> prefixes, const std::string& destination,
                          bool allow_missing);

}  // namespace tenon
