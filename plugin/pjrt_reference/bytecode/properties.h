// The attributes that VHLO's ops have as properties. Private to plugin/pjrt_reference/bytecode/.
#pragma once

#include <string_view>
#include <vector>

namespace pjref {

// The names in the order in which their values stand in a file. Empty for an op that has none or is
// unknown.
std::vector<std::string_view> PropertiesOf(std::string_view op);

}  // namespace pjref
