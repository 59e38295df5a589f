// Makes one line of a message, to be shown.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Returns `s` with each run of line feeds, carriage returns and tabs as one blank; at the begin, at
// the end and beside a blank as nothing.
std::string OneLine(std::string_view s);

}  // namespace tenon
