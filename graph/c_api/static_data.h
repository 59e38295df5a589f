// Finds the objects that static variables of the loaded libraries point to.
#pragma once

#include "absl/container/flat_hash_set.h"

namespace tenon {

// Returns the addresses among `wanted` that an aligned word of a writable segment of the program or
// of a loaded library holds. The owner of such an object may delete it when the process ends, so
// the object is no leak. Takes time linear in the size of the segments. Segments are read in pieces
// of 128 KiB: a page that cannot be read hides what follows it in its piece.
absl::flat_hash_set<const void*> HeldInStaticData(const absl::flat_hash_set<const void*>& wanted);

}  // namespace tenon
