// Writes the RunMetadata of a run.
#pragma once

#include <string>

#include "executor/api/base/session_config.h"
#include "executor/api/session/run_options.h"
#include "executor/session/session.h"

namespace tenon::api {

// Serialized. Has the times of the nodes that `recorder` has recorded, which may be null; the
// graphs of `executable` as they run, one for each device, if `wishes` ask for them; and the
// metadata of the session.
std::string RunMetadataOf(const Executable& executable, const RunRecorder* recorder,
                          const RunWishes& wishes, const SessionConfig& config);

}  // namespace tenon::api
