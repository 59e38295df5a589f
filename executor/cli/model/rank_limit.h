// --max-rank: finds constants and declared shapes that have too many dimensions.
#pragma once

#include "graph/io/io.h"

namespace tenon::cli {

// Appends a defect (DefectCode::kLimit) to imported.defects for each attribute that is a shape or a
// tensor of a rank above `max_rank`. A node with two such attributes gets two defects. Attributes
// that are lists, and nodes in bodies of functions, are not checked.
void AddRankDefects(int64_t max_rank, Imported& imported);

}  // namespace tenon::cli
