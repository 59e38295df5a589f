#include "element.h"

#include <cmath>
#include <cstring>

namespace pjref {
namespace {

struct ElementRow {
  Element element;
  std::string_view name;
  size_t bytes;
};

constexpr ElementRow kElementRows[] = {
    {Element::kI1, "i1", 1},
    {Element::kI8, "i8", 1},
    {Element::kI16, "i16", 2},
    {Element::kI32, "i32", 4},
    {Element::kI64, "i64", 8},
    {Element::kU8, "ui8", 1},
    {Element::kU16, "ui16", 2},
    {Element::kU32, "ui32", 4},
    {Element::kU64, "ui64", 8},
    {Element::kF16, "f16", 2},
    {Element::kF32, "f32", 4},
    {Element::kF64, "f64", 8},
    {Element::kBF16, "bf16", 2},
    {Element::kC64, "complex<f32>", 8},
    {Element::kC128, "complex<f64>", 16},
    {Element::kToken, "token", 0},
};

const ElementRow* Find(Element element) {
  for (const ElementRow& row : kElementRows) {
    if (row.element == element) return &row;
  }
  return nullptr;
}

uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Rounds `value` to a float whose last bit is set if anything was lost ("round to odd"), so that a
// second rounding to 13 bits less is right.
float RoundToOdd(double value) {
  const float near = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(near) || static_cast<double>(near) == value) return near;
  const float down =
      std::abs(static_cast<double>(near)) > std::abs(value) ? std::nextafter(near, 0.0F) : near;
  return FloatOf(BitsOf(down) | 1);
}

}  // namespace

bool IsNumber(Element element) { return ByteSize(element) > 0; }
bool IsFloat(Element element) {
  return element == Element::kF16 || element == Element::kF32 || element == Element::kF64 ||
         element == Element::kBF16;
}
bool IsComplex(Element element) { return element == Element::kC64 || element == Element::kC128; }
bool IsSigned(Element element) { return element >= Element::kI8 && element <= Element::kI64; }
bool IsUnsigned(Element element) { return element >= Element::kU8 && element <= Element::kU64; }
bool IsInteger(Element element) { return IsSigned(element) || IsUnsigned(element); }

size_t ByteSize(Element element) {
  const ElementRow* row = Find(element);
  return row ? row->bytes : 0;
}

int BitWidth(Element element) {
  return element == Element::kI1 ? 1 : static_cast<int>(8 * ByteSize(element));
}

std::string_view NameOf(Element element) {
  const ElementRow* row = Find(element);
  return row ? row->name : "invalid";
}

Element ElementNamed(std::string_view name) {
  for (const ElementRow& row : kElementRows) {
    if (row.name == name && row.bytes > 0) return row.element;
  }
  return Element::kInvalid;
}

Element RealPart(Element element) {
  if (element == Element::kC64) return Element::kF32;
  return element == Element::kC128 ? Element::kF64 : element;
}

float ToFloat(BFloat value) { return FloatOf(static_cast<uint32_t>(value.bits) << 16); }

float ToFloat(Half value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const uint32_t rest = value.bits & 0x7FFF;
  if (rest >= 0x7C00) return FloatOf(sign | 0x7F800000 | (rest & 0x3FF) << 13);
  if (rest >= 0x400) return FloatOf(sign | ((rest << 13) + 0x38000000));
  return FloatOf(sign | BitsOf(static_cast<float>(rest) * 0x1p-24F));
}

BFloat ToBFloat(float value) {
  const uint32_t bits = BitsOf(value);
  if (std::isnan(value)) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}

Half ToHalf(float value) {
  const uint32_t bits = BitsOf(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float size = std::abs(value);
  if (std::isnan(value)) return {static_cast<uint16_t>(sign | 0x7E00 | (bits >> 13 & 0x1FF))};
  if (size >= 65520.0F) return {static_cast<uint16_t>(sign | 0x7C00)};
  if (size < 0x1p-14F) {  // Subnormal: whole steps of 2^-24; the sum below rounds to even.
    return {
        static_cast<uint16_t>(sign | static_cast<uint16_t>(BitsOf(size + 0.5F) - BitsOf(0.5F)))};
  }
  const uint32_t rest = BitsOf(size) - 0x38000000;
  return {static_cast<uint16_t>(sign | (rest + 0xFFF + (rest >> 13 & 1)) >> 13)};
}

Half ToHalf(double value) { return ToHalf(RoundToOdd(value)); }
BFloat ToBFloat(double value) { return ToBFloat(RoundToOdd(value)); }

}  // namespace pjref
