#include "graph/base/version.h"

namespace tenon {

std::string_view Version() { return TENON_VERSION; }

}  // namespace tenon
