// Tensors as text, in the form in which NumPy prints arrays.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/operators.h"
#include "tenon/tensor_class.h"

namespace tenon::inline v0 {
namespace internal {

inline float FromHalf(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) / 16777216.f;  // 2^24
    return sign != 0 ? -value : value;
  }
  exponent = exponent == 0x1f ? 0xff : exponent + 112;
  const uint32_t word = sign | exponent << 23 | mantissa << 13;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline float FromBFloat16(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// One sign bit, four of the exponent, three of the mantissa; no infinities.
inline float FromFloat8E4M3FN(uint8_t bits) {
  const int exponent = bits >> 3 & 0xf, mantissa = bits & 7;
  if ((bits & 0x7f) == 0x7f) return __builtin_nanf("");
  const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                    : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return (bits & 0x80) != 0 ? -value : value;
}

// A finite number as its shortest decimal digits that give it back in its type: 0.d1d2... times ten
// to the power of `exponent`.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

template <typename T>
Decimal ReadDecimal(T value) {
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  Decimal decimal;
  std::string_view left(text, static_cast<size_t>(end - text));
  if (left.front() == '-') {
    decimal.negative = true;
    left.remove_prefix(1);
  }
  const size_t e = left.find('e');
  decimal.exponent = std::atoi(std::string(left.substr(e + 1)).c_str()) + 1;
  for (const char c : left.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  return decimal;
}

// The element of a floating type, and its digits.
struct Real {
  double value = 0;
  Decimal decimal;
};

// A finite number with `digits` behind the point; of format general, with at most so many in all.
// The point is one whatever the locale of the process.
inline std::string DigitsOf(double value, std::chars_format format, int digits) {
  char text[512];
  return {text, std::to_chars(text, text + sizeof text, value, format, digits).ptr};
}
inline double ValueOf(const std::string& digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Shortest digits of a finite half. Digits are taken from its exact value until what they say, or
// that plus one in the last place, rounds to the same bits; a tie goes to even bits.
inline Decimal ReadHalf(uint16_t bits) {
  const auto magnitude = static_cast<uint16_t>(bits & 0x7fff);
  Decimal shortest;
  shortest.negative = bits != magnitude;
  shortest.digits = "0";
  shortest.exponent = 1;
  if (magnitude == 0) return shortest;
  const double value = FromHalf(magnitude);
  const double below = (value - FromHalf(static_cast<uint16_t>(magnitude - 1))) / 2;
  double above = (FromHalf(static_cast<uint16_t>(magnitude + 1)) - value) / 2;
  if (above - above != 0) above = below;  // the greatest number: what follows is infinity
  const bool is_even = (magnitude & 1) == 0;
  const std::string exact = DigitsOf(value, std::chars_format::scientific, 150);
  const int power = std::atoi(exact.c_str() + exact.find('e') + 1);
  std::string digits(1, exact[0]);
  for (const char* next = exact.c_str() + 2;; digits += *next++) {
    std::string greater = digits;
    size_t last = greater.size();
    while (last > 0 && greater[last - 1] == '9') greater[--last] = '0';
    if (last == 0) {
      greater.insert(0, 1, '1');
    } else {
      ++greater[last - 1];
    }
    const std::string scale = "e" + std::to_string(power + 1 - static_cast<int>(digits.size()));
    const double down = value - ValueOf(digits + scale);
    const double up = ValueOf(greater + scale) - value;
    const bool low = is_even ? down <= below : down < below;
    const bool high = is_even ? up <= above : up < above;
    if (!low && !high) continue;
    const bool is_down =
        low && (!high || down < up || (down == up && (digits.back() - '0') % 2 == 0));
    shortest.exponent =
        power + 1 + (is_down ? 0 : static_cast<int>(greater.size() - digits.size()));
    shortest.digits = is_down ? digits : greater;
    break;
  }
  while (shortest.digits.size() > 1 && shortest.digits.back() == '0') shortest.digits.pop_back();
  return shortest;
}

inline bool IsFinite(double value) { return value - value == 0; }

inline Real RealAt(const void* data, DType dtype, int64_t i) {
  Real real;
  switch (dtype) {
    case DType::kDouble:
    case DType::kComplex128:
      real.value = static_cast<const double*>(data)[i];
      if (IsFinite(real.value)) real.decimal = ReadDecimal(real.value);
      break;
    case DType::kHalf: {
      const uint16_t bits = static_cast<const uint16_t*>(data)[i];
      const float value = FromHalf(bits);
      real.value = value;
      if (IsFinite(value)) real.decimal = ReadHalf(bits);
      break;
    }
    default: {
      const float value = static_cast<const float*>(data)[i];
      real.value = value;
      if (IsFinite(value)) real.decimal = ReadDecimal(value);
    }
  }
  return real;
}

// At most so many digits behind the point, as few as tell the number; "1." for a whole one. Before
// the point stand all digits if `exact`, else zeros behind those that tell the number.
inline std::string Positional(const Real& real, int most, bool exact) {
  const Decimal& d = real.decimal;
  const int fraction = static_cast<int>(d.digits.size()) - d.exponent;
  if (exact && fraction < 0) return DigitsOf(real.value, std::chars_format::fixed, 0) + ".";
  if (fraction > most) {
    std::string number = DigitsOf(real.value, std::chars_format::fixed, most);
    while (number.back() == '0') number.pop_back();
    return number;
  }
  std::string number = d.negative ? "-" : "";
  if (d.exponent <= 0)
    return number + "0." + std::string(static_cast<size_t>(-d.exponent), '0') +
           (real.value == 0 ? "" : d.digits);
  std::string whole = d.digits.substr(0, static_cast<size_t>(d.exponent));
  whole.resize(static_cast<size_t>(d.exponent), '0');
  number += whole + ".";
  if (fraction > 0) number += d.digits.substr(static_cast<size_t>(d.exponent));
  return number;
}

// "1.5e+10" with this many digits behind the point. Where the shortest digits are as many, they are
// these: beside a power of two the nearest ones may be another number.
inline std::string Scientific(const Real& real, int digits) {
  const Decimal& d = real.decimal;
  std::string number = DigitsOf(real.value, std::chars_format::scientific, digits);
  if (digits == 0) number.insert(number.find('e'), ".");
  if (real.value == 0 || d.digits.size() != static_cast<size_t>(digits) + 1) return number;
  char text[16];
  std::snprintf(text, sizeof text, "e%+03d", d.exponent - 1);
  return (d.negative ? "-" : "") + d.digits.substr(0, 1) + "." + d.digits.substr(1) + text;
}
inline int FractionOfScientific(const Real& real) {
  const int digits = static_cast<int>(real.decimal.digits.size()) - 1;
  if (digits <= 8) return digits;
  const std::string rounded = Scientific(real, 8);
  const size_t point = rounded.find('.');
  return static_cast<int>(rounded.find_last_not_of('0', rounded.find('e') - 1) - point);
}

inline std::string NotFinite(double value) {
  return value != value ? "nan" : (value > 0 ? "inf" : "-inf");
}

// True for the floating types that ml_dtypes brings to NumPy, which prints each number by itself,
// with at most six digits.
inline bool PrintsAlone(DType dtype) {
  return dtype == DType::kBFloat16 || dtype == DType::kFloat8E5M2 || dtype == DType::kFloat8E4M3FN;
}
inline std::string AloneAt(const void* data, DType dtype, int64_t i) {
  float value = 0;
  if (dtype == DType::kBFloat16) {
    value = FromBFloat16(static_cast<const uint16_t*>(data)[i]);
  } else {
    const uint8_t bits = static_cast<const uint8_t*>(data)[i];
    value = dtype == DType::kFloat8E5M2 ? FromHalf(static_cast<uint16_t>(bits << 8))
                                        : FromFloat8E4M3FN(bits);
  }
  if (!IsFinite(value)) return NotFinite(value);
  return DigitsOf(value, std::chars_format::general, 6);
}

// Gives all exponents, "e+05", as many digits as the longest has.
inline void AlignExponents(std::vector<std::string>& numbers) {
  size_t longest = 0;
  for (const std::string& number : numbers) {
    if (const size_t e = number.find('e'); e != std::string::npos)
      longest = std::max(longest, number.size() - e);
  }
  for (std::string& number : numbers) {
    if (const size_t e = number.find('e'); e != std::string::npos)
      number.insert(e + 2, longest - (number.size() - e), '0');
  }
}

// From which size on NumPy writes the numbers of an array as powers of ten: types of few digits do
// so earlier.
inline double GreatestOfArrays(DType dtype) {
  if (dtype == DType::kHalf) return 1e3;
  return dtype == DType::kFloat || dtype == DType::kComplex64 ? 1e6 : 1e8;
}
// The same of scalars.
inline double GreatestOfScalars(DType dtype) {
  return dtype == DType::kDouble || dtype == DType::kComplex128 ? 1e16 : GreatestOfArrays(dtype);
}
// Numbers below this are written so too: 1e-4, rounded to the type, as NumPy compares with it.
inline double LeastOfArrays(DType dtype) {
  if (dtype == DType::kHalf) return FromHalf(0x068e);  // 1e-4
  return dtype == DType::kFloat || dtype == DType::kComplex64 ? static_cast<double>(1e-4f) : 1e-4;
}
// Whether the quotient, rounded to the type, is greater than 1000.
inline bool IsThousandTimes(double greatest, double least, DType dtype) {
  const double quotient = greatest / least;
  if (dtype == DType::kHalf) return static_cast<float>(quotient) > 1000.25f;  // a tie goes to 1000
  if (dtype == DType::kFloat || dtype == DType::kComplex64)
    return static_cast<float>(quotient) > 1000.f;
  return quotient > 1000;
}

// All numbers in one form, of equal length; with a plus sign if `signs`.
inline std::vector<std::string> FormatReals(const std::vector<Real>& reals, DType dtype,
                                            bool signs = false) {
  double least = 0, greatest = 0;
  for (const Real& real : reals) {
    const double size = real.value < 0 ? -real.value : real.value;
    if (!IsFinite(size) || size == 0) continue;
    if (least == 0 || size < least) least = size;
    if (size > greatest) greatest = size;
  }
  const bool scientific =
      greatest != 0 && (greatest >= GreatestOfArrays(dtype) || least < LeastOfArrays(dtype) ||
                        IsThousandTimes(greatest, least, dtype));
  int digits = 0;
  if (scientific) {
    for (const Real& real : reals) {
      if (IsFinite(real.value)) digits = std::max(digits, FractionOfScientific(real));
    }
  }
  std::vector<std::string> texts;
  size_t before = 0, behind = 0;  // the point, which counts with what stands before it
  for (const Real& real : reals) {
    const char* const sign = signs && !std::signbit(real.value) ? "+" : "";
    if (!IsFinite(real.value)) {
      texts.push_back((real.value != real.value && signs ? "+" : sign) + NotFinite(real.value));
      continue;
    }
    texts.push_back(sign + (scientific ? Scientific(real, digits) : Positional(real, 8, true)));
  }
  AlignExponents(texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!IsFinite(reals[i].value)) continue;
    const size_t point = texts[i].find('.') + 1;
    before = std::max(before, point);
    behind = std::max(behind, texts[i].size() - point);
  }
  size_t width = before + behind;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!IsFinite(reals[i].value)) width = std::max(width, texts[i].size());
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string& text = texts[i];
    if (IsFinite(reals[i].value))
      text.resize(text.size() + behind - (text.size() - text.find('.') - 1), ' ');
    text.insert(0, width - text.size(), ' ');
  }
  return texts;
}

// A number that stands alone.
inline std::string FormatScalar(const Real& real, DType dtype) {
  if (!IsFinite(real.value)) return NotFinite(real.value);
  const double size = real.value < 0 ? -real.value : real.value;
  if (size != 0 && (size >= GreatestOfScalars(dtype) || size < 1e-4)) {
    const std::string& digits = real.decimal.digits;
    std::string text = real.decimal.negative ? "-" : "";
    text += digits.substr(0, 1);
    if (digits.size() > 1) text += "." + digits.substr(1);
    char power[16];
    std::snprintf(power, sizeof power, "e%+03d", real.decimal.exponent - 1);
    return text + power;
  }
  std::string text = Positional(real, 400, false);
  return text.back() == '.' ? text + "0" : text;
}

// "(1+2j)", or "2j" without a real part, as Python writes it.
inline std::string FormatComplex(const Real& real, const Real& imaginary, DType dtype) {
  const auto part = [dtype](const Real& number) {
    std::string text = FormatScalar(number, dtype);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  };
  if (real.value == 0 && !std::signbit(real.value)) return part(imaginary) + "j";
  const std::string other = part(imaginary);
  return "(" + part(real) + (other.front() == '-' ? "" : "+") + other + "j)";
}

inline std::string QuotedBytes(std::string_view bytes) {
  const bool has_quote = bytes.find('\'') != std::string_view::npos;
  const char quote = has_quote && bytes.find('"') == std::string_view::npos ? '"' : '\'';
  std::string text = std::string("b") + quote;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      text += std::string("\\") + c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", byte);
      text += escape;
    } else {
      text += c;
    }
  }
  return text + quote;
}

