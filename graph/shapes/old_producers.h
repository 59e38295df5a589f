// What graphs of old versions of TensorFlow could not say.
#pragma once

namespace tenon {

// Graphs up to this version could not say "unknown shape": the scalar that their op Placeholder
// declares may be anything.
inline constexpr int kLastProducerWithoutUnknownShapes = 21;

}  // namespace tenon
