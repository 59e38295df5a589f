// Makes one line of a message, to be shown.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Returns `s` with one blank in place of each run of line feeds, carriage returns and tabs. A run
// at the start, at the end or beside a blank is dropped.
std::string OneLine(std::string_view s);

}  // namespace tenon
