#include "graph/base/one_line.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tenon {

std::string OneLine(std::string_view s) {
  std::string line;
  bool pending = false;  // line feeds and tabs since the last character
  for (const char c : s) {
    const bool is_space = c == '\n' || c == '\t' || c == '\r';
    if (!is_space && pending && !line.empty() && line.back() != ' ' && c != ' ') line += ' ';
    pending = is_space;
    if (is_space) continue;
    const auto byte = static_cast<uint8_t>(c);
    // U+0080 to U+009F are control characters, too.
    const bool is_second = !line.empty() && line.back() == '\xc2' && byte >= 0x80 && byte < 0xa0;
    if (is_second) line.replace(line.size() - 1, 1, "\\xc2");
    if (is_second || absl::ascii_iscntrl(byte)) {
      absl::StrAppend(&line, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace tenon
