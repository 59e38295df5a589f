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
// INVALID_ARGUMENT: a tensor comes twice other than in parts, or there is nothing to merge.
// NOT_FOUND: a prefix has no index. With `allow_missing` the prefix is left out.
// DATA_LOSS, UNIMPLEMENTED: as of BundleReader::Open.
// Errors of renaming and writing follow from errno.
// Nothing is renamed before all indexes have been read. An error after that leaves some files
// renamed. Do not call it for one prefix on two threads.
absl::Status MergeBundles(absl::Span<const std::string> prefixes, const std::string& destination,
                          bool allow_missing);

}  // namespace tenon
