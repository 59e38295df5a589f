// Single elements of host tensors, for every dtype that the command line can name: reading,
// writing, text.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "executor/values/json.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Real number types of 4 to 64 bits: IEEE floats and the small ones of machine learning.
bool IsFloatLike(DataType t);    // half, bfloat16, float, double, float8*, float4
bool IsIntegerLike(DataType t);  // signed, unsigned, 2 and 4 bits, quantized; not bool

// The range of an integer type. `hi` is unsigned to hold the maximum of uint64.
struct IntegerRange {
  int64_t lo;
  uint64_t hi;
};
IntegerRange RangeOf(DataType t);

// Element `i` widened: float-like types (exact), integers (exact below 2^53), bools as 0 and 1.
double ElementAsDouble(const Tensor& t, int64_t i);
std::complex<double> ElementAsComplex(const Tensor& t, int64_t i);
// Integer-like and bool elements; uint64 wraps.
int64_t ElementAsInt(const Tensor& t, int64_t i);

// Stores rounded to nearest, ties to even, as a conversion in hardware does. Bools and integers:
// `value` must be in range.
void StoreDouble(const Tensor& t, int64_t i, double value);
void StoreInt(const Tensor& t, int64_t i, uint64_t bits);
void StoreComplex(const Tensor& t, int64_t i, std::complex<double> value);

// The element's bits as an ordered integer: neighbours differ by one. Float-like types only.
int64_t OrderedBits(const Tensor& t, int64_t i);
// How many floating-point steps lie between elements `i` of two tensors of one such type.
int64_t StepsBetween(const Tensor& a, const Tensor& b, int64_t i);

Json ElementJson(const Tensor& t, int64_t i);
// The shortest text that reads back as the element. Strings are in quotes.
std::string ElementText(const Tensor& t, int64_t i);
std::string QuotedString(std::string_view s);

}  // namespace tenon::cli
