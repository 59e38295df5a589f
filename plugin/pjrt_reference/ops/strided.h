// Moving elements between arrays whose axes have steps of their own.
#pragma once

#include <cstddef>

#include "../base/array.h"

namespace pjref {

// Copies elements of `size` bytes: for each index of `dims`, from `from` + index . `from_steps` to
// `to` + index . `to_steps`. Steps are in elements and may be 0 or negative. `size` is 1, 2, 4, 8
// or 16. What is read must not overlap what is written.
void CopyStrided(const char* from, const Dims& from_steps, char* to, const Dims& to_steps,
                 const Dims& dims, size_t size);
// The array whose axis i is axis `axes[i]` of `array`. It shares the memory of `array` if `axes` is
// in order.
Array Transposed(const Array& array, const Dims& axes);
// Fills with the one element of `value`.
void Fill(const Array& value, const Array& out);

}  // namespace pjref
