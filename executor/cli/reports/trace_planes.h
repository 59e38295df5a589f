// Converts the planes of a profile (proto/xspace.proto) to Chrome's trace events.
#pragma once

#include <functional>
#include <string>

#include "executor/values/json.h"

namespace tenon::pb {
class XPlane;
}

namespace tenon::cli {

// Calls `add` with events for the plane, whose times must be on the recorder's clock: a process for
// the plane itself, a thread for each of its lines, numbered from 1, a span for each event with a
// length above 0, and an instant for each other event. An event that only counts occurrences
// (num_occurrences) has no time and is left out. `process` is the number of the process, `file` the
// plug-in's file, `clock` as in RunWatch::Plane. Wrong numbers in the plane give wrong events,
// never an error.
void AddPlane(const pb::XPlane& plane, int process, const std::string& file, std::string_view clock,
              const std::function<void(const Json&)>& add);

}  // namespace tenon::cli
