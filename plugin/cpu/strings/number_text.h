// Numbers as text, the way TensorFlow reads and writes them.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// Parses `text` and writes the number to element i of `out`. `type` is an output type of
// StringToNumber. White space around the number is ignored; floats may be hexadecimal. Returns
// false if the text is no number or an integer out of range.
bool ParseNumber(std::string_view text, DataType type, void* out, int64_t i);

}  // namespace tenon::cpu
