#include "fused_program.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <type_traits>

#include "../base/call.h"
#include "../base/text.h"
#include "element_rows.h"

namespace opencl {
namespace {

struct TypeName {
  TF_DataType type;
  const char* name;
};
constexpr TypeName kTypeNames[] = {
    {TF_FLOAT, "float"}, {TF_HALF, "half"},     {TF_BFLOAT16, "bfloat16"}, {TF_DOUBLE, "double"},
    {TF_INT32, "int32"}, {TF_INT64, "int64"},   {TF_INT16, "int16"},       {TF_INT8, "int8"},
    {TF_UINT8, "uint8"}, {TF_UINT16, "uint16"}, {TF_UINT32, "uint32"},     {TF_UINT64, "uint64"},
    {TF_BOOL, "bool"},
};

// Ops of the table whose result is a bool.
constexpr std::string_view kTests[] = {"Less",       "LessEqual", "Greater",    "GreaterEqual",
                                       "Equal",      "NotEqual",  "LogicalAnd", "LogicalOr",
                                       "LogicalNot", "IsNan",     "IsInf",      "IsFinite"};

// Ops beside the table. The statements are those of their own kernels.
enum class Special { kNone, kCast, kSelect, kClip, kAddN };
Special SpecialOf(std::string_view op) {
  if (op == "Cast") return Special::kCast;
  if (op == "SelectV2") return Special::kSelect;
  if (op == "ClipByValue") return Special::kClip;
  return op == "AddN" ? Special::kAddN : Special::kNone;
}

bool IsBool(TF_DataType type) { return type == TF_BOOL; }

// Whether the row has a kernel for the type; 0 stands for bool alone.
bool Takes(const MapRow& row, TF_DataType type) {
  const ElementType* found = FindType(type);
  if (found == nullptr) return false;
  return row.row.types == 0 ? IsBool(type) : (row.row.types & found->bit) != 0;
}

// One value of a program: its text and its type.
struct Value {
  std::string text;
  TF_DataType type;
};

// OpenCL C with names replaced by others. Names inside of longer names and of numbers stay.
std::string Renamed(std::string_view text, const std::map<std::string, std::string>& names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                 text[end] == '_' || (text[end] == '.' && end > at)))
      ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string word(text.substr(at, end - at));
    const auto found = names.find(word);
    out += found == names.end() ? word : found->second;
    at = end;
  }
  return out;
}

class Translator {
 public:
  Translator(std::string_view text, const std::vector<TF_DataType>& inputs)
      : text_(text), inputs_(inputs) {}

  FusedProgram Run() {
    if (inputs_.empty() || inputs_.size() > kMostInputs)
      Refuse("a program of _OpenCLFused has 1 to " + std::to_string(kMostInputs) + " inputs, not " +
             std::to_string(inputs_.size()));
    do {
      Statement();
    } while (Skip(';'));
    if (at_ != text_.size()) Fail("text behind the end");
    body_ += "r = " + values_.back().text + ";";
    return {body_, values_.back().type};
  }

 private:
  [[noreturn]] void Fail(const std::string& why) const {
    Refuse("statement " + std::to_string(values_.size()) + " of the program of _OpenCLFused: " +
           why + " at byte " + std::to_string(at_) + " of \"" + std::string(text_) + "\"");
  }

