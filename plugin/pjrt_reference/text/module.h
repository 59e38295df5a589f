// A program in memory: what the parsers make, the checker completes and the interpreter walks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../base/array.h"

namespace pjref {

// Where something stands in the text, from 1 on. In bytecode the line is 0 and the column is the
// number of the op in the file, from 1 on.
struct Place {
  int line = 0;
  int column = 0;
};

// Regions, lists and attributes of a text or of bytecode may stand in each other so deep.
constexpr int kMostNesting = 200;

struct Attribute {
  enum class Kind {
    kUnit,
    kInteger,
    kFloat,
    kString,
    kSymbol,
    kWord,
    kArray,
    kDense,
    kType,
    kDictionary
  };

  Kind kind = Kind::kUnit;
  int64_t integer = 0;  // kInteger; true is 1
  double number = 0;    // kFloat
  std::string text;     // kString, kSymbol, kWord: a word is a case of an enumeration, as LT
  std::vector<Attribute> items;   // kArray, kDictionary
  std::vector<std::string> keys;  // kDictionary: of `items`
  Array dense;                    // kDense; a splat is written out
  Type type;  // kType; from bytecode not set: `integer` is the number of the type in the file

  static Attribute Integer(int64_t value);
  static Attribute Integers(const Dims& values);
  static Attribute Word(std::string text);
  // The entry of a dictionary, or null. Valid until the next Set, which makes the attribute a
  // dictionary and replaces the entry of that key.
  const Attribute* Find(std::string_view key) const;
  void Set(std::string_view key, Attribute value);
};

struct Op;

// One block. After the check its last op is a return, and no other op is one.
struct Region {
  std::vector<int> arguments;  // values
  std::vector<Type> argument_types;
  std::vector<Op> ops;
};

struct OpRow;
struct Function;

// Values are numbered within their function, those of its regions included.
struct Op {
  std::string name;  // with its dialect: "stablehlo.add"
  Place place;
  std::vector<int> operands;
  std::vector<Type> operand_types;
  std::vector<int> results;
  std::vector<Type> result_types;
  Attribute attributes;  // a dictionary, with the generic form's names
  std::vector<Region> regions;
  // Set by the checker.
  const OpRow* row = nullptr;
  const Function* callee = nullptr;
  std::vector<int> last_uses;  // values of the op's own block that nobody needs after it

  const Attribute* Find(std::string_view key) const { return attributes.Find(key); }
  // Integers of an array or of dense elements; `otherwise` if there is no such attribute. Throws a
  // refusal if it is anything else.
  Dims Integers(std::string_view key, Dims otherwise = {}) const;
  // The same for one integer. A kUnit is 1.
  int64_t Integer(std::string_view key, int64_t otherwise) const;
  bool Flag(std::string_view key) const { return Integer(key, 0) != 0; }
  // The text of the attribute, a word, a string or a symbol; empty if there is none.
  std::string Word(std::string_view key) const;
  // Throws Refusal(kUnknown) in the form of the compilers': "-:LINE:COLUMN: error: 'NAME' op
  // MESSAGE".
  [[noreturn]] void Refuse(const std::string& message) const;
  // The same with Code::kUnimplemented.
  [[noreturn]] void NotBuilt(const std::string& message) const;
};

struct Function {
  std::string name;
  Place place;
  Region body;
  std::vector<Type> result_types;
  std::vector<Attribute> argument_attributes;  // dictionaries, one for each argument
  std::vector<Type> value_types;               // by value
};

struct Module {
  std::string name;
  std::vector<std::unique_ptr<Function>> functions;
  // Null if there is none.
  const Function* Find(std::string_view name) const;
};

// "-:LINE:COLUMN: error: MESSAGE"
std::string At(Place place, const std::string& message);

}  // namespace pjref
