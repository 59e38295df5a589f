// Makes one line of a message, to be shown.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Returns `s` with one blank in place of each run of line feeds, carriage returns and tabs. A run
// at the start, at the end or beside a blank is dropped. Other control characters, those of UTF-8
// included, become \xNN, so that no text of a file or a plug-in moves a terminal's cursor.
std::string OneLine(std::string_view s);

}  // namespace tenon
