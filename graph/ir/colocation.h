// Colocation: attribute `_class` of a node lists the nodes on whose device the node is to be, each
// as "loc:@NAME". Entries of another form count for nothing.
#pragma once

#include <string_view>

namespace tenon {

inline constexpr std::string_view kColocationAttr = "_class";
inline constexpr std::string_view kColocationPrefix = "loc:@";

}  // namespace tenon
