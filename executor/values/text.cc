#include "executor/values/text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace tenon::cli {

constexpr std::string_view kEndOfColour = "\033[0m";

Style Style::For(int fd) {
  if (isatty(fd) != 1) return Style();  // what goes to a file is read by programs
  const char* no_color = std::getenv("NO_COLOR");
  winsize size = {};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0;
  return Style(no_color == nullptr || *no_color == '\0', known ? size.ws_col : 0);
}

std::string Style::Wrap(std::string_view code, std::string_view s) const {
  return colour_ ? absl::StrCat("\033[", code, "m", s, kEndOfColour) : std::string(s);
}

size_t DisplayWidth(std::string_view s) {
  size_t width = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\033') {
      while (i < s.size() && s[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(s[i]) & 0xc0) != 0x80) {
      ++width;  // not a continuation byte
    }
  }
  return width;
}

namespace {

constexpr size_t kColumnGap = 2;   // between columns
constexpr size_t kNarrowest = 10;  // that a column is made

// Bytes at the front that are colour codes.
size_t ColourPrefix(std::string_view s) {
  size_t end = 0;
  while (end < s.size() && s[end] == '\033') end = std::min(s.find('m', end), s.size() - 1) + 1;
  return end;
}

// Bytes of the longest front that takes at most `width` columns; at least one character.
size_t FrontOfWidth(std::string_view s, size_t width) {
  size_t end = 0;
  for (size_t columns = 0; end < s.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(s[end]) & 0xc0) != 0x80;
    if (begins && columns++ == std::max<size_t>(width, 1)) break;
  }
  return end;
}

size_t LongestWord(std::string_view text) {
  size_t longest = 0;
  for (const std::string_view word : absl::StrSplit(text, ' '))
    longest = std::max(longest, DisplayWidth(word));
  return longest;
}

