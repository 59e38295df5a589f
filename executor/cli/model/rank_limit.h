// --max-rank: finds constants and declared shapes of too many dimensions.
#pragma once

#include "graph/io/io.h"

namespace tenon::cli {

// Appends a defect (kLimit) for each node with such a shape or constant among its attributes.
void AddRankDefects(int64_t max_rank, Imported& imported);

}  // namespace tenon::cli
