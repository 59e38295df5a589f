// StringToNumber, AsString.
#include "plugin/cpu/strings/number_text.h"

#include <complex>
#include <cstdio>
#include <limits>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/strings/string_map.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
bool ParseDecimal(std::string_view text, T* value) {
  if constexpr (std::is_same_v<T, float>) return absl::SimpleAtof(text, value);
  if constexpr (std::is_same_v<T, double>) return absl::SimpleAtod(text, value);
}

template <typename T>
bool ParseFloat(std::string_view text, T* value) {
  text = absl::StripAsciiWhitespace(text);
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (digits.size() < 2 || digits[0] != '0' || absl::ascii_tolower(digits[1]) != 'x')
    return ParseDecimal(text, value);
  digits.remove_prefix(2);
  const char* const end = digits.data() + digits.size();
  const absl::from_chars_result read =
      absl::from_chars(digits.data(), end, *value, absl::chars_format::hex);
  if (read.ec == std::errc::invalid_argument || read.ptr != end) return false;
  // A sign, "inf" and "nan" behind the 0x, which from_chars would take, make it no number.
  if (!absl::ascii_isxdigit(digits[0]) && digits[0] != '.') return false;
  // A number out of range is no error: it becomes infinite or 0, as a decimal number does.
  // from_chars makes it the greatest finite number or 0.
  if (read.ec == std::errc::result_out_of_range && *value > 1)
    *value = std::numeric_limits<T>::infinity();
  if (negative) *value = -*value;
  return true;
}

template <typename T>
bool ParseInteger(std::string_view text, void* out, int64_t i) {
  text = absl::StripAsciiWhitespace(text);
  if (std::is_unsigned_v<T> && !text.empty() && text[0] == '-') return false;
  T value;
  if (!absl::SimpleAtoi(text, &value)) return false;
  static_cast<T*>(out)[i] = value;
  return true;
}

}  // namespace

bool ParseNumber(std::string_view text, DataType type, void* out, int64_t i) {
  switch (type) {
    case DataType::kFloat:
      return ParseFloat(text, static_cast<float*>(out) + i);
    case DataType::kDouble:
      return ParseFloat(text, static_cast<double*>(out) + i);
    case DataType::kInt32:
      return ParseInteger<int32_t>(text, out, i);
    case DataType::kUint32:
      return ParseInteger<uint32_t>(text, out, i);
    case DataType::kInt64:
      return ParseInteger<int64_t>(text, out, i);
    default:
      return ParseInteger<uint64_t>(text, out, i);
  }
}

namespace {

struct ToNumber {
  DataType type;

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view text = StringAt(args.in[0], i);
    if (ParseNumber(text, type, args.out[0], i)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("StringToNumberOp could not correctly convert string: ", text));
  }
};

absl::Status PrepareToNumber(Prepare& p) { return SetElementMap(p, ToNumber{p.output_type(0)}); }

// One element through printf. Its format has been checked to fit the argument.
struct ToString {
  DataType type;
  std::string format;

  template <typename... Args>
  void Print(const StepArgs& args, int64_t i, Args... values) const {
    const int size = snprintf(nullptr, 0, format.c_str(), values...);
    std::string text(size + 1, '\0');
    snprintf(text.data(), text.size(), format.c_str(), values...);
    PutString(args.out[0], i, std::string_view(text.data(), size));
  }

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const void* in = args.in[0];
    switch (type) {
      case DataType::kBool:
        PutString(args.out[0], i, static_cast<const bool*>(in)[i] ? "true" : "false");
        break;
      case DataType::kString:
        PrintText(args, i);
        break;
      case DataType::kComplex64:
      case DataType::kComplex128:
        VisitElement(type, [&](auto element) {
          const auto x = element.template As<std::complex<double>>(in, i);
          Print(args, i, x.real(), x.imag());
        });
        break;
      default:
        VisitReal(type, [&](auto element, auto wide) {
          using Wide = decltype(wide);
          const auto x = element.template As<Wide>(in, i);
          if constexpr (std::is_same_v<Wide, double>) Print(args, i, x);
          if constexpr (std::is_same_v<Wide, int64_t>) Print(args, i, static_cast<long long>(x));
          if constexpr (std::is_same_v<Wide, uint64_t>)
            Print(args, i, static_cast<unsigned long long>(x));
        });
    }
    return absl::OkStatus();
  }

  // Cut to the precision and padded to the width; on the right after a fill of '-'.
  void PrintText(const StepArgs& args, int64_t i) const {
    const std::string_view text = StringAt(args.in[0], i).substr(0, precision);
    if (text.size() >= width) return PutString(args.out[0], i, text);
    const std::string padding(width - text.size(), ' ');
    PutString(args.out[0], i, left ? absl::StrCat(text, padding) : absl::StrCat(padding, text));
  }

  size_t width = 0, precision = std::string_view::npos;
  bool left = false;
};

