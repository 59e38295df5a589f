// How many edges a graph may have.
#pragma once

#include <cstddef>

namespace tenon {

// The most edges that a graph may be read with, or have when a node is added. Places in the vector
// of edges have 32 bits; lists of inputs that move to its end leave gaps, which take the rest.
// Private to graph/.
inline constexpr size_t kMaxEdges = size_t{1} << 30;

}  // namespace tenon
