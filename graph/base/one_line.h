// Messages as one line, as they are shown.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Line feeds and tabs become one blank.
std::string OneLine(std::string_view s);

}  // namespace tenon
