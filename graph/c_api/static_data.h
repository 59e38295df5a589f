// What libraries hold on to in their variables of static storage.
#pragma once

#include "absl/container/flat_hash_set.h"

namespace tenon {

// Those of the addresses that some library's static variable has. Their owner may well give them
// back when the process ends, which nobody can wait for.
absl::flat_hash_set<const void*> HeldInStaticData(const absl::flat_hash_set<const void*>& wanted);

}  // namespace tenon
