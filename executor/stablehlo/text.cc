#include "executor/stablehlo/text.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/tensor/small_float.h"

namespace tenon::stablehlo {
namespace {

constexpr int64_t kMostListed = 16;  // elements that are written one by one

std::string HexBits(uint64_t bits, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llX", digits, static_cast<unsigned long long>(bits));
  return text;
}

// A finite float in decimals, with a point.
std::string Decimal(double value, int digits) {
  char text[40];
  const auto [end, error] =
      std::to_chars(text, std::end(text), value, std::chars_format::general, digits);
  std::string number(text, end);
  if (number.find('.') != std::string::npos) return number;
  const size_t exponent = number.find('e');
  number.insert(exponent == std::string::npos ? number.size() : exponent, ".0");
  return number;
}

std::string FloatNumber(DataType dtype, double value) {
  switch (dtype) {
    case DataType::kDouble: {
      if (std::isfinite(value)) return Decimal(value, std::numeric_limits<double>::max_digits10);
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      return HexBits(bits, 16);
    }
    case DataType::kHalf:
    case DataType::kBfloat16: {
      const SmallFloat format = *SmallFloatOf(dtype);
      const uint32_t bits = format.Encode(value);
      const double rounded = format.Decode(bits);
      return std::isfinite(rounded) ? Decimal(rounded, 9) : HexBits(bits, 4);
    }
    default: {
      const auto f = static_cast<float>(value);
      if (std::isfinite(f)) return Decimal(f, std::numeric_limits<float>::max_digits10);
      uint32_t bits;
      std::memcpy(&bits, &f, sizeof bits);
      return HexBits(bits, 8);
    }
  }
}

template <typename T>
T ElementAt(const Tensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(tensor.data()) + i * sizeof(T), sizeof(T));
  return value;
}

std::string ElementText(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DataType::kBool:
      return ElementAt<uint8_t>(t, i) != 0 ? "true" : "false";
    case DataType::kFloat:
      return FloatNumber(t.dtype(), ElementAt<float>(t, i));
    case DataType::kDouble:
      return FloatNumber(t.dtype(), ElementAt<double>(t, i));
    case DataType::kHalf:
    case DataType::kBfloat16:
      return FloatNumber(t.dtype(), SmallFloatOf(t.dtype())->Decode(ElementAt<uint16_t>(t, i)));
    case DataType::kComplex64:
      return absl::StrCat("(", FloatNumber(DataType::kFloat, ElementAt<float>(t, 2 * i)), ", ",
                          FloatNumber(DataType::kFloat, ElementAt<float>(t, 2 * i + 1)), ")");
    case DataType::kComplex128:
      return absl::StrCat("(", FloatNumber(DataType::kDouble, ElementAt<double>(t, 2 * i)), ", ",
                          FloatNumber(DataType::kDouble, ElementAt<double>(t, 2 * i + 1)), ")");
    case DataType::kUint32:
      return absl::StrCat(ElementAt<uint32_t>(t, i));
    case DataType::kUint64:
      return absl::StrCat(ElementAt<uint64_t>(t, i));
    default:
      return absl::StrCat(t.IntAt(i));
  }
}

// Nested lists of the elements from `at` on.
void AppendNested(const Tensor& t, int axis, int64_t* at, std::string* out) {
  if (axis == t.shape().rank()) {
    out->append(ElementText(t, (*at)++));
    return;
  }
  out->push_back('[');
  for (int64_t i = 0; i < t.shape().dim(axis); ++i) {
    if (i > 0) out->append(", ");
    AppendNested(t, axis + 1, at, out);
  }
  out->push_back(']');
}

}  // namespace

bool IsSplat(const Tensor& t) {
  const size_t size = DataTypeSize(t.dtype());
  const char* data = static_cast<const char*>(t.data());
  const size_t bytes = t.bytes();
  return bytes > size && std::memcmp(data, data + size, bytes - size) == 0;
}

