#include "executor/values/text.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace tenon::cli {

Style Style::For(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return Style((no_color == nullptr || *no_color == '\0') && isatty(fd) == 1);
}

std::string Style::Wrap(std::string_view code, std::string_view s) const {
  return colour_ ? absl::StrCat("\033[", code, "m", s, "\033[0m") : std::string(s);
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

std::string Table::Text(const Style& style, std::string_view indent) const {
  std::vector<size_t> widths;
  for (const std::string& name : header_) widths.push_back(DisplayWidth(name));
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], DisplayWidth(row[c]));
  }
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells, bool header) {
    std::string out(indent);
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string pad(widths[c] - DisplayWidth(cells[c]), ' ');
      const std::string cell = header ? style.Dim(cells[c]) : cells[c];
      absl::StrAppend(&out, c == 0 ? "" : "  ", right_[c] ? pad : "", cell, right_[c] ? "" : pad);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, out, "\n");
  };
  line(header_, true);
  for (const auto& row : rows_) line(row, false);
  return text;
}

std::string ShellQuoted(std::string_view word) {
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string ShellWord(std::string_view word) {
  const bool plain = word.find_first_of(" '\"()[]*?&;<>|$`\\#~") == word.npos;
  return plain ? std::string(word) : ShellQuoted(word);
}

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
  return absl::StrFormat(n < 10 ? "%.2f%s" : n < 100 ? "%.1f%s" : "%.0f%s", n, kUnits[unit]);
}

std::string Bytes(int64_t bytes) {
  const std::string count = Count(static_cast<double>(bytes));
  return absl::StrCat(count, absl::StrContains(count, ' ') ? "B" : " B");
}

std::string Millis(double ms) {
  if (ms >= 1000) return absl::StrFormat("%.2f s", ms / 1000);
  return absl::StrFormat(ms < 10 ? "%.2f ms" : "%.1f ms", ms);
}

}  // namespace tenon::cli
