// Tensors as TensorFlow writes them into messages: "[0 1...][2 3]", the first elements only.
#pragma once

#include <cstdint>
#include <string>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon::cpu {

// At most `max_entries` elements; all of them if it is negative. Dots stand for what is left out,
// "?" for elements that TensorFlow does not print either (complex, qint32).
std::string SummarizeTensor(DataType type, const Shape& shape, const void* data,
                            int64_t max_entries);

// The form of tf.print and tf.strings.format: brackets for every dimension, rows on lines of their
// own, strings in quotes; of each dimension the first and last `max_entries` places, or all of
// them if it is negative.
std::string FormatTensor(DataType type, const Shape& shape, const void* data, int64_t max_entries);

}  // namespace tenon::cpu
