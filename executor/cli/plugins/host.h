// Plug-ins and devices of this process, as the command line asks for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/common_flags.h"
#include "plugin/device/device.h"
#include "plugin/host/loading/loader.h"

namespace tenon::cli {

// The CPU and the devices of every plug-in; shuts the plug-ins down when it goes. Sessions must be
// gone by then. One per process.
class Host {
 public:
  // Loads what --plugin names, then what TENON_PLUGIN_PATH finds. A named plug-in that fails:
  // kPluginFault with its text. A found one, also in a folder that --plugin names: a warning.
  static absl::StatusOr<std::unique_ptr<Host>> Open(const CommonFlags& flags);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::vector<Device*>& devices() const { return devices_; }

 private:
  Host() = default;
  bool open_ = false;  // after a failed start the plug-ins stay as they are, to be reported
  std::unique_ptr<Device> cpu_;
  std::vector<Device*> devices_;
};

// The fault of having closed what the command writes to (ReopenOutput).
absl::Status ClosedByPlugin(std::string_view what, std::string_view plugin);

// A device's short name, "/device:CPU:0"; "/device:?" for null.
std::string ShortName(const Device* device);

}  // namespace tenon::cli
