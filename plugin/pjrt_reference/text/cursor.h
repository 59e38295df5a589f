// A position in the text, with the tokens that several grammars share. What does not fit is refused
// where it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "module.h"

namespace pjref {

class Cursor {
 public:
  // The text must outlive the cursor.
  explicit Cursor(std::string_view text) : text_(text) {}

  // Whether nothing but blanks and comments is left.
  bool AtEnd();
  // The next character that is no blank, 0 at the end.
  char Peek();
  // The text as it stands before any blank, for grammars in which blanks matter.
  char Raw() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Skip() { ++at_; }
  // Takes `token` if it is next. A word is taken only as a whole.
  bool TryEat(std::string_view token);
  bool Sees(std::string_view token);
  void Eat(std::string_view token);

  // Letters, digits, '_', '$' and '.', from a letter or '_' on; empty if there is none.
  std::string TryWord();
  std::string Word(const char* what);
  // What follows '%', '^', '#' or '!': letters, digits, '$', '.', '_' and '-'.
  std::string Suffix();
  // '@name' or '@"any name"', without '@'.
  std::string Symbol();
  // Of the text between quotes, with what is escaped replaced.
  std::string String();
  int64_t Integer();
  // A number as it is spelled, with its sign: 7, -1.5e+3, 0x7F800000. Empty if there is none.
  std::string TryNumber();
  // Everything up to the bracket that closes the one before the cursor, which is taken too. Strings
  // count as one.
  std::string_view Balanced(char open, char close);
  void SkipLocation();

  Place place();
  size_t at() const { return at_; }
  void Return(size_t at) { at_ = at; }
  [[noreturn]] void Fail(const std::string& message);
  [[noreturn]] static void FailAt(Place place, const std::string& message);

 private:
  void SkipBlanks();

  std::string_view text_;
  size_t at_ = 0;
  // A place that was computed, from which the next is counted on.
  size_t counted_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
};

// Regions, lists and attributes may stand in each other so deep.
constexpr int kMostNesting = 200;

}  // namespace pjref
