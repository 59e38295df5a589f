#include "executor/values/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/values/text.h"
#include "graph/tensor/small_float.h"
#include "graph/wire/wire_check.h"

namespace tenon::cli {
namespace {

// By memcpy: feeds lie where the caller has them, perhaps not aligned.
template <typename T>
T Load(const Tensor& t, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(t.data()) + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Store(const Tensor& t, int64_t i, T value) {
  std::memcpy(static_cast<char*>(t.data()) + i * sizeof(T), &value, sizeof(T));
}

uint64_t LoadBits(const Tensor& t, int64_t i) {
  switch (DataTypeSize(t.dtype())) {
    case 1:
      return Load<uint8_t>(t, i);
    case 2:
      return Load<uint16_t>(t, i);
    case 4:
      return Load<uint32_t>(t, i);
    default:
      return Load<uint64_t>(t, i);
  }
}

bool IsUnsigned(DataType t) {
  switch (t) {
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
    case DataType::kUint4:
    case DataType::kUint2:
    case DataType::kQuint8:
    case DataType::kQuint16:
      return true;
    default:
      return false;
  }
}

int IntegerBits(DataType t) {
  switch (t) {
    case DataType::kInt2:
    case DataType::kUint2:
      return 2;
    case DataType::kInt4:
    case DataType::kUint4:
      return 4;
    default:
      return static_cast<int>(DataTypeSize(t)) * 8;
  }
}

// The lowest bits, as many as an integer of the type has, extended to 64 bits by the type's sign.
int64_t Extended(DataType t, uint64_t bits) {
  const int shift = 64 - IntegerBits(t);
  if (IsUnsigned(t)) return static_cast<int64_t>(bits << shift >> shift);
  return static_cast<int64_t>(bits << shift) >> shift;
}

std::string RealText(DataType t, double value) {
  if (t == DataType::kDouble || t == DataType::kComplex128) return ShortestText(value);
  if (t == DataType::kFloat || t == DataType::kComplex64) {
    return ShortestText(static_cast<float>(value));
  }
  return absl::StrFormat("%.5g", value);  // enough digits for 11 bits of mantissa
}

// What is no text goes as TensorFlow Serving has it.
Json StringJson(std::string_view s) {
  if (IsUtf8(s)) return Json(s);
  Json json = Json::Object();
  json.Set("b64", absl::Base64Escape(s));
  return json;
}

}  // namespace

bool IsFloatLike(DataType t) {
  return t == DataType::kFloat || t == DataType::kDouble || SmallFloatOf(t).has_value();
}

bool IsIntegerLike(DataType t) {
  switch (t) {
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kInt2:
    case DataType::kUint2:
      return true;
    default:
      return IsInteger(t) || IsQuantized(t);
  }
}

bool IsNumber(DataType t) {
  return t == DataType::kBool || IsIntegerLike(t) || IsFloatLike(t) || IsComplex(t);
}

IntegerRange RangeOf(DataType t) {
  const int bits = IntegerBits(t);
  if (IsUnsigned(t)) return {0, ~uint64_t{0} >> (64 - bits)};
  return {-static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) - 1,
          (uint64_t{1} << (bits - 1)) - 1};
}

int64_t ElementAsInt(const Tensor& t, int64_t i) {
  const uint64_t bits = LoadBits(t, i);
  if (t.dtype() == DataType::kBool) return bits != 0;
  // 2 and 4 bits stand in a byte each, whose upper bits count for nothing.
  return Extended(t.dtype(), bits);
}

double ElementAsDouble(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DataType::kFloat:
      return Load<float>(t, i);
    case DataType::kDouble:
      return Load<double>(t, i);
    case DataType::kUint64:
      return static_cast<double>(Load<uint64_t>(t, i));
    default:
      break;
  }
  if (const auto format = SmallFloatOf(t.dtype())) {
    return format->Decode(static_cast<uint32_t>(LoadBits(t, i)));
  }
  return static_cast<double>(ElementAsInt(t, i));
}

std::complex<double> ElementAsComplex(const Tensor& t, int64_t i) {
  if (t.dtype() == DataType::kComplex64) return Load<std::complex<float>>(t, i);
  if (t.dtype() == DataType::kComplex128) return Load<std::complex<double>>(t, i);
  return ElementAsDouble(t, i);
}

