// Numbers as text, the way TensorFlow reads and writes them.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// Element i of `out`, of a type that StringToNumber gives, becomes the number that `text` is. White
// space around it is passed over; floats may be hexadecimal. False if it is none, or an integer
// out of range.
bool ParseNumber(std::string_view text, DataType type, void* out, int64_t i);

}  // namespace tenon::cpu
