// The version of Tenon.
#pragma once

#include <string_view>

namespace tenon {

// Tenon's own version, "major.minor.patch".
std::string_view Version();

}  // namespace tenon
