// Limits for graphs that are read, so that a hostile file exhausts neither memory nor stack.
#pragma once

#include <cstdint>

namespace tenon {

struct ImportLimits {
  int64_t max_nodes = 10'000'000;               // of the graph, without the bodies of functions
  int64_t max_const_bytes = int64_t{16} << 30;  // of one constant's elements, decoded
  // Nesting of protobuf messages. The GraphDef is 1; of a text SavedModel, the SavedModel is.
  int64_t max_depth = 100;
  int64_t max_file_bytes = int64_t{64} << 30;  // after decompression
};

}  // namespace tenon
