// A position in the text, with the tokens that several grammars share. Functions pass over blanks
// and comments first, except Raw, Skip, Suffix and Balanced. Eat, Word, Suffix, Symbol, String,
// Integer, Balanced and SkipLocation throw Refusal(kUnknown), with the place, if the text does not
// fit.
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
  // The next character that is no blank, 0 at the end. Does not take it.
  char Peek();
  // The text as it stands before any blank, for grammars in which blanks matter.
  char Raw() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Skip() { ++at_; }  // not at the end of the text
  // Takes `token`, which must not be empty, if it is next. A word is taken only as a whole. Sees
  // takes nothing, and Eat refuses any other text.
  bool TryEat(std::string_view token);
  bool Sees(std::string_view token);
  void Eat(std::string_view token);

  // Letters, digits, '_', '$' and '.', from a letter or '_' on; empty if there is none.
  std::string TryWord();
  // The same, but never empty: refuses with "expected `what`".
  std::string Word(const char* what);
  // What follows '%', '^', '#' or '!': letters, digits, '$', '.', '_' and '-', but not "->".
  std::string Suffix();
  // '@name' or '@"any name"', without '@'.
  std::string Symbol();
  // The text between quotes, with escapes replaced.
  std::string String();
  // Decimal or hexadecimal. Values from 2^63 to 2^64 - 1 wrap.
  int64_t Integer();
  // A number as it is spelled, with its sign: 7, -1.5e+3, 0x7F800000. An exponent needs a point.
  // Empty if there is none.
  std::string TryNumber();
  // Everything up to the bracket that closes the one before the cursor. Takes that bracket, but
  // does not return it. Brackets within strings do not count, nor does the '>' of "->";
  // those in comments do.
  std::string_view Balanced(char open, char close);
  // Takes "loc(...)" if it is next.
  void SkipLocation();

  // The place of the next character that is no blank.
  Place place();
  // Return(at()) goes back to an earlier position.
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

}  // namespace pjref
