// Types and attributes.
#include <cstdlib>
#include <cstring>

#include "../base/refusal.h"
#include "floats.h"
#include "parser.h"

namespace pjref {
namespace {

// The value of a float whose bits are spelled in hexadecimal.
double FloatOfBits(const std::string& spelled, Element element) {
  const uint64_t bits = std::strtoull(spelled.c_str(), nullptr, 16);
  if (element == Element::kF64) {
    double value;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  if (element == Element::kF16) return ToFloat(Half{static_cast<uint16_t>(bits)});
  if (element == Element::kBF16) return ToFloat(BFloat{static_cast<uint16_t>(bits)});
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace

Element AttributeParser::ParseElement() {
  if (cursor_.TryEat("complex")) {
    cursor_.Eat("<");
    const Element part = ElementNamed(cursor_.Word("a type"));
    cursor_.Eat(">");
    if (part == Element::kF32) return Element::kC64;
    if (part == Element::kF64) return Element::kC128;
    cursor_.Fail("invalid element type for complex");
  }
  const Place place = cursor_.place();
  const std::string word = cursor_.Word("a type");
  Element element = ElementNamed(word);
  if (word == "index") element = Element::kI64;
  if (word.size() > 1 && word[0] == 's' && word[1] == 'i') element = ElementNamed(word.substr(1));
  if (element == Element::kInvalid) {
    throw Refusal(Code::kUnimplemented,
                  At(place, "elements of type '" + word + "' are not supported"));
  }
  return element;
}

Type AttributeParser::ParseTensor() {
  cursor_.Eat("<");
  Type type;
  const Place place = cursor_.place();
  bool dynamic = false;
  while (cursor_.Peek() == '?' || (cursor_.Peek() >= '0' && cursor_.Peek() <= '9')) {
    if (cursor_.TryEat("?")) {
      dynamic = true;
      type.dims.push_back(0);
    } else {
      int64_t dim = 0;
      while (cursor_.Raw() >= '0' && cursor_.Raw() <= '9') {
        if (dim > (int64_t{1} << 58)) Cursor::FailAt(place, "invalid dimension: too large");
        dim = 10 * dim + (cursor_.Raw() - '0');
        cursor_.Skip();
      }
      type.dims.push_back(dim);
    }
    if (cursor_.Raw() != 'x') cursor_.Fail("expected 'x' in dimension list");
    cursor_.Skip();
  }
  if (cursor_.Peek() == '*')
    throw Refusal(Code::kInvalidArgument, At(place, "unranked tensors are not supported"));
  type.element = ParseElement();
  const bool bounded = cursor_.TryEat(",");
  if (bounded) {
    if (!dynamic) {
      ParseAttribute();
    } else {
      throw Refusal(Code::kUnimplemented, At(place, "bounded dynamic shapes are not supported"));
    }
  }
  cursor_.Eat(">");
  if (dynamic) {
    throw Refusal(Code::kInvalidArgument,
                  At(place, "Unbounded dynamism is disabled: every dimension must be known"));
  }
  if (!FitsMemory(type))
    Cursor::FailAt(place, "the shape has too many elements: " + ToString(type));
  return type;
}

Type AttributeParser::ParseType() {
  if (cursor_.TryEat("tensor")) return ParseTensor();
  if (cursor_.Peek() == '!') {
    const Place place = cursor_.place();
    cursor_.Skip();
    const std::string name = cursor_.Suffix();
    if (name == "stablehlo.token") return {Element::kToken, {}};
    const auto alias = type_aliases_.find(name);
    if (alias != type_aliases_.end()) return alias->second;
    throw Refusal(Code::kUnimplemented, At(place, "type '!" + name + "' is not supported"));
  }
  const Place place = cursor_.place();
  if (cursor_.Sees("tuple") || cursor_.Sees("vector") || cursor_.Sees("memref")) {
    throw Refusal(Code::kUnimplemented,
                  At(place, "type '" + cursor_.TryWord() + "' is not supported"));
  }
  return {ParseElement(), {}};
}

std::vector<Type> AttributeParser::ParseTypes() {
  std::vector<Type> types = {ParseType()};
  while (cursor_.TryEat(",")) types.push_back(ParseType());
  return types;
}

std::vector<Type> AttributeParser::ParseTypeOrTypes() {
  if (!cursor_.TryEat("(")) return {ParseType()};
  std::vector<Type> types;
  if (cursor_.TryEat(")")) return types;
  do {
    types.push_back(ParseType());
    // Attributes of a result.
    if (cursor_.Peek() == '{') ParseDictionary();
  } while (cursor_.TryEat(","));
  cursor_.Eat(")");
  return types;
}

Attribute AttributeParser::ParseNumber() {
  const Place place = cursor_.place();
  const std::string spelled = cursor_.TryNumber();
  Element element = Element::kInvalid;
  if (cursor_.Sees(":")) {
    cursor_.Eat(":");
    element = ParseType().element;
  }
  Attribute made;
  const bool hex = spelled.find('x') != std::string::npos;
  if (IsFloat(element) || (spelled.find('.') != std::string::npos && !hex)) {
    if (!hex && spelled.find('.') == std::string::npos)
      Cursor::FailAt(place, "expected a floating-point literal");
    made.kind = Attribute::Kind::kFloat;
    made.number = hex ? FloatOfBits(spelled, element) : DoubleOfText(spelled);
    return made;
  }
  Cursor integers(spelled);
  made.kind = Attribute::Kind::kInteger;
  made.integer = integers.Integer();
  return made;
}

Attribute AttributeParser::ParseArray() {
  cursor_.Eat("<");
  Attribute made;
  made.kind = Attribute::Kind::kArray;
  ParseElement();
  if (cursor_.TryEat(":")) {
    do {
      made.items.push_back(cursor_.TryEat("true")    ? Attribute::Integer(1)
                           : cursor_.TryEat("false") ? Attribute::Integer(0)
                                                     : Attribute::Integer(cursor_.Integer()));
    } while (cursor_.TryEat(","));
  }
  cursor_.Eat(">");
  return made;
}

// "#stablehlo<comparison_direction LT>" is a word, "#stablehlo.gather<offset_dims = [2]>" a
// dictionary, "#name" an alias.
Attribute AttributeParser::ParseHash() {
  const Place place = cursor_.place();
  cursor_.Skip();
  const std::string name = cursor_.Suffix();
  if (!cursor_.Sees("<")) {
    const auto alias = attribute_aliases_.find(name);
    if (alias == attribute_aliases_.end())
      Cursor::FailAt(place, "undefined symbol alias id '" + name + "'");
    return alias->second;
  }
  cursor_.Eat("<");
  if (name == "stablehlo.conv") {
    if (cursor_.TryEat("raw")) {
      Attribute raw;
      ParseEntries('>', &raw);
      return raw;
    }
    Attribute dims = ParseConvolutionDimensions();
    cursor_.Eat(">");
    return dims;
  }
  if (name == "stablehlo" || name == "chlo") {
    const std::string kind = cursor_.Word("the kind of an attribute");
    if (cursor_.TryEat(">")) return Attribute::Word(kind);
    if (cursor_.Sees("<")) {  // #stablehlo<conv<...>>, an older spelling
      cursor_.Balanced('<', '>');
      return Attribute::Word(kind);
    }
    Attribute word = Attribute::Word(cursor_.Word("a case of an enumeration"));
    cursor_.Eat(">");
    return word;
  }
  Attribute made;
  made.kind = Attribute::Kind::kDictionary;
  if (name == "stablehlo.bounds" || name.compare(0, 10, "stablehlo.") != 0) {
    cursor_.Balanced('<', '>');
    return made;
  }
  ParseEntries('>', &made);
  return made;
}

void AttributeParser::ParseEntries(char close, Attribute* dictionary) {
  dictionary->kind = Attribute::Kind::kDictionary;
  const std::string end(1, close);
  if (cursor_.TryEat(end)) return;
  do {
    if (cursor_.Sees(end)) break;  // #stablehlo.dot<...,> of older printers
    const std::string key =
        cursor_.Peek() == '"' ? cursor_.String() : cursor_.Word("attribute name");
    Attribute value;
    if (cursor_.TryEat("=")) value = ParseAttribute();
    dictionary->Set(key, std::move(value));
  } while (cursor_.TryEat(","));
  cursor_.Eat(end);
}

Attribute AttributeParser::ParseDictionary() {
  cursor_.Eat("{");
  Attribute made;
  ParseEntries('}', &made);
  return made;
}

Dims AttributeParser::ParseIntegers() {
  cursor_.Eat("[");
  Dims values;
  if (cursor_.TryEat("]")) return values;
  do {
    values.push_back(cursor_.Integer());
  } while (cursor_.TryEat(","));
  cursor_.Eat("]");
  return values;
}

Attribute AttributeParser::ParseAttribute() {
  struct Depth {
    int& depth;
    ~Depth() { --depth; }
  } guard{depth_};
  if (++depth_ > kMostNesting) cursor_.Fail("attributes are nested too deeply");
  Attribute made;
  const char next = cursor_.Peek();
  if (next == '"') {
    made.kind = Attribute::Kind::kString;
    made.text = cursor_.String();
  } else if (next == '@') {
    made.kind = Attribute::Kind::kSymbol;
    made.text = cursor_.Symbol();
    while (cursor_.TryEat("::")) made.text += "::" + cursor_.Symbol();
  } else if (next == '[') {
    cursor_.Eat("[");
    made.kind = Attribute::Kind::kArray;
    if (cursor_.TryEat("]")) return made;
    do {
      made.items.push_back(ParseAttribute());
    } while (cursor_.TryEat(","));
    cursor_.Eat("]");
  } else if (next == '{') {
    made = ParseDictionary();
  } else if (next == '#') {
    made = ParseHash();
  } else if (next == '-' || (next >= '0' && next <= '9')) {
    made = ParseNumber();
  } else if (next == '!' || next == '(') {
    made.kind = Attribute::Kind::kType;
    made.type = {};
    ParseTypeOrTypes();
    if (cursor_.TryEat("->")) ParseTypeOrTypes();
  } else if (cursor_.Sees("dense")) {
    made = ParseDense();
  } else if (cursor_.TryEat("array")) {
    made = ParseArray();
  } else if (cursor_.TryEat("true")) {
    made = Attribute::Integer(1);
  } else if (cursor_.TryEat("false")) {
    made = Attribute::Integer(0);
  } else if (cursor_.TryEat("unit")) {
    return made;
  } else if (cursor_.Sees("tensor") || cursor_.Sees("complex")) {
    made.kind = Attribute::Kind::kType;
    made.type = ParseType();
  } else if (cursor_.TryEat("affine_map") || cursor_.TryEat("dense_resource")) {
    cursor_.Eat("<");
    cursor_.Balanced('<', '>');
    if (cursor_.TryEat(":")) ParseType();
  } else if (cursor_.Sees("loc")) {
    cursor_.SkipLocation();
  } else {
    made = Attribute::Word(cursor_.Word("attribute value"));
    if (ElementNamed(made.text) != Element::kInvalid) {
      made.kind = Attribute::Kind::kType;
      made.type = {ElementNamed(made.text), {}};
    }
  }
  if (next == '"' && cursor_.TryEat(":")) ParseType();
  return made;
}

void AttributeParser::ParseAlias() {
  const bool is_type = cursor_.Peek() == '!';
  cursor_.Skip();
  const std::string name = cursor_.Suffix();
  cursor_.Eat("=");
  if (is_type) {
    type_aliases_[name] = ParseType();
  } else {
    attribute_aliases_[name] = ParseAttribute();
  }
}

std::vector<int64_t> AttributeParser::ParseConvolutionSide(char first, char second,
                                                           std::pair<int64_t, int64_t>* named) {
  cursor_.Eat("[");
  *named = {-1, -1};
  std::map<int64_t, int64_t> spatial;
  int64_t at = 0;
  do {
    if (cursor_.TryEat(std::string(1, first))) {
      named->first = at;
    } else if (cursor_.TryEat(std::string(1, second))) {
      named->second = at;
    } else if (!cursor_.TryEat("?")) {
      if (!spatial.emplace(cursor_.Integer(), at).second)
        cursor_.Fail("a spatial dimension stands twice");
    }
    ++at;
  } while (cursor_.TryEat(","));
  cursor_.Eat("]");
  if (named->first < 0 || named->second < 0) {
    cursor_.Fail(std::string("expected dimensions '") + first + "' and '" + second + "'");
  }
  std::vector<int64_t> positions;
  for (const auto& [dimension, position] : spatial) {
    if (dimension != static_cast<int64_t>(positions.size()))
      cursor_.Fail("expected spatial dimensions from 0 on");
    positions.push_back(position);
  }
  return positions;
}

Attribute AttributeParser::ParseConvolutionDimensions() {
  std::pair<int64_t, int64_t> input, kernel, output;
  const Dims in = ParseConvolutionSide('b', 'f', &input);
  cursor_.Eat("x");
  const Dims window = ParseConvolutionSide('i', 'o', &kernel);
  cursor_.Eat("->");
  const Dims out = ParseConvolutionSide('b', 'f', &output);
  Attribute made;
  made.Set("input_batch_dimension", Attribute::Integer(input.first));
  made.Set("input_feature_dimension", Attribute::Integer(input.second));
  made.Set("input_spatial_dimensions", Attribute::Integers(in));
  made.Set("kernel_input_feature_dimension", Attribute::Integer(kernel.first));
  made.Set("kernel_output_feature_dimension", Attribute::Integer(kernel.second));
  made.Set("kernel_spatial_dimensions", Attribute::Integers(window));
  made.Set("output_batch_dimension", Attribute::Integer(output.first));
  made.Set("output_feature_dimension", Attribute::Integer(output.second));
  made.Set("output_spatial_dimensions", Attribute::Integers(out));
  return made;
}

}  // namespace pjref