inline std::string IntegerAt(const void* data, DType dtype, int64_t i) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kQInt8:
    case DType::kInt4:
      return std::to_string(static_cast<const int8_t*>(data)[i]);
    case DType::kUInt8:
    case DType::kQUInt8:
    case DType::kUInt4:
      return std::to_string(static_cast<const uint8_t*>(data)[i]);
    case DType::kInt16:
    case DType::kQInt16:
      return std::to_string(static_cast<const int16_t*>(data)[i]);
    case DType::kUInt16:
    case DType::kQUInt16:
      return std::to_string(static_cast<const uint16_t*>(data)[i]);
    case DType::kInt32:
    case DType::kQInt32:
      return std::to_string(static_cast<const int32_t*>(data)[i]);
    case DType::kUInt32:
      return std::to_string(static_cast<const uint32_t*>(data)[i]);
    case DType::kInt64:
      return std::to_string(static_cast<const int64_t*>(data)[i]);
    case DType::kUInt64:
      return std::to_string(static_cast<const uint64_t*>(data)[i]);
    default:
      return "?";
  }
}

inline bool IsComplexType(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

// The elements at these offsets, as they stand in an array.
inline std::vector<std::string> FormatElements(TF_Tensor* tensor, DType dtype,
                                               const std::vector<int64_t>& offsets, bool scalar) {
  const void* const data = TF_TensorData(tensor);
  std::vector<std::string> texts;
  if (PrintsAlone(dtype)) {
    for (const int64_t i : offsets) texts.push_back(AloneAt(data, dtype, i));
    return texts;
  }
  if (IsFloating(dtype)) {
    std::vector<Real> reals, imaginary;
    for (const int64_t i : offsets) {
      reals.push_back(RealAt(data, dtype, IsComplexType(dtype) ? 2 * i : i));
      if (IsComplexType(dtype)) imaginary.push_back(RealAt(data, dtype, 2 * i + 1));
    }
    if (scalar && !IsComplexType(dtype)) return {FormatScalar(reals[0], dtype)};
    texts = FormatReals(reals, dtype);
    if (!IsComplexType(dtype)) return texts;
    if (scalar) return {FormatComplex(reals[0], imaginary[0], dtype)};
    const std::vector<std::string> others = FormatReals(imaginary, dtype, true);
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string other = others[i];
      other.insert(other.find_last_not_of(' ') + 1, "j");
      texts[i] += other;
    }
    return texts;
  }
  if (dtype == DType::kBool) {
    for (const int64_t i : offsets) {
      const bool value = static_cast<const unsigned char*>(data)[i] != 0;
      texts.push_back(value ? (scalar ? "True" : " True") : "False");
    }
    return texts;
  }
  if (dtype == DType::kString) {
    const auto* const strings = static_cast<const TF_TString*>(data);
    for (const int64_t i : offsets) {
      texts.push_back(
          QuotedBytes({TF_TString_GetDataPointer(&strings[i]), TF_TString_GetSize(&strings[i])}));
    }
    return texts;
  }
  size_t width = 0;
  for (const int64_t i : offsets) {
    texts.push_back(dtype == DType::kResource || dtype == DType::kVariant
                        ? std::string("<") + Name(dtype) + ">"
                        : IntegerAt(data, dtype, i));
    width = std::max(width, texts.back().size());
  }
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

// Writes an array: brackets, and lines of at most 75 characters unless one element takes more. Of
// more than 1,000 elements only the ends of long dimensions are written.
class ArrayPrinter {
 public:
  ArrayPrinter(TF_Tensor* tensor, DType dtype) : rank_(TF_NumDims(tensor)) {
    int64_t count = 1;
    for (int i = 0; i < rank_; ++i) {
      dims_.push_back(TF_Dim(tensor, i));
      count *= dims_.back();
    }
    summarize_ = count > 1000;
    std::vector<int64_t> offsets;
    if (count > 0) Visit(0, 0, offsets);
    texts_ = FormatElements(tensor, dtype, offsets, rank_ == 0);
    if (count == 0) {
      text_ = "[]";
    } else {
      text_ = Print(0, " ", 75);
    }
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr int64_t kEnds = 3;

  bool IsCut(int axis) const { return summarize_ && dims_[static_cast<size_t>(axis)] > 2 * kEnds; }
  // Calls visit(i) for each index of the axis that is shown, and cut() where some are left out.
  template <typename Visitor, typename Cut>
  void ForShown(int axis, const Visitor& visit, const Cut& cut) const {
    const int64_t length = dims_[static_cast<size_t>(axis)];
    for (int64_t i = 0; i < length; ++i) {
      if (IsCut(axis) && i == kEnds) {
        cut();
        i = length - kEnds;
      }
      visit(i);
    }
  }
  void Visit(int axis, int64_t offset, std::vector<int64_t>& offsets) const {
    if (axis == rank_) {
      offsets.push_back(offset);
      return;
    }
    ForShown(
        axis,
        [&](int64_t i) { Visit(axis + 1, offset * dims_[static_cast<size_t>(axis)] + i, offsets); },
        [] {});
  }
  std::string Print(int axis, const std::string& indent, size_t width) {
    if (axis == rank_) return texts_[next_++];
    std::string text;
    if (axis + 1 == rank_) {
      std::string line = indent;
      bool first = true;
      const auto add = [&](const std::string& word) {
        if (!first) line += ' ';
        first = false;
        if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
          line.erase(line.find_last_not_of(' ') + 1);
          text += line + "\n";
          line = indent;
        }
        line += word;
      };
      ForShown(
          axis, [&](int64_t) { add(texts_[next_++]); }, [&] { add("..."); });
      text += line;
    } else {
      const std::string between(static_cast<size_t>(rank_ - axis - 1), '\n');
      bool first = true;
      const auto add = [&](const std::string& part) {
        if (!first) text += between;
        first = false;
        text += indent + part;
      };
      ForShown(
          axis, [&](int64_t) { add(Print(axis + 1, indent + " ", width - 1)); },
          [&] { add("..."); });
    }
    return "[" + text.substr(indent.size()) + "]";
  }

  const int rank_;
  std::vector<int64_t> dims_;
  bool summarize_ = false;
  std::vector<std::string> texts_;
  size_t next_ = 0;
  std::string text_;
};

}  // namespace internal

inline std::string Tensor::ToString() const {
  if (!defined()) return "<empty Tensor>";
  if (IsSymbolic()) {
    return "Tensor(\"" + name() + "\", shape=" + shape().ToString() + ", dtype=" + Name(dtype()) +
           ")";
  }
  return internal::ArrayPrinter(Host({}), dtype()).text();
}

inline std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.ToString();
}

}  // namespace tenon::inline v0
