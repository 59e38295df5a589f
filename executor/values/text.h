// Makes text for people: colours, columns, numbers with units. Widths are columns of a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace tenon::cli {

// Colours text by ANSI codes, or leaves text alone where colours are not wanted.
class Style {
 public:
  explicit Style(bool colour = false, size_t width = 0) : colour_(colour), width_(width) {}
  // The style for a file descriptor. A terminal has colours, unless NO_COLOR is set and not empty.
  // It also has its width, which is 0 where the system does not tell. Any other file has neither.
  static Style For(int fd);

  // The columns of a line; 0: no limit.
  size_t width() const { return width_; }

  std::string Bold(std::string_view s) const { return Wrap("1", s); }
  std::string Dim(std::string_view s) const { return Wrap("2", s); }
  std::string Red(std::string_view s) const { return Wrap("31", s); }
  std::string Green(std::string_view s) const { return Wrap("32", s); }
  std::string Yellow(std::string_view s) const { return Wrap("33", s); }
  std::string Cyan(std::string_view s) const { return Wrap("36", s); }

 private:
  std::string Wrap(std::string_view code, std::string_view s) const;
  bool colour_;
  size_t width_;
};

// A table whose columns are padded to their widest cell. Cells may hold UTF-8. A cell may have a
// colour as a whole; one that is coloured in part is broken at wrong places where it takes several
// lines. Where lines of the style are too short, the widest columns are made narrower and their
// cells take several lines. Words are split only where narrower columns of whole words do not
// suffice. A right-aligned column is never made narrower, and no other one below 10, so that a line
// may still be too long.
class Table {
 public:
  // One name for each column. A name that starts with '>' makes its column right-aligned; the '>'
  // is not shown.
  explicit Table(std::vector<std::string> header);
  // Adds a row. Missing cells are empty; cells beyond the header are dropped.
  void Row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Returns the line of column names, also if there are no rows, and the rows. `indent` stands
  // before each line, and a line end behind it. Trailing blanks are removed. Empty for a table
  // without columns.
  std::string Text(const Style& style, std::string_view indent = "") const;

 private:
  // The width of the longest word of each column. A right-aligned column holds numbers, which are
  // not split: its entry is its whole width.
  std::vector<size_t> LongestWords(const std::vector<size_t>& widths) const;

  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// The columns that the text takes on a terminal, one for each code point. Colour codes take none.
size_t DisplayWidth(std::string_view s);

// Splits the text into lines of at most `width` columns, at blanks, and within a word only if the
// word is longer than a line or, behind blanks that the text begins with, than the rest of the
// first line. Text that fits is one line, empty text too. A `width` of 0 counts as 1. A colour
// around the whole text is put around each line. Colour codes and line ends inside of the text are
// not known: in a text that does not fit, each of their bytes takes a column.
std::vector<std::string> WrapText(std::string_view text, size_t width);

// A word of a command line as a POSIX shell reads it. ShellQuoted puts every word into quotes,
// ShellWord only a word that needs them.
std::string ShellQuoted(std::string_view word);
std::string ShellWord(std::string_view word);

// The fewest digits that read back as the same number: "0.1", "1e-05", "inf", "nan".
std::string ShortestText(float value);
std::string ShortestText(double value);

// The first six items: "a, b, c, d, e, f and 4 more".
std::string Listed(absl::Span<const std::string> items);
// "1 node", "2 nodes", "3 copies", "4 mismatches". A final y becomes "ies", ch becomes "ches", and
// any other noun gets an s.
std::string Plural(int64_t n, std::string_view noun);
std::string Bytes(int64_t bytes);  // in powers of 1000: "1.50 kB", "103 MB"
std::string Count(double n);       // "7.75 G", "512"
std::string Millis(double ms);     // "0.42 ms", "12.3 ms", "1.20 s"

}  // namespace tenon::cli
