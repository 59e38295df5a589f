// Merges several checkpoints into one.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace tenon {

// Renames the data files of all checkpoints to those of `destination`, writes one index and removes
// the old indexes. Makes the folder of `destination` if it does not exist. Parts of one tensor may
// come from several checkpoints; whether they overlap is not checked. Does not read the data files.
// Replaces a checkpoint at `destination`, of which unused data files may stay.
// INVALID_ARGUMENT: two checkpoints have one tensor, unless both have it in parts, of the same type
// and whole shape, and no part with the same slice; or no checkpoint is left to merge.
// NOT_FOUND: a prefix has no index. With `allow_missing` the prefix is left out.
// DATA_LOSS: an entry is damaged, or there are more than 2^20 data files.
// Other errors of reading an index are those of BundleReader::Open.
// Errors of renaming and writing follow from errno.
// Nothing is renamed before all indexes have been read. An error after that may leave some files
// renamed. Do not call it for one prefix on two threads.
absl::Status MergeBundles(absl::Span<const std::string> prefixes, const std::string& destination,
                          bool allow_missing);

}  // namespace tenon
