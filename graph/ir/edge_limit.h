// How many edges a graph may have.
#pragma once

#include <cstddef>

namespace tenon {

// The most edges that a graph may be read with. Also the most places that the vector of edges may
// have when a node is added, with the gaps of lists of inputs that moved to its end. Places have 32
// bits: lists that move may take the rest.
// Private to graph/.
inline constexpr size_t kMaxEdges = size_t{1} << 30;

}  // namespace tenon
