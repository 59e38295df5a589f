// How large copies to and from the devices of a plan went: by way of host memory of the plug-in's,
// or why not.
#pragma once

#include <string>
#include <vector>

#include "executor/session/session.h"
#include "executor/values/json.h"

namespace tenon::cli {

// A row for each device of a plug-in in the last plan, but for devices behind PJRT, which have no
// such counts. The counts are those of the process so far.
Json HostStagingJson(const Executable& executable);
// A line for each of these devices that had a large copy: "/device:APU:0: ...". Empty: none had.
std::vector<std::string> HostStagingLines(const Executable& executable);

}  // namespace tenon::cli
