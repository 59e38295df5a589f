// --max-rank: finds constants and declared shapes that have too many dimensions.
#pragma once

#include "graph/io/io.h"

namespace tenon::cli {

// Appends a defect (DefectCode::kLimit) to imported.defects for each attribute that is a shape or a
// tensor of a rank above `max_rank`, or a list with one. A node with two such attributes gets two
// defects. Nodes in bodies of functions are checked too. An attribute that is a function's name
// with attributes is not looked into.
void AddRankDefects(int64_t max_rank, Imported& imported);

}  // namespace tenon::cli
