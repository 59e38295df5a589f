#include "executor/op_headers/cpp_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_registry.h"

namespace tenon::op_headers {
namespace {

constexpr size_t kColumns = 100;

// Keywords of C++20, other spellings of operators, and macros of compilers and C headers.
constexpr std::string_view kReserved[] = {
    "alignas",      "alignof",   "and",
    "and_eq",       "asm",       "assert",
    "auto",         "bitand",    "bitor",
    "bool",         "break",     "case",
    "catch",        "char",      "char16_t",
    "char32_t",     "char8_t",   "class",
    "co_await",     "co_return", "co_yield",
    "compl",        "concept",   "const",
    "const_cast",   "consteval", "constexpr",
    "constinit",    "continue",  "decltype",
    "default",      "delete",    "do",
    "double",       "else",      "enum",
    "errno",        "explicit",  "export",
    "extern",       "false",     "float",
    "for",          "friend",    "goto",
    "if",           "inline",    "int",
    "linux",        "long",      "major",
    "minor",        "mutable",   "namespace",
    "new",          "noexcept",  "not",
    "not_eq",       "nullptr",   "operator",
    "or",           "or_eq",     "private",
    "protected",    "public",    "register",
    "return",       "requires",  "reinterpret_cast",
    "short",        "signed",    "sizeof",
    "static",       "stderr",    "stdin",
    "stdout",       "struct",    "static_assert",
    "static_cast",  "switch",    "template",
    "this",         "throw",     "thread_local",
    "true",         "try",       "typedef",
    "typeid",       "typename",  "union",
    "dynamic_cast", "unsigned",  "using",
    "unix",         "virtual",   "void",
    "volatile",     "wchar_t",   "while",
    "xor",          "xor_eq",
};

std::string TypeLiteral(DataType type) {
  std::string_view name;
  switch (type) {
    case DataType::kInvalid:
      name = "kInvalid";
      break;
    case DataType::kFloat:
      name = "kFloat";
      break;
    case DataType::kDouble:
      name = "kDouble";
      break;
    case DataType::kInt32:
      name = "kInt32";
      break;
    case DataType::kUint8:
      name = "kUInt8";
      break;
    case DataType::kInt16:
      name = "kInt16";
      break;
    case DataType::kInt8:
      name = "kInt8";
      break;
    case DataType::kString:
      name = "kString";
      break;
    case DataType::kComplex64:
      name = "kComplex64";
      break;
    case DataType::kInt64:
      name = "kInt64";
      break;
    case DataType::kBool:
      name = "kBool";
      break;
    case DataType::kQint8:
      name = "kQInt8";
      break;
    case DataType::kQuint8:
      name = "kQUInt8";
      break;
    case DataType::kQint32:
      name = "kQInt32";
      break;
    case DataType::kBfloat16:
      name = "kBFloat16";
      break;
    case DataType::kQint16:
      name = "kQInt16";
      break;
    case DataType::kQuint16:
      name = "kQUInt16";
      break;
    case DataType::kUint16:
      name = "kUInt16";
      break;
    case DataType::kComplex128:
      name = "kComplex128";
      break;
    case DataType::kHalf:
      name = "kHalf";
      break;
    case DataType::kResource:
      name = "kResource";
      break;
    case DataType::kVariant:
      name = "kVariant";
      break;
    case DataType::kUint32:
      name = "kUInt32";
      break;
    case DataType::kUint64:
      name = "kUInt64";
      break;
    default:
      return absl::StrCat("static_cast<DType>(", static_cast<int>(type), ")");
  }
  return absl::StrCat("DType::", name);
}

std::string IntLiteral(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return absl::StrCat("(", value + 1, " - 1)");
  return absl::StrCat(value);
}

// The shortest that is the value.
absl::StatusOr<std::string> FloatLiteral(float value) {
  if (std::isnan(value)) return absl::UnimplementedError("A default that is no number");
  if (std::isinf(value)) {
    return absl::StrCat(value < 0 ? "-" : "", "std::numeric_limits<float>::infinity()");
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  std::string literal(text, end);
  if (literal.find_first_of(".e") == std::string::npos) literal += ".0";
  return literal + "f";
}

std::string ShapeLiteral(const PartialShape& shape) {
  if (!shape.known_rank()) return TypeName("Shape") + "::Unknown()";
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) dims.push_back(shape.dim(i));
  return absl::StrCat("{", absl::StrJoin(dims, ", "), "}");
}

// The elements of a list, or the one value, as literals.
absl::StatusOr<std::vector<std::string>> Literals(const AttrDef& attr) {
  const AttrValue value(attr.default_wire);
  std::vector<std::string> literals;
  const auto add = [&](const auto& values, const auto& to_text) {
    for (const auto& v : values) literals.push_back(to_text(v));
  };
  switch (attr.kind) {
    case AttrKind::kString: {
      std::vector<std::string_view> values(1);
      if (attr.is_list) {
        TENON_ASSIGN_OR_RETURN(values, value.AsStringList());
      } else {
        TENON_ASSIGN_OR_RETURN(values[0], value.AsString());
      }
      add(values, StringLiteral);
      break;
    }
    case AttrKind::kInt: {
      std::vector<int64_t> values(1);
      if (attr.is_list) {
        TENON_ASSIGN_OR_RETURN(values, value.AsIntList());
      } else {
        TENON_ASSIGN_OR_RETURN(values[0], value.AsInt());
      }
      add(values, IntLiteral);
      break;
    }
    case AttrKind::kFloat: {
      std::vector<float> values(1);
      if (attr.is_list) {
        TENON_ASSIGN_OR_RETURN(values, value.AsFloatList());
      } else {
        TENON_ASSIGN_OR_RETURN(values[0], value.AsFloat());
      }
      for (const float v : values) {
        TENON_ASSIGN_OR_RETURN(literals.emplace_back(), FloatLiteral(v));
      }
      break;
    }
    case AttrKind::kBool: {
      std::vector<bool> values(1);
      if (attr.is_list) {
        TENON_ASSIGN_OR_RETURN(values, value.AsBoolList());
      } else {
        TENON_ASSIGN_OR_RETURN(values[0], value.AsBool());
      }
      for (const bool v : values) literals.push_back(v ? "true" : "false");
      break;
    }
    case AttrKind::kType: {
      std::vector<DataType> values(1);
      if (attr.is_list) {
        TENON_ASSIGN_OR_RETURN(values, value.AsTypeList());
      } else {
        TENON_ASSIGN_OR_RETURN(values[0], value.AsType());
      }
      add(values, TypeLiteral);
      break;
    }
    case AttrKind::kShape: {
      std::vector<PartialShape> values(1);
      if (attr.is_list) {
        TENON_ASSIGN_OR_RETURN(values, value.AsShapeList());
      } else {
        TENON_ASSIGN_OR_RETURN(values[0], value.AsShape());
      }
      add(values, ShapeLiteral);
      break;
    }
    case AttrKind::kTensor:
    case AttrKind::kFunc:
      if (!attr.is_list) literals.emplace_back("{}");
      break;
    default:
      return absl::UnimplementedError(absl::StrCat("No C++ text for the default of ", attr.name));
  }
  return literals;
}

}  // namespace

std::string Names::Take(std::string_view name) {
  std::string result(name);
  for (const std::string_view reserved : kReserved) {
    if (name == reserved) result += '_';
  }
  while (!taken_.insert(result).second) result += '_';
  return result;
}

std::string TypeName(std::string_view type) {
  return absl::StrCat(OpRegistry::Global().Find(type) != nullptr ? "tenon::" : "", type);
}

std::string AttrTypeName(const AttrDef& attr) {
  std::string name;
  switch (attr.kind) {
    case AttrKind::kString:
      name = "std::string";
      break;
    case AttrKind::kInt:
      name = "int64_t";
      break;
    case AttrKind::kFloat:
      name = "float";
      break;
    case AttrKind::kBool:
      name = "bool";
      break;
    case AttrKind::kType:
      name = TypeName("DType");
      break;
    case AttrKind::kShape:
      name = TypeName("Shape");
      break;
    case AttrKind::kTensor:
      name = TypeName("Tensor");
      break;
    default:
      name = TypeName("FunctionName");
      break;
  }
  return attr.is_list ? absl::StrCat("std::vector<", name, ">") : name;
}

std::string StringLiteral(std::string_view text) {
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

absl::StatusOr<std::string> DefaultText(const AttrDef& attr) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> literals, Literals(attr));
  if (attr.is_list) return absl::StrCat("{", absl::StrJoin(literals, ", "), "}");
  return literals[0] == "\"\"" ? "{}" : literals[0];
}

