// Merges several checkpoints into one.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace tenon {

// Renames the data files of all checkpoints to those of `destination`, writes one index and removes
// the old indexes. Makes the folder of `destination` if it does not exist. Does not read the data
// files. Replaces a checkpoint at `destination`, of which unused data files may stay. `destination`
// may be one of `prefixes`, also in another spelling.
//
// Several checkpoints may have parts of one tensor. Then the type and the whole shape must be the
// same in all of them, and no two parts may have the same slice. Whether parts overlap otherwise is
// not checked.
//
// INVALID_ARGUMENT: a tensor that several checkpoints have breaks these rules, or is whole in one
// of them; or no checkpoint is left to merge.
// NOT_FOUND: a prefix has no index. With `allow_missing` the prefix is left out.
// DATA_LOSS: an entry is damaged, or there are more than 2^20 data files.
// Other errors of reading an index are those of BundleReader::Open.
// Errors of renaming and writing follow from errno.
// Nothing is renamed before all indexes have been read. An error after that may leave some files
// renamed. Do not call it for one prefix on two threads.
absl::Status MergeBundles(absl::Span<const std::string> prefixes, const std::string& destination,
                          bool allow_missing);

}  // namespace tenon
