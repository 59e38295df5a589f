// Loads the plug-ins and makes the devices that the command line asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/common_flags.h"
#include "plugin/device/device.h"
#include "plugin/host/loading/loader.h"

namespace tenon::cli {

// The CPU and the devices of every plug-in in use. The destructor shuts the plug-ins down, unless
// Open failed; sessions must be gone by then. One in a process, used by the main thread.
class Host {
 public:
  // Loads the plug-ins that --plugin names, then those of PJRT_NAMES_AND_LIBRARY_PATHS, then those
  // that TENON_PLUGIN_PATH leads to. Each file is loaded once, with the options of its first
  // mention, which also decides what a failure means. A plug-in fails if it does not load or cannot
  // create its devices. The failure of a plug-in whose file --plugin names is kPluginFault with its
  // message. The failure of a plug-in that was found in a folder or through one of the two
  // variables is a warning, and the plug-in is skipped. A plug-in that another plug-in has loaded
  // is kPluginFault if it cannot create its devices. A plug-in that closes stdout or stderr while
  // it is loaded has failed too; where that is a warning, the plug-in stays in use if it has
  // loaded. A folder of TENON_PLUGIN_PATH that cannot be read is a warning, and so is a malformed
  // entry of the other variable. kUsage: a flag is malformed, a folder that --plugin names has no
  // library or cannot be read, or the variable that chooses the CPU's instructions is wrong. Sets
  // the variables of the environment that any --plugin gives before the first plug-in is loaded: of
  // two values the last counts. They stay set after an error. With --verbose, writes to stderr what
  // TensorFlow logs of new devices (CreationLog).
  static absl::StatusOr<std::unique_ptr<Host>> Open(const CommonFlags& flags);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // The CPU first. The devices live as long as the host.
  const std::vector<Device*>& devices() const { return devices_; }

 private:
  Host() = default;
  // False without plug-ins, and after a failed start: the plug-ins stay as they are, to be
  // reported.
  bool open_ = false;
  std::unique_ptr<Device> cpu_;
  std::vector<Device*> devices_;
};

// kPluginFault for a plug-in that closed an output of the command; `what` is that of ReopenOutput.
// An empty `plugin` means that it is not known.
absl::Status ClosedByPlugin(std::string_view what, std::string_view plugin);

// The short name of a device, "/device:CPU:0"; "/device:?" for null.
std::string ShortName(const Device* device);

}  // namespace tenon::cli