absl::StatusOr<std::string> DiffersText(const AttrDef& attr, const std::string& value) {
  TENON_ASSIGN_OR_RETURN(const std::string other, DefaultText(attr));
  if (attr.is_list && other == "{}") return absl::StrCat("!", value, ".empty()");
  if (attr.is_list) return absl::StrCat(value, " != ", AttrTypeName(attr), other);
  switch (attr.kind) {
    case AttrKind::kBool:
      return absl::StrCat(other == "true" ? "!" : "", value);
    case AttrKind::kTensor:
      return absl::StrCat(value, ".defined()");
    case AttrKind::kFunc:
      return absl::StrCat("!", value, ".name.empty()");
    case AttrKind::kString:
      if (other == "{}") return absl::StrCat("!", value, ".empty()");
      break;
    case AttrKind::kShape:
      if (other[0] == '{') return absl::StrCat(value, " != ", TypeName("Shape"), other);
      break;
    default:
      break;
  }
  return absl::StrCat(value, " != ", other);
}

std::string Fill(std::string_view begin, const std::vector<std::string>& items,
                 std::string_view end) {
  std::string text = absl::StrCat(begin, absl::StrJoin(items, ", "), end);
  if (text.size() <= kColumns || items.empty()) return text;
  const auto length = [&](size_t i) {
    return items[i].size() + (i + 1 == items.size() ? end.size() : 1);
  };
  size_t longest = 0;
  for (size_t i = 0; i < items.size(); ++i) longest = std::max(longest, length(i));
  const bool is_behind = begin.size() + longest <= kColumns;
  const size_t indent = is_behind ? begin.size() : begin.find_first_not_of(' ') + 4;
  text = begin;
  size_t column = is_behind ? indent : kColumns;
  for (size_t i = 0; i < items.size(); ++i) {
    if (column + 1 + length(i) > kColumns && (i != 0 || !is_behind)) {
      absl::StrAppend(&text, "\n", std::string(indent, ' '));
      column = indent;
    } else if (i != 0) {
      text += ' ';
      ++column;
    }
    absl::StrAppend(&text, items[i], i + 1 == items.size() ? end : ",");
    column += length(i);
  }
  return text;
}

std::string Comment(int indent, std::string_view text, int hanging) {
  const std::string front = std::string(static_cast<size_t>(indent), ' ') + "//";
  std::string result, line = front;
  for (const std::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() + 1 + word.size() > kColumns) {
      absl::StrAppend(&result, line, "\n");
      line = front + std::string(static_cast<size_t>(hanging), ' ');
    }
    absl::StrAppend(&line, " ", word);
  }
  return absl::StrCat(result, line, "\n");
}

}  // namespace tenon::op_headers