// Takes columns from the widest, one by one, so that widths that were equal stay so; down to
// `least` of each, until they need no more than `room`.
void Narrow(std::vector<size_t>& widths, const std::vector<size_t>& least, size_t room) {
  for (size_t sum = std::accumulate(widths.begin(), widths.end(), size_t{0}); sum > room; --sum) {
    size_t* widest = nullptr;
    for (size_t c = 0; c < widths.size(); ++c) {
      if (widths[c] > least[c] && (widest == nullptr || widths[c] > *widest)) widest = &widths[c];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

void AddRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
            const std::vector<bool>& right, std::string_view indent, std::string& text) {
  std::vector<std::vector<std::string>> lines;
  size_t height = 1;
  for (size_t c = 0; c < cells.size(); ++c) {
    lines.push_back(WrapText(cells[c], widths[c]));
    height = std::max(height, lines[c].size());
  }
  for (size_t i = 0; i < height; ++i) {
    std::string line(indent);
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = i < lines[c].size() ? lines[c][i] : "";
      const std::string pad(widths[c] - std::min(widths[c], DisplayWidth(cell)), ' ');
      absl::StrAppend(&line, c == 0 ? "" : std::string(kColumnGap, ' '), right[c] ? pad : "", cell,
                      right[c] ? "" : pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
}

template <typename T>
std::string ShortestNumber(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

}  // namespace

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  const size_t begin = ColourPrefix(text);
  const std::string_view colour = text.substr(0, begin);
  std::string_view rest = text.substr(begin);
  const bool coloured = begin > 0 && absl::EndsWith(rest, kEndOfColour);
  if (DisplayWidth(text) <= width) return {std::string(text)};
  if (coloured) rest.remove_suffix(kEndOfColour.size());
  std::vector<std::string> lines;
  while (!rest.empty()) {
    size_t end = FrontOfWidth(rest, width);
    if (end < rest.size() && rest[end] != ' ') {
      const size_t blank = rest.rfind(' ', end);
      if (blank != rest.npos && blank > rest.find_first_not_of(' ')) end = blank;
    }
    lines.push_back(absl::StrCat(colour, rest.substr(0, end), coloured ? kEndOfColour : ""));
    rest.remove_prefix(std::min(rest.find_first_not_of(' ', end), rest.size()));
  }
  return lines;
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
  for (std::string& name : header_) {
    right_.push_back(absl::StartsWith(name, ">"));
    if (right_.back()) name.erase(0, 1);
  }
}

void Table::Row(std::vector<std::string> cells) {
  cells.resize(header_.size());
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::LongestWords(const std::vector<size_t>& widths) const {
  std::vector<size_t> longest = widths;
  for (size_t c = 0; c < longest.size(); ++c) {
    if (right_[c]) continue;
    longest[c] = LongestWord(header_[c]);
    for (const auto& row : rows_) longest[c] = std::max(longest[c], LongestWord(row[c]));
  }
  return longest;
}

std::string Table::Text(const Style& style, std::string_view indent) const {
  if (header_.empty()) return "";
  std::vector<size_t> widths;
  for (const std::string& name : header_) widths.push_back(DisplayWidth(name));
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], DisplayWidth(row[c]));
  }
  if (style.width() > 0) {
    const size_t between = indent.size() + kColumnGap * (widths.size() - 1);
    const size_t room = style.width() - std::min(style.width(), between);
    std::vector<size_t> least = widths, whole_words = LongestWords(widths);
    for (size_t c = 0; c < widths.size(); ++c) {
      if (!right_[c]) least[c] = std::min(least[c], kNarrowest);
      whole_words[c] = std::max(whole_words[c], least[c]);
    }
    Narrow(widths, whole_words, room);  // where that is enough, no word is split
    Narrow(widths, least, room);
  }
  std::string text;
  std::vector<std::string> header;
  for (const std::string& name : header_) header.push_back(style.Dim(name));
  AddRow(header, widths, right_, indent, text);
  for (const auto& row : rows_) AddRow(row, widths, right_, indent, text);
  return text;
}

std::string ShellQuoted(std::string_view word) {
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string ShellWord(std::string_view word) {
  const bool plain =
      !word.empty() && word.find_first_of(" \t\r\n\v\f'\"()[]*?&;<>|$`\\#~") == word.npos;
  return plain ? std::string(word) : ShellQuoted(word);
}

std::string ShortestText(float value) { return ShortestNumber(value); }
std::string ShortestText(double value) { return ShortestNumber(value); }

std::string Listed(absl::Span<const std::string> items) {
  constexpr size_t kListed = 6;
  const size_t more = items.size() > kListed ? items.size() - kListed : 0;
  return absl::StrCat(absl::StrJoin(items.first(items.size() - more), ", "),
                      more == 0 ? "" : absl::StrCat(" and ", more, " more"));
}

std::string Plural(int64_t n, std::string_view noun) {
  if (n == 1) return absl::StrCat("1 ", noun);
  if (absl::EndsWith(noun, "y"))
    return absl::StrCat(n, " ", noun.substr(0, noun.size() - 1), "ies");
  if (absl::EndsWith(noun, "ch")) return absl::StrCat(n, " ", noun, "es");
  return absl::StrCat(n, " ", noun, "s");
}

std::string Count(double n) {
  constexpr std::string_view kUnits[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  while (std::fabs(n) >= 1000 && unit + 1 < std::size(kUnits)) {
    n /= 1000;
    ++unit;
  }
  if (unit == 0) return absl::StrFormat("%.0f", n);
  return absl::StrFormat("%.*f%s", n < 10 ? 2 : n < 100 ? 1 : 0, n, kUnits[unit]);
}

std::string Bytes(int64_t bytes) {
  const std::string count = Count(static_cast<double>(bytes));
  return absl::StrCat(count, absl::StrContains(count, ' ') ? "B" : " B");
}

std::string Millis(double ms) {
  if (ms >= 1000) return absl::StrFormat("%.2f s", ms / 1000);
  return absl::StrFormat("%.*f ms", ms < 10 ? 2 : 1, ms);
}

}  // namespace tenon::cli