// The attributes of AsString.
struct Look {
  int64_t precision, width;
  bool scientific, shortest;
  std::string_view fill;
};

absl::StatusOr<Look> ReadLook(const Prepare& p) {
  Look look;
  TENON_ASSIGN_OR_RETURN(look.precision, p.AttrInt("precision"));
  TENON_ASSIGN_OR_RETURN(look.width, p.AttrInt("width"));
  TENON_ASSIGN_OR_RETURN(look.scientific, p.AttrBool("scientific"));
  TENON_ASSIGN_OR_RETURN(look.shortest, p.AttrBool("shortest"));
  TENON_ASSIGN_OR_RETURN(look.fill, p.AttrString("fill"));
  return look;
}

absl::Status CheckLook(const Prepare& p, const Look& look) {
  const DataType type = p.input_type(0);
  const bool takes_digits = IsFloating(type) || IsComplex(type) || type == DataType::kString;
  if (look.scientific && look.shortest)
    return p.Invalid("attributes 'scientific' and 'shortest' exclude each other");
  if (!takes_digits && (look.precision >= 0 || look.scientific || look.shortest)) {
    return p.Invalid(absl::StrCat(
        "attributes 'precision', 'scientific' and 'shortest' are not for ", DataTypeName(type)));
  }
  if (look.fill.size() > 1 ||
      (look.fill.size() == 1 && std::string_view(" +-0#").find(look.fill[0]) == look.fill.npos)) {
    return p.Invalid(absl::StrCat("attribute 'fill' must be one of ' ', '+', '-', '0', '#', not '",
                                  look.fill, "'"));
  }
  // A width is one number in a graph: without a bound it could ask for any amount of memory.
  constexpr int64_t kMostDigits = 1 << 20;
  if (look.width > kMostDigits || look.precision > kMostDigits) {
    return p.Invalid(
        absl::StrCat("attributes 'width' and 'precision' must not be above ", kMostDigits));
  }
  return CheckStringBytes(static_cast<double>(p.input_shape(0).num_elements()) *
                          static_cast<double>(std::max<int64_t>({look.width, look.precision, 0})));
}

absl::Status PrepareAsString(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Look look, ReadLook(p));
  TENON_RETURN_IF_ERROR(CheckLook(p, look));
  const DataType type = p.input_type(0);
  std::string number = absl::StrCat("%", look.fill);
  if (look.width >= 0) absl::StrAppend(&number, look.width);
  if (look.precision >= 0) absl::StrAppend(&number, ".", look.precision);
  if (IsFloating(type) || IsComplex(type)) {
    number += look.scientific ? "e" : look.shortest ? "g" : "f";
  } else {
    number += type == DataType::kUint64 ? "llu" : "lld";
  }
  ToString map{type, IsComplex(type) ? absl::StrCat("(", number, ",", number, ")") : number};
  map.width = static_cast<size_t>(std::max<int64_t>(look.width, 0));
  if (look.precision >= 0) map.precision = static_cast<size_t>(look.precision);
  map.left = look.fill == "-";
  return SetElementMap(p, std::move(map));
}

}  // namespace

absl::Span<const CpuKernelSpec> NumberTextKernels() {
  constexpr uint64_t kPrinted = kNumberTypes | TypeBits(DataType::kBool, DataType::kString);
  static const CpuKernelSpec specs[] = {
      {"StringToNumber", {}, PrepareToNumber},
      {"AsString", {{"T", kPrinted}}, PrepareAsString},
  };
  return specs;
}

}  // namespace tenon::cpu
