// How a node asks to be placed beside others: by a list of their names, each behind a prefix.
#pragma once

#include <string_view>

namespace tenon {

inline constexpr std::string_view kColocationAttr = "_class";
inline constexpr std::string_view kColocationPrefix = "loc:@";

}  // namespace tenon
