// What the plug-in says of itself.
#pragma once

#include <string_view>

namespace pjref {

// The platform's version: what a serialized executable is bound to.
inline constexpr std::string_view kVersionText = "tenon reference interpreter 1.0";

}  // namespace pjref
