// The planes of a profile (proto/xspace.proto) as Chrome's trace events.
#pragma once

#include <functional>
#include <string>

#include "executor/values/json.h"

namespace tenon::pb {
class XPlane;
}

namespace tenon::cli {

// A process for the plane, a thread for each of its lines, and a span or an instant for each event
// that has a time. `file` is whose plane it is.
void AddPlane(const pb::XPlane& plane, int process, const std::string& file, std::string_view clock,
              const std::function<void(const Json&)>& add);

}  // namespace tenon::cli
