// Reads, writes and prints single elements of host tensors, for every dtype that the command line
// can name. Element i is the i-th in row-major order. No function checks i or the dtype: the caller
// must stay within num_elements() and the types that a function names.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "executor/values/json.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Floats of 4 to 64 bits: half, bfloat16, float, double, float8*, float4. Not complex ones.
bool IsFloatLike(DataType t);
// Signed and unsigned integers of 2 to 64 bits, and quantized ones. Not bool.
bool IsIntegerLike(DataType t);
// Whether elements are truth values, integers, floats or complex numbers of any size.
bool IsNumber(DataType t);

// The range of an integer type. `hi` is unsigned to hold the maximum of uint64.
struct IntegerRange {
  int64_t lo;
  uint64_t hi;
};
IntegerRange RangeOf(DataType t);

// Element i as a double. Float-like types: exact. Integers: exact below 2^53. Bools: 0 or 1.
double ElementAsDouble(const Tensor& t, int64_t i);
// The same of complex types too.
std::complex<double> ElementAsComplex(const Tensor& t, int64_t i);
// Integer-like and bool elements. A uint64 beyond the range of int64 wraps.
int64_t ElementAsInt(const Tensor& t, int64_t i);

// Stores `value`. Types: numbers and bool. For floats it is rounded to nearest, ties to even, as a
// conversion in hardware does. For integers and bools it must be in range, and its fraction is cut
// off.
void StoreDouble(const Tensor& t, int64_t i, double value);
// Stores the low bits of `bits`, as many as the element's bytes have; an integer of 2 or 4 bits is
// extended to its byte by its sign, as kernels expect it. Numbers of up to 64 bits and bool.
void StoreInt(const Tensor& t, int64_t i, uint64_t bits);
// Complex types only. Each part is rounded as by StoreDouble.
void StoreComplex(const Tensor& t, int64_t i, std::complex<double> value);

// The element's bits as an integer that grows with the element: neighbouring floats differ by one,
// and 0 and -0 are the same; an infinity is the neighbour of the largest float. Float-like types
// only, and no NaN.
int64_t OrderedBits(const Tensor& t, int64_t i);
// The number of floating-point steps between elements i of two tensors of one float-like type, at
// most 2^63 - 1. Neither may be NaN.
int64_t StepsBetween(const Tensor& a, const Tensor& b, int64_t i);

// Numbers, bools and strings as such; a complex number as [real, imaginary]. NaN and infinities
// become strings (Json(double)). A string that is not UTF-8 becomes {"b64": "…"}.
Json ElementJson(const Tensor& t, int64_t i);
// The element as text: float, double and their complex types in the fewest digits that read back as
// the same value, smaller floats in at most five digits, strings as QuotedString has them.
std::string ElementText(const Tensor& t, int64_t i);
// The string in double quotes, with backslash escapes for quotes, backslashes and control
// characters.
std::string QuotedString(std::string_view s);

}  // namespace tenon::cli