  void Blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Skip(char c) {
    Blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!Skip(c)) Fail(std::string("'") + c + "' is missing");
  }
  // Letters, digits and what else numbers have.
  std::string Word() {
    Blanks();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_' ||
            text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+'))
      ++at_;
    if (at_ == begin) Fail("a word is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }

  TF_DataType TypeNamed(const std::string& name) const {
    for (const TypeName& row : kTypeNames) {
      if (name == row.name) return row.type;
    }
    Fail("'" + name + "' is no type of a program");
  }

  double Number(const std::string& word) const {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (stop != end || error != std::errc()) Fail("'" + word + "' is no number");
    return value;
  }

  Value Constant(const std::string& word) {
    Expect(':');
    const std::string name = Word();
    const TF_DataType type = TypeNamed(name);
    const ElementType& element = TypeOf(type);
    if (element.kind == Kind::kFloat) {
      // Written anew, so that nothing but a number gets into the kernel.
      const double value = Number(word);
      const bool is_double = element.bytes == 8;
      std::string number = NameOfNotFinite(value);
      if (number.empty()) {
        number = DecimalText(value, std::chars_format::scientific, is_double ? 17 : 8);
        if (!is_double) number += 'f';
      }
      return {Joined({"((", element.computed, ")", number, ")"}), type};
    }
    const int bits = element.kind == Kind::kBool ? 1 : static_cast<int>(element.bytes) * 8;
    const bool is_unsigned = bits == 1 || name[0] == 'u';
    const std::optional<std::string> number =
        is_unsigned ? Integer<uint64_t>(word, bits) : Integer<int64_t>(word, bits - 1);
    if (!number) Fail("'" + word + "' is no " + name);
    return {Joined({"((", element.computed, ")", *number, is_unsigned ? "ul)" : "l)"}), type};
  }

  // The number as OpenCL C has it, if it needs no more than these bits beside the sign.
  template <typename T>
  static std::optional<std::string> Integer(const std::string& word, int bits) {
    T value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (stop != end || error != std::errc()) return std::nullopt;
    const T rest = bits == 64 ? 0 : value >> bits;  // all bits are the sign's
    if (rest != 0 && (std::is_unsigned_v<T> || rest != static_cast<T>(-1))) return std::nullopt;
    return std::to_string(value);
  }

  Value Operand() {
    const std::string word = Word();
    if (word[0] != 'x' && word[0] != 'v') return Constant(word);
    char* end = nullptr;
    const unsigned long number = std::strtoul(word.c_str() + 1, &end, 10);
    const bool is_input = word[0] == 'x';
    if (word.size() == 1 || *end != '\0' ||
        std::isdigit(static_cast<unsigned char>(word[1])) == 0 ||
        number >= (is_input ? inputs_.size() : values_.size()))
      Fail("there is no value '" + word + "'");
    return is_input ? Value{"x" + std::to_string(number), inputs_[number]} : values_[number];
  }

  // What stands in brackets or angles behind the op's name.
  std::string Setting(char open, char close) {
    if (!Skip(open)) return "";
    std::string word = Word();
    Expect(close);
    return word;
  }

  void Statement() {
    if (values_.size() == kMostStatements) Fail("a program has no more statements than that");
    const std::string op = Word();
    const std::string type = Setting('<', '>'), number = Setting('[', ']');
    Expect('(');
    std::vector<Value> operands;
    do {
      operands.push_back(Operand());
    } while (Skip(','));
    Expect(')');
    if (type.empty() == (op == "Cast")) Fail("Cast and no other op has a type in angles");
    const Special special = SpecialOf(op);
    if (special == Special::kNone) return Add(operands, FromTable(op, operands, number));
    if (!number.empty()) Fail(op + " has no number in brackets");
    const std::optional<TF_DataType> to =
        special == Special::kCast ? std::optional(TypeNamed(type)) : std::nullopt;
    Add(operands, Beside(special, op, operands, to));
  }

  // The text over x0, x1, ... and the type of the value.
  struct Rule {
    std::string text;
    TF_DataType result;
    size_t typed_by = 0;  // C, U and X0_S are the types of this operand
  };

  Rule FromTable(const std::string& op, const std::vector<Value>& operands,
                 const std::string& number) const {
    const FoundRow found = FindMapRow(op);
    if (found.row == nullptr) Fail("'" + op + "' is no op of a program");
    const size_t count = found.operands == Operands::kOne ? 1 : 2;
    if (operands.size() != count) Fail(op + " has " + std::to_string(count) + " operands");
    if (operands.back().type != operands[0].type) Fail("the operands of " + op + " differ in type");
    if (!MayStandInProgram(op, operands[0].type)) Fail(op + " of this type is no op of a program");
    if (number.empty() != (found.row->attr0 == nullptr))
      Fail(op + (number.empty() ? " needs a number in brackets" : " has no number in brackets"));
    const bool floats = TypeOf(operands[0].type).kind == Kind::kFloat;
    const std::string attr =
        number.empty() ? "" : FloatText("C", static_cast<float>(Number(number)));
    const bool tests = std::find(std::begin(kTests), std::end(kTests), op) != std::end(kTests);
    return {StatementsOf(*found.row, floats, attr), tests ? TF_BOOL : operands[0].type};
  }

  Rule Beside(Special special, const std::string& op, const std::vector<Value>& operands,
              std::optional<TF_DataType> to) const {
    const size_t count = operands.size();
    if (special == Special::kCast) {
      if (count != 1) Fail("Cast has one operand");
      const ElementType& element = TypeOf(*to);
      const std::string value =
          element.kind == Kind::kBool ? "x0 != 0" : Joined({"(", element.computed, ")x0"});
      return {"r = " + value + ";", *to};
    }
    if (special == Special::kSelect) {
      if (count != 3 || !IsBool(operands[0].type) || operands[1].type != operands[2].type)
        Fail("SelectV2 has a bool and two operands of one type");
      return {"r = x0 ? x1 : x2;", operands[1].type, 1};
    }
    for (const Value& operand : operands) {
      if (operand.type != operands[0].type) Fail("the operands of " + op + " differ in type");
    }
    if (!MayStandInProgram(op, operands[0].type)) Fail(op + " of this type is no op of a program");
    if (special == Special::kClip) {
      if (count != 3) Fail("ClipByValue has 3 operands");
      return {"r = x0 > x2 ? x2 : x0; r = r < x1 ? x1 : r;", operands[0].type};
    }
    std::string sum = "(U)x0";
    for (size_t k = 1; k < count; ++k) sum = Joined({"(", sum, " + (U)x", std::to_string(k), ")"});
    return {Joined({"r = (C)", sum, ";"}), operands[0].type};
  }

  void Add(const std::vector<Value>& operands, const Rule& rule) {
    const ElementType& first = TypeOf(operands[rule.typed_by].type);
    const ElementType& result = TypeOf(rule.result);
    const std::string name = "v" + std::to_string(values_.size());
    std::map<std::string, std::string> names = {
        {"r", name}, {"C", first.computed}, {"U", first.wrapping}, {"X0_S", first.stored}};
    for (size_t k = 0; k < operands.size(); ++k)
      names.emplace("x" + std::to_string(k), operands[k].text);
    body_ += Joined(
        {result.computed, " ", name, "; ", Renamed(rule.text, names), Rounding(result, name), " "});
    values_.push_back({name, rule.result});
  }

  const std::string_view text_;
  const std::vector<TF_DataType>& inputs_;
  size_t at_ = 0;
  std::string body_;
  std::vector<Value> values_;
};

}  // namespace

FusedProgram TranslateProgram(std::string_view text, const std::vector<TF_DataType>& inputs) {
  return Translator(text, inputs).Run();
}

bool MayStandInProgram(std::string_view op, TF_DataType first_operand) {
  const ElementType* type = FindType(first_operand);
  if (type == nullptr) return false;
  switch (SpecialOf(op)) {
    case Special::kCast:
    case Special::kSelect:
      return true;
    case Special::kClip:
      return (kNumbers & type->bit) != 0;
    case Special::kAddN:  // its kernel rounds the sum, not each addition
      return (kNumbers & ~kF16 & ~kBF16 & type->bit) != 0;
    case Special::kNone:
      break;
  }
  const MapRow* row = FindMapRow(op).row;
  if (row == nullptr || !Takes(*row, first_operand)) return false;
  return type->kind == Kind::kFloat || row->report == nullptr;
}

const char* NameOfType(TF_DataType type) {
  for (const TypeName& row : kTypeNames) {
    if (row.type == type) return row.name;
  }
  return nullptr;
}

}  // namespace opencl
