// The parser's parts. Private to plugin/pjrt_reference/text/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cursor.h"
#include "module.h"

namespace pjref {

// A literal whose type is not known yet: how its elements are spelled, and how many stand along
// each axis.
struct DenseText {
  std::vector<std::string> elements;  // of a complex number both parts, one after the other
  Dims dims;
  bool is_hex = false;  // `bytes` instead of elements
  std::string bytes;
  Place place;
};

// Throws Refusal(kUnknown), with the place of `text`, where spelling and type do not fit. One
// element fills the whole array.
Array MakeDense(const DenseText& text, const Type& type);

// Types and attributes: what needs no values. `cursor` must outlive the parser. Functions take the
// text that they parse, and throw what ParseText throws.
class AttributeParser {
 public:
  explicit AttributeParser(Cursor* cursor) : cursor_(*cursor) {}

  Type ParseType();
  // "T" or "(T, U)".
  std::vector<Type> ParseTypeOrTypes();
  // "T, U", at least one.
  std::vector<Type> ParseTypes();
  Attribute ParseAttribute();
  // "{a = 1, b}" with the brace next.
  Attribute ParseDictionary();
  // "a = 1, b" up to `close`, which is taken.
  void ParseEntries(char close, Attribute* dictionary);
  // "[1, 2]"
  Dims ParseIntegers();
  // "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" into the entries of a dictionary.
  Attribute ParseConvolutionDimensions();
  Attribute ParseDense();
  // "#name = ..." and "!name = ..." at the top of the text.
  void ParseAlias();

 private:
  Type ParseTensor();
  Element ParseElement();
  DenseText ParseDenseText();
  void ParseDenseElements(size_t depth, DenseText* text, Dims* dims);
  Attribute ParseNumber();
  Attribute ParseArray();
  Attribute ParseHash();
  std::vector<int64_t> ParseConvolutionSide(char first, char second,
                                            std::pair<int64_t, int64_t>* named);

  Cursor& cursor_;
  int depth_ = 0;
  std::map<std::string, Attribute> attribute_aliases_;
  std::map<std::string, Type> type_aliases_;
};

// Functions, regions and ops. The text must outlive the parser. Parse is called once.
class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text), attributes_(&cursor_) {}
  std::unique_ptr<Module> Parse();

 private:
  struct Use {
    std::string name;
    Place place;
  };
  struct ResultName {
    std::string name;
    int64_t count;
    Place place;
  };
  struct TypeList {
    bool is_function =
        false;  // "(T, U) -> V"; else `ins` are as listed and `outs` what follows an arrow
    bool has_arrow = false;
    std::vector<Type> ins, outs;
    Place place;
  };
  using Form = void (Parser::*)(Op*, std::vector<Use>*, TypeList*);

  void ParseModuleBody(bool braces);
  void ParseFunction();
  void ParseFunctionAttributes();
  // A block with its arguments declared already, up to its '}'.
  void ParseBlock(Region* region);
  // "{ ^bb0(...): ... }", a scope of its own.
  Region ParseRegion();
  void ParseBlockArguments(Region* region);
  Op ParseOp();
  void ParseGeneric(Op* op, std::vector<Use>* uses, TypeList* types);
  void ParsePlain(Op* op, std::vector<Use>* uses, TypeList* types);
  void ParsePlainItem(Op* op, std::vector<Use>* uses, int* words);
  void ParseConstant(Op* op, std::vector<Use>* uses, TypeList* types);
  void ParseReduce(Op* op, std::vector<Use>* uses, TypeList* types);
  void ParseReducer(Op* op, size_t count);
  void ParseWhile(Op* op, std::vector<Use>* uses, TypeList* types);
  void ParseConvolution(Op* op, std::vector<Use>* uses, TypeList* types);
  void ParseWindow(Op* op);
  void ParseCustomCall(Op* op, std::vector<Use>* uses, TypeList* types);
  // A region of one op, which `name` names.
  Region OneOpRegion(const std::string& name, const std::vector<Type>& types, Place place);

  TypeList ParseTypeList();
  void ParseOptionalAttributes(Op* op);
  Use ParseUse();
  void ParseUses(char close, std::vector<Use>* uses);
  void Resolve(Op* op, const std::vector<Use>& uses);
  // Types of operands and results from what the text says.
  void SetTypes(Op* op, const std::vector<Use>& uses, const TypeList& types);
  void CheckOperands(const Op& op, const std::vector<Use>& uses, const std::vector<Type>& said);
  int Define(const std::string& name, const Type& type, Place place);
  int NewValue(const Type& type);
  void OpenScope();
  void CloseScope();

  Cursor cursor_;
  AttributeParser attributes_;
  std::unique_ptr<Module> module_;
  Function* function_ = nullptr;
  int depth_ = 0;
  std::unordered_map<std::string, std::vector<int>> values_;
  std::vector<std::vector<std::string>> scopes_;
};

// The generic form's name of an attribute that the pretty form of `op` spells `key`.
std::string GenericName(const std::string& op, const std::string& key);
// The name of the word that stands alone as the `index`-th of an op, as LT in compare; empty if
// there is none.
std::string WordName(const std::string& op, int index);

}  // namespace pjref
