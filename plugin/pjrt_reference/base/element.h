// Element types: their numbers are PJRT's, their names StableHLO's.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pjref {

enum class Element : int {
  kInvalid = 0,
  kI1 = 1,
  kI8 = 2,
  kI16 = 3,
  kI32 = 4,
  kI64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
  kC64 = 14,
  kC128 = 15,
  kToken = 23,
};

// Whether values of the type can be computed with. A token has no elements.
bool IsNumber(Element element);
bool IsFloat(Element element);
bool IsComplex(Element element);
bool IsSigned(Element element);    // i8 to i64
bool IsUnsigned(Element element);  // u8 to u64, not i1
bool IsInteger(Element element);   // either, not i1
// Bytes of an element; 0 for a token and kInvalid.
size_t ByteSize(Element element);
// Bits of an integer; 1 for i1.
int BitWidth(Element element);
// "f32", "ui8", "complex<f32>"; "invalid" for kInvalid. ElementNamed gives kInvalid for any other
// name, "token" among them.
std::string_view NameOf(Element element);
Element ElementNamed(std::string_view name);
// Of complex<f32> f32, of complex<f64> f64; of others the type itself.
Element RealPart(Element element);

// How 16-bit floats are stored. Both round to nearest even, and keep NaN.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
float ToFloat(Half value);
float ToFloat(BFloat value);
Half ToHalf(float value);
BFloat ToBFloat(float value);
// From double in one step: by way of float some values would be rounded twice.
Half ToHalf(double value);
BFloat ToBFloat(double value);

// Calls body(T()) with the type in which elements are stored: i1 as uint8_t, 0 or 1. Also for
// kToken and kInvalid, which store nothing, the type is uint8_t.
template <typename Body>
decltype(auto) VisitStored(Element element, Body&& body) {
  switch (element) {
    case Element::kI8:
      return body(int8_t());
    case Element::kI16:
      return body(int16_t());
    case Element::kI32:
      return body(int32_t());
    case Element::kI64:
      return body(int64_t());
    case Element::kU16:
      return body(uint16_t());
    case Element::kU32:
      return body(uint32_t());
    case Element::kU64:
      return body(uint64_t());
    case Element::kF16:
      return body(Half());
    case Element::kBF16:
      return body(BFloat());
    case Element::kF32:
      return body(float());
    case Element::kF64:
      return body(double());
    case Element::kC64:
      return body(std::complex<float>());
    case Element::kC128:
      return body(std::complex<double>());
    default:
      return body(uint8_t());
  }
}

// Calls body(T()) with the type in which an element is computed: float for 16-bit floats, int64_t
// for signed integers of any width, uint64_t for unsigned ones and i1. Integers wrap when they are
// stored; what is not 0 is stored as the i1 1.
template <typename Body>
decltype(auto) VisitComputed(Element element, Body&& body) {
  switch (element) {
    case Element::kF16:
    case Element::kBF16:
    case Element::kF32:
      return body(float());
    case Element::kF64:
      return body(double());
    case Element::kC64:
      return body(std::complex<float>());
    case Element::kC128:
      return body(std::complex<double>());
    case Element::kI8:
    case Element::kI16:
    case Element::kI32:
    case Element::kI64:
      return body(int64_t());
    default:
      return body(uint64_t());
  }
}

}  // namespace pjref
