#include <iterator>

#include "executor/place/placer.h"

namespace tenon {

std::string_view PlaceCodeName(PlaceCode code) {
  // In the order of the enumerators.
  constexpr std::string_view kNames[] = {"NO_KERNEL", "DTYPE",      "HOST_MEMORY", "COLOCATION",
                                         "RESOURCE",  "PINNED",     "PASS_MOVED",  "PRIORITY",
                                         "GREEDY",    "UNAVAILABLE"};
  static_assert(std::size(kNames) == static_cast<size_t>(PlaceCode::kUnavailable) + 1);
  return kNames[static_cast<size_t>(code)];
}

}  // namespace tenon
