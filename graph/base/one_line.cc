#include "graph/base/one_line.h"

namespace tenon {

std::string OneLine(std::string_view s) {
  std::string line;
  bool pending = false;  // line feeds and tabs since the last character
  for (const char c : s) {
    const bool control = c == '\n' || c == '\t' || c == '\r';
    if (!control && pending && !line.empty() && line.back() != ' ' && c != ' ') line += ' ';
    pending = control;
    if (!control) line += c;
  }
  return line;
}

}  // namespace tenon
