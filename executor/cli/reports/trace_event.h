// Makes single events of Chrome's trace format. Times are in microseconds.
#pragma once

#include "executor/values/json.h"

namespace tenon::cli {

// Names a process or thread. `what` is "process_name", "process_labels" or "thread_name".
inline Json TraceName(std::string_view what, int process, int thread, std::string_view name) {
  Json args = Json::Object();
  args.Set(what == "process_labels" ? "labels" : "name", name);
  Json event = Json::Object();
  event.Set("name", what).Set("ph", "M").Set("pid", process).Set("tid", thread);
  event.Set("args", std::move(args));
  return event;
}

// An event with a duration.
inline Json TraceSpan(std::string_view name, std::string_view category, int process, int thread,
                      double start_us, double length_us) {
  Json event = Json::Object();
  event.Set("name", name).Set("cat", category).Set("ph", "X").Set("pid", process);
  event.Set("tid", thread).Set("ts", start_us).Set("dur", length_us);
  return event;
}

// An event without a duration.
inline Json TraceInstant(std::string_view name, std::string_view category, int process, int thread,
                         double at_us) {
  Json event = Json::Object();
  event.Set("name", name).Set("cat", category).Set("ph", "i").Set("s", "t").Set("pid", process);
  event.Set("tid", thread).Set("ts", at_us);
  return event;
}

}  // namespace tenon::cli
