// Converts the planes of a profile (proto/xspace.proto) to Chrome's trace events.
#pragma once

#include <functional>
#include <string>

#include "executor/values/json.h"

namespace tenon::pb {
class XPlane;
}

namespace tenon::cli {

// Calls `add` with events for the plane: a process for the plane itself, a thread for each of its
// lines, and a span or an instant for each event that has a time. `process` is the number of the
// process, `file` the plug-in's file, `clock` as in RunWatch::Plane. Wrong numbers in the plane
// give wrong events, never an error.
void AddPlane(const pb::XPlane& plane, int process, const std::string& file, std::string_view clock,
              const std::function<void(const Json&)>& add);

}  // namespace tenon::cli
