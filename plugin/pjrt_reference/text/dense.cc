// dense<...>: numbers as they are spelled, and bytes in hexadecimal.
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "../base/refusal.h"
#include "floats.h"
#include "parser.h"

namespace pjref {
namespace {

uint64_t BitsOfHex(const std::string& spelled, size_t bytes, Place place) {
  errno = 0;
  const uint64_t bits = std::strtoull(spelled.c_str(), nullptr, 16);
  if (errno != 0 || (bytes < 8 && bits >> (8 * bytes) != 0)) {
    Cursor::FailAt(place, "hexadecimal float constant out of range for type");
  }
  return bits;
}

void PutFloat(const std::string& spelled, Element element, Place place, char* out) {
  if (spelled.find('x') != std::string::npos) {
    const uint64_t bits = BitsOfHex(spelled, ByteSize(element), place);
    std::memcpy(out, &bits, ByteSize(element));
    return;
  }
  if (spelled.find('.') == std::string::npos) {
    Cursor::FailAt(place, "expected floating-point elements, but parsed integer");
  }
  const double value = DoubleOfText(spelled);
  if (element == Element::kF64) {
    std::memcpy(out, &value, 8);
  } else if (element == Element::kF32) {
    const float single = FloatOfText(spelled);
    std::memcpy(out, &single, 4);
  } else {
    const uint16_t bits = element == Element::kF16 ? ToHalf(value).bits : ToBFloat(value).bits;
    std::memcpy(out, &bits, 2);
  }
}

void PutInteger(const std::string& spelled, Element element, Place place, char* out) {
  if (spelled == "true" || spelled == "false") {
    if (element != Element::kI1)
      Cursor::FailAt(place, "expected integer elements, but parsed a boolean");
    *out = spelled == "true";
    return;
  }
  if (spelled.find('.') != std::string::npos) {
    Cursor::FailAt(place, "expected integer elements, but parsed floating-point");
  }
  const bool negative = spelled[0] == '-';
  const int base = spelled.find('x') != std::string::npos ? 16 : 10;
  errno = 0;
  const char* const digits = spelled.c_str() + (negative || spelled[0] == '+');
  char* end = nullptr;
  uint64_t value = std::strtoull(digits, &end, base);
  if (std::isdigit(static_cast<unsigned char>(*digits)) == 0 || *end != '\0')
    Cursor::FailAt(place, "expected an integer, but parsed '" + spelled + "'");
  const int width = BitWidth(element);
  const uint64_t most = IsSigned(element) ? (uint64_t{1} << (width - 1)) - (negative ? 0 : 1)
                                          : ~uint64_t{0} >> (64 - width);
  // The text of signed and of signless integers may name all bits.
  const uint64_t all = ~uint64_t{0} >> (64 - width);
  if (errno != 0 || value > (negative || base == 10 ? most : all) ||
      (negative && !IsSigned(element) && value)) {
    Cursor::FailAt(place, "integer constant out of range for attribute");
  }
  if (negative) value = ~value + 1;
  std::memcpy(out, &value, ByteSize(element));
}

void PutElement(const std::string& spelled, Element element, Place place, char* out) {
  if (spelled.empty()) Cursor::FailAt(place, "expected element literal");
  if (!IsFloat(element)) return PutInteger(spelled, element, place, out);
  if (spelled == "true" || spelled == "false") {
    Cursor::FailAt(place, "expected floating-point elements, but parsed a boolean");
  }
  PutFloat(spelled, element, place, out);
}

void RepeatFirst(char* data, size_t size, size_t bytes) {
  for (size_t at = size; at < bytes; at += size) std::memcpy(data + at, data, size);
}

Array FromBytes(const DenseText& text, const Type& type) {
  const size_t size = ByteSize(type.element);
  if (text.bytes.size() != type.bytes() && text.bytes.size() != size) {
    Cursor::FailAt(text.place,
                   "elements hex data size is invalid for provided type: " + ToString(type));
  }
  Array made(type);
  if (made.count() == 0) return made;
  std::memcpy(made.data(), text.bytes.data(), text.bytes.size());
  if (text.bytes.size() != type.bytes()) RepeatFirst(made.data(), size, made.bytes());
  if (type.element == Element::kI1) {
    for (int64_t i = 0; i < made.count(); ++i) made.data()[i] = made.data()[i] != 0;
  }
  return made;
}

}  // namespace

Array MakeDense(const DenseText& text, const Type& type) {
  if (!IsNumber(type.element)) Cursor::FailAt(text.place, "expected a tensor type for elements");
  if (text.is_hex) return FromBytes(text, type);
  const size_t parts = IsComplex(type.element) ? 2 : 1;
  const bool splat = text.dims.empty() && text.elements.size() == parts;
  if (!splat && text.elements.empty() && type.count() == 0) return Array(type);
  if (!splat && (text.dims != type.dims ||
                 text.elements.size() != parts * static_cast<size_t>(type.count()))) {
    Cursor::FailAt(text.place, "inferred shape of elements literal (" + ToString(text.dims) +
                                   ") does not match type (" + ToString(type.dims) + ")");
  }
  const Element part = RealPart(type.element);
  const size_t size = ByteSize(part);
  Array made(type);
  if (made.count() == 0) return made;
  for (size_t i = 0; i < text.elements.size(); ++i)
    PutElement(text.elements[i], part, text.place, made.data() + i * size);
  if (splat) RepeatFirst(made.data(), parts * size, made.bytes());
  return made;
}

Attribute AttributeParser::ParseDense() {
  DenseText text = ParseDenseText();
  cursor_.Eat(":");
  const Type type = ParseType();
  Attribute made;
  made.kind = Attribute::Kind::kDense;
  made.dense = MakeDense(text, type);
  return made;
}

DenseText AttributeParser::ParseDenseText() {
  cursor_.Eat("dense");
  cursor_.Eat("<");
  DenseText text;
  text.place = cursor_.place();
  if (cursor_.Peek() == '"') {
    const std::string spelled = cursor_.String();
    if (spelled.size() < 2 || spelled.compare(0, 2, "0x") != 0 || spelled.size() % 2 != 0) {
      Cursor::FailAt(text.place, "elements hex string should start with '0x' and have whole bytes");
    }
    text.is_hex = true;
    text.bytes.reserve(spelled.size() / 2);
    const auto value = [&](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      const int letter = c | 0x20;
      if (letter < 'a' || letter > 'f')
        Cursor::FailAt(text.place, "elements hex string only contains hex digits");
      return letter - 'a' + 10;
    };
    for (size_t i = 2; i < spelled.size(); i += 2) {
      text.bytes += static_cast<char>(16 * value(spelled[i]) + value(spelled[i + 1]));
    }
  } else if (cursor_.Peek() != '>') {
    ParseDenseElements(0, &text, &text.dims);
  }
  cursor_.Eat(">");
  return text;
}

// One element, or a list of lists. `dims` are the axes from `depth` on, set by the first list at
// each depth.
void AttributeParser::ParseDenseElements(size_t depth, DenseText* text, Dims* dims) {
  if (depth > kMostNesting) cursor_.Fail("the literal is nested too deeply");
  if (cursor_.TryEat("[")) {
    const bool first = dims->size() == depth && text->elements.empty();
    if (first) dims->push_back(0);
    if (dims->size() <= depth)
      cursor_.Fail("tensor literal is invalid; ranks are not consistent between elements");
    int64_t count = 0;
    if (cursor_.Peek() != ']') {
      do {
        ParseDenseElements(depth + 1, text, dims);
        ++count;
      } while (cursor_.TryEat(","));
    }
    cursor_.Eat("]");
    if (!first && (*dims)[depth] != count) {
      cursor_.Fail("tensor literal is invalid; ranks are not consistent between elements");
    }
    (*dims)[depth] = count;
    return;
  }
  if (dims->size() != depth)
    cursor_.Fail("tensor literal is invalid; ranks are not consistent between elements");
  const bool pair = cursor_.TryEat("(");
  for (int part = 0; part < (pair ? 2 : 1); ++part) {
    if (part == 1) cursor_.Eat(",");
    std::string spelled = cursor_.TryNumber();
    if (spelled.empty()) spelled = cursor_.TryWord();
    if (spelled.empty()) cursor_.Fail("expected element literal of primitive type");
    text->elements.push_back(std::move(spelled));
  }
  if (pair) cursor_.Eat(")");
}

}  // namespace pjref
