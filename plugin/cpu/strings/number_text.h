// Numbers read from text, the way TensorFlow reads them.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// Parses `text` and writes the number to element i of `out`. `type` is an output type of
// StringToNumber: float, double, int32, int64, uint32 or uint64. ASCII white space around the
// number is ignored. A float may be hexadecimal, "inf" or "nan"; one out of range becomes infinite
// or 0. Returns false if the text is no number or an integer out of range; the element may be
// changed then.
bool ParseNumber(std::string_view text, DataType type, void* out, int64_t i);

}  // namespace tenon::cpu
