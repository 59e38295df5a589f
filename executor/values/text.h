// Text for people: colours, columns, numbers with units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace tenon::cli {

// ANSI colours, or nothing where they are not wanted.
class Style {
 public:
  explicit Style(bool colour = false, size_t width = 0) : colour_(colour), width_(width) {}
  // Colours where `fd` is a terminal and NO_COLOR is not set, and a terminal's width.
  static Style For(int fd);

  // Columns that there are; 0: as many as one likes.
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

// Columns padded to their widest cell. Cells may hold colour codes and UTF-8. Where a style has not
// enough columns, the widest are made narrower, and the text of their cells goes on below; words
// are parted last.
class Table {
 public:
  // A column name that starts with '>' is right-aligned.
  explicit Table(std::vector<std::string> header);
  void Row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string Text(const Style& style, std::string_view indent = "") const;

 private:
  // By column; those of numbers, which are not made narrower, as wide as they are.
  std::vector<size_t> LongestWords(const std::vector<size_t>& widths) const;

  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that the text takes on a terminal.
size_t DisplayWidth(std::string_view s);

// The text in lines of at most so many columns, parted at blanks, and within words only where one
// is longer than a line. Colours that are around the whole text are around each line.
std::vector<std::string> WrapText(std::string_view text, size_t width);

// A word of a command line as a shell reads it: in quotes, or only where it needs them.
std::string ShellQuoted(std::string_view word);
std::string ShellWord(std::string_view word);

// "a, b, c and 4 more": as many as a line of text bears.
std::string Listed(absl::Span<const std::string> items);
std::string Plural(int64_t n,
                   std::string_view noun);  // "1 node", "2 nodes", "3 copies", "4 mismatches"
std::string Bytes(int64_t bytes);           // "1.5 kB", "102.7 MB"
std::string Count(double n);                // "7.75 G", "512"
std::string Millis(double ms);              // "0.42 ms", "12.3 ms", "1.20 s"

}  // namespace tenon::cli