void StoreInt(const Tensor& t, int64_t i, uint64_t bits) {
  switch (DataTypeSize(t.dtype())) {
    case 1:
      if (IsIntegerLike(t.dtype())) bits = static_cast<uint64_t>(Extended(t.dtype(), bits));
      return Store(t, i, static_cast<uint8_t>(bits));
    case 2:
      return Store(t, i, static_cast<uint16_t>(bits));
    case 4:
      return Store(t, i, static_cast<uint32_t>(bits));
    default:
      return Store(t, i, bits);
  }
}

void StoreDouble(const Tensor& t, int64_t i, double value) {
  if (t.dtype() == DataType::kFloat) return Store(t, i, static_cast<float>(value));
  if (t.dtype() == DataType::kDouble) return Store(t, i, value);
  if (IsComplex(t.dtype())) return StoreComplex(t, i, value);
  if (const auto format = SmallFloatOf(t.dtype())) return StoreInt(t, i, format->Encode(value));
  // A conversion to int64_t of 2^63 and more is undefined, and to uint64_t of negative values.
  const bool large = value >= 9223372036854775808.0;
  StoreInt(
      t, i,
      large ? static_cast<uint64_t>(value) : static_cast<uint64_t>(static_cast<int64_t>(value)));
}

void StoreComplex(const Tensor& t, int64_t i, std::complex<double> value) {
  if (t.dtype() == DataType::kComplex128) return Store(t, i, value);
  Store(t, i,
        std::complex<float>(static_cast<float>(value.real()), static_cast<float>(value.imag())));
}

// Floats are sign and magnitude: negative ones grow with falling magnitude, so they are mirrored.
int64_t OrderedBits(const Tensor& t, int64_t i) {
  // A byte holds one float4, in its lower half.
  const int bits =
      t.dtype() == DataType::kFloat4E2m1fn ? 4 : static_cast<int>(DataTypeSize(t.dtype())) * 8;
  const int64_t value = static_cast<int64_t>(LoadBits(t, i) << (64 - bits)) >> (64 - bits);
  const int64_t lowest = -static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) - 1;
  return value < 0 ? lowest - value : value;
}

int64_t StepsBetween(const Tensor& a, const Tensor& b, int64_t i) {
  const int64_t x = OrderedBits(a, i), y = OrderedBits(b, i);
  const uint64_t steps = x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
                               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
  return static_cast<int64_t>(std::min<uint64_t>(steps, INT64_MAX));
}

Json ElementJson(const Tensor& t, int64_t i) {
  const DataType type = t.dtype();
  if (type == DataType::kString) return StringJson(t.StringAt(i));
  if (type == DataType::kBool) return Json(ElementAsInt(t, i) != 0);
  if (type == DataType::kUint64) return Json(Load<uint64_t>(t, i));
  if (IsIntegerLike(type)) return Json(ElementAsInt(t, i));
  if (IsComplex(type)) {
    const std::complex<double> value = ElementAsComplex(t, i);
    Json pair = Json::Array();
    pair.Push(value.real()).Push(value.imag());
    return pair;
  }
  return Json(ElementAsDouble(t, i));
}

std::string QuotedString(std::string_view s) {
  std::string text = "\"";
  for (const char c : s) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (c == '\n') {
      text += "\\n";
    } else if (u < 0x20 || u == 0x7f) {
      absl::StrAppendFormat(&text, "\\x%02x", u);
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string ElementText(const Tensor& t, int64_t i) {
  const DataType type = t.dtype();
  if (type == DataType::kString) return QuotedString(t.StringAt(i));
  if (type == DataType::kBool) return ElementAsInt(t, i) != 0 ? "true" : "false";
  if (type == DataType::kUint64) return absl::StrCat(Load<uint64_t>(t, i));
  if (IsIntegerLike(type)) return absl::StrCat(ElementAsInt(t, i));
  if (!IsComplex(type)) return RealText(type, ElementAsDouble(t, i));
  const std::complex<double> value = ElementAsComplex(t, i);
  const std::string imaginary = RealText(type, value.imag());
  return absl::StrCat(RealText(type, value.real()), imaginary[0] == '-' ? "" : "+", imaginary, "j");
}

}  // namespace tenon::cli
