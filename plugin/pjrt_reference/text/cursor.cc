#include "cursor.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "../base/refusal.h"

namespace pjref {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool InWord(char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '$' || c == '.'; }
int HexValue(char c) {
  return IsDigit(c) ? c - '0' : (std::tolower(static_cast<unsigned char>(c)) - 'a' + 10);
}

}  // namespace

void Cursor::SkipBlanks() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      const size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

bool Cursor::AtEnd() {
  SkipBlanks();
  return at_ >= text_.size();
}

char Cursor::Peek() {
  SkipBlanks();
  return Raw();
}

bool Cursor::Sees(std::string_view token) {
  SkipBlanks();
  if (text_.substr(at_, token.size()) != token) return false;
  const size_t next = at_ + token.size();
  return !InWord(token.back()) || next >= text_.size() || !InWord(text_[next]);
}

bool Cursor::TryEat(std::string_view token) {
  if (!Sees(token)) return false;
  at_ += token.size();
  return true;
}

void Cursor::Eat(std::string_view token) {
  if (!TryEat(token)) Fail("expected '" + std::string(token) + "'");
}

std::string Cursor::TryWord() {
  SkipBlanks();
  if (!IsLetter(Raw()) && Raw() != '_') return {};
  const size_t start = at_;
  while (InWord(Raw())) ++at_;
  return std::string(text_.substr(start, at_ - start));
}

std::string Cursor::Word(const char* what) {
  std::string word = TryWord();
  if (word.empty()) Fail("expected " + std::string(what));
  return word;
}

std::string Cursor::Suffix() {
  const size_t start = at_;
  while (InWord(Raw()) || (Raw() == '-' && text_.substr(at_, 2) != "->")) ++at_;
  if (at_ == start) Fail("expected a name");
  return std::string(text_.substr(start, at_ - start));
}

std::string Cursor::Symbol() {
  Eat("@");
  return Raw() == '"' ? String() : Suffix();
}

std::string Cursor::String() {
  Eat("\"");
  std::string value;
  while (Raw() != '"') {
    if (at_ >= text_.size() || Raw() == '\n') Fail("expected '\"' in string literal");
    if (Raw() != '\\') {
      value += text_[at_++];
      continue;
    }
    ++at_;
    const char c = Raw();
    const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (IsHex(c) && IsHex(second)) {
      value += static_cast<char>(16 * HexValue(c) + HexValue(second));
      at_ += 2;
    } else if (c == 'n' || c == 't' || c == '\\' || c == '"') {
      value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      ++at_;
    } else {
      Fail("unknown escape in string literal");
    }
  }
  ++at_;
  return value;
}

int64_t Cursor::Integer() {
  const std::string spelled = TryNumber();
  if (spelled.empty() || spelled.find('.') != std::string::npos) Fail("expected integer value");
  errno = 0;
  char* end = nullptr;
  const bool hex = spelled.find('x') != std::string::npos;
  int64_t value = std::strtoll(spelled.c_str(), &end, hex ? 16 : 10);
  if (errno == ERANGE && spelled[0] != '-') {  // Of ui64, the upper half wraps.
    errno = 0;
    value = static_cast<int64_t>(std::strtoull(spelled.c_str(), &end, hex ? 16 : 10));
  }
  if (errno != 0 || *end) Fail("integer value is out of range");
  return value;
}

std::string Cursor::TryNumber() {
  SkipBlanks();
  const size_t start = at_;
  if (Raw() == '-' || Raw() == '+') ++at_;
  if (!IsDigit(Raw())) {
    at_ = start;
    return {};
  }
  if (Raw() == '0' && at_ + 2 < text_.size() && text_[at_ + 1] == 'x' && IsHex(text_[at_ + 2])) {
    at_ += 2;
    while (IsHex(Raw())) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  while (IsDigit(Raw())) ++at_;
  if (Raw() == '.') {
    ++at_;
    while (IsDigit(Raw())) ++at_;
    size_t exponent = at_ + 1;
    if ((Raw() == 'e' || Raw() == 'E') && exponent < text_.size()) {
      if (text_[exponent] == '-' || text_[exponent] == '+') ++exponent;
      if (exponent < text_.size() && IsDigit(text_[exponent])) at_ = exponent;
      while (IsDigit(Raw())) ++at_;
    }
  }
  return std::string(text_.substr(start, at_ - start));
}

std::string_view Cursor::Balanced(char open, char close) {
  const size_t start = at_;
  const Place from = place();
  int depth = 1;
  while (true) {
    if (at_ >= text_.size()) FailAt(from, std::string("expected '") + close + "'");
    if (Raw() == '"') {
      String();
      continue;
    }
    // The arrow of a type or an affine map closes nothing.
    if (text_.substr(at_, 2) == "->") {
      at_ += 2;
      continue;
    }
    const char c = text_[at_++];
    if (c == open) ++depth;
    if (c == close && --depth == 0) return text_.substr(start, at_ - 1 - start);
  }
}

void Cursor::SkipLocation() {
  if (!TryEat("loc")) return;
  Eat("(");
  Balanced('(', ')');
}

Place Cursor::place() {
  SkipBlanks();
  if (at_ < counted_) {
    counted_ = line_start_ = 0;
    line_ = 1;
  }
  for (size_t i = counted_; i < at_ && i < text_.size(); ++i) {
    if (text_[i] != '\n') continue;
    ++line_;
    line_start_ = i + 1;
  }
  counted_ = at_;
  return {line_, static_cast<int>(at_ - line_start_) + 1};
}

void Cursor::Fail(const std::string& message) { FailAt(place(), message); }

void Cursor::FailAt(Place place, const std::string& message) {
  throw Refusal(Code::kUnknown, At(place, message));
}

}  // namespace pjref