std::string_view ElementName(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat:
      return "f32";
    case DataType::kDouble:
      return "f64";
    case DataType::kHalf:
      return "f16";
    case DataType::kBfloat16:
      return "bf16";
    case DataType::kInt8:
      return "i8";
    case DataType::kInt16:
      return "i16";
    case DataType::kInt32:
      return "i32";
    case DataType::kInt64:
      return "i64";
    case DataType::kUint8:
      return "ui8";
    case DataType::kUint16:
      return "ui16";
    case DataType::kUint32:
      return "ui32";
    case DataType::kUint64:
      return "ui64";
    case DataType::kBool:
      return "i1";
    case DataType::kComplex64:
      return "complex<f32>";
    case DataType::kComplex128:
      return "complex<f64>";
    default:
      return {};
  }
}

void AppendType(DataType dtype, const Shape& shape, std::string* out) {
  out->append("tensor<");
  for (const int64_t dim : shape.dims()) absl::StrAppend(out, dim, "x");
  absl::StrAppend(out, ElementName(dtype), ">");
}

std::string List(absl::Span<const int64_t> values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

std::string Array(absl::Span<const int64_t> values) {
  if (values.empty()) return "array<i64>";
  return absl::StrCat("array<i64: ", absl::StrJoin(values, ", "), ">");
}

std::string Pairs(absl::Span<const int64_t> low, absl::Span<const int64_t> high) {
  std::string out = "dense<";
  if (!low.empty()) out.push_back('[');
  for (size_t i = 0; i < low.size(); ++i)
    absl::StrAppend(&out, i > 0 ? ", " : "", "[", low[i], ", ", high[i], "]");
  if (!low.empty()) out.push_back(']');
  absl::StrAppend(&out, "> : tensor<", low.size(), "x2xi64>");
  return out;
}

std::string Number(DataType dtype, double value) {
  if (dtype == DataType::kBool) return value != 0 ? "true" : "false";
  if (IsComplex(dtype)) {
    const DataType part = dtype == DataType::kComplex64 ? DataType::kFloat : DataType::kDouble;
    return absl::StrCat("(", FloatNumber(part, value), ", 0.0)");
  }
  if (IsFloating(dtype)) return FloatNumber(dtype, value);
  return Number(dtype, static_cast<int64_t>(value));
}

std::string Number(DataType dtype, int64_t value) {
  switch (dtype) {
    case DataType::kInt8:
      return absl::StrCat(static_cast<int8_t>(value));
    case DataType::kInt16:
      return absl::StrCat(static_cast<int16_t>(value));
    case DataType::kInt32:
      return absl::StrCat(static_cast<int32_t>(value));
    case DataType::kInt64:
      return absl::StrCat(value);
    case DataType::kUint8:
      return absl::StrCat(static_cast<uint8_t>(value));
    case DataType::kUint16:
      return absl::StrCat(static_cast<uint16_t>(value));
    case DataType::kUint32:
      return absl::StrCat(static_cast<uint32_t>(value));
    case DataType::kUint64:
      return absl::StrCat(static_cast<uint64_t>(value));
    default:
      return Number(dtype, static_cast<double>(value));
  }
}

std::string Dense(const Tensor& tensor) {
  const int64_t elements = tensor.num_elements();
  if (elements == 0) return "dense<>";
  if (elements == 1 || IsSplat(tensor)) return absl::StrCat("dense<", ElementText(tensor, 0), ">");
  // The packing of booleans in hexadecimal digits differs between versions of MLIR.
  if (tensor.dtype() == DataType::kBool ||
      (elements <= kMostListed && tensor.shape().rank() == 1)) {
    std::string out = "dense<";
    int64_t at = 0;
    AppendNested(tensor, 0, &at, &out);
    out.push_back('>');
    return out;
  }
  const std::string_view bytes(static_cast<const char*>(tensor.data()), tensor.bytes());
  return absl::StrCat("dense<\"0x", absl::AsciiStrToUpper(absl::BytesToHexString(bytes)), "\">");
}

std::string CommentText(std::string_view name) {
  constexpr size_t kMost = 100;
  std::string out;
  for (const char c : name.substr(0, kMost))
    out.push_back(absl::ascii_isprint(static_cast<unsigned char>(c)) ? c : '?');
  if (name.size() > kMost) out.append("...");
  return out;
}

}  // namespace tenon::stablehlo
