#pragma once

#include <string>

#include "graph/ir/graph.h"

namespace tenon::testing {

// The graph of a text; defects fail the test.
Graph Parse(std::string text);

}  // namespace tenon::testing
