// Tensors as text, in TensorFlow's two forms: of its messages and of tf.print.
//
// `data` holds the elements in row-major order. "?" stands for an element of a type that TensorFlow
// does not print either: complex numbers and qint32. An element of type resource or variant is
// shown by its kind, "<tensor list>", or by "?" if it is null. TensorFlow has names of its own
// there.
#pragma once

#include <cstdint>
#include <string>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon::cpu {

// Returns the form of messages: "[0 1 2][3 4...]..." for 5 elements of [2,3]. The outermost
// dimension has no brackets. The text has the first `max_entries` elements, or all if `max_entries`
// is negative. Dots stand at the end if elements are omitted, and in the bracket of a row that is
// cut. Types printed as "?" have no brackets at all.
std::string SummarizeTensor(DataType type, const Shape& shape, const void* data,
                            int64_t max_entries);

// Returns the form of tf.print and tf.strings.format: brackets for each dimension, each row on a
// line of its own, strings in quotes. Of each dimension, the text has the first and the last
// `max_entries` indices with "..." between them; all if there are at most twice `max_entries`, or
// if `max_entries` is negative. A tensor without elements is shown as with a `max_entries` of 0,
// whatever its value. A type printed as "?" is one flat list of the first `max_entries` elements
// instead, with "..." at the end if elements are omitted, and in brackets unless the tensor is a
// scalar. A bool tensor of which no element is shown has an empty text.
std::string FormatTensor(DataType type, const Shape& shape, const void* data, int64_t max_entries);

}  // namespace tenon::cpu
