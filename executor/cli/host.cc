#include "executor/cli/host.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/guard.h"
#include "executor/cli/invocation.h"
#include "graph/status_macros.h"
#include "plugin/shared_library.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

struct PluginRequest {
  std::string path;
  bool named = false;  // by --plugin, as opposed to found
};

// "PATH;key=value;...": sets the variables, which is how plug-ins for TensorFlow are configured.
absl::StatusOr<PluginRequest> ParsePluginFlag(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ';');
  if (parts[0].empty()) return UsageError(absl::StrCat("--plugin '", text, "' names no file"));
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      return UsageError(absl::StrCat("--plugin ", parts[0], ": '", parts[i], "' is no key=value"));
    }
    setenv(parts[i].substr(0, equals).c_str(), parts[i].substr(equals + 1).c_str(), 1);
  }
  return PluginRequest{parts[0], true};
}

bool IsLibrary(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_regular_file(error) && entry.path().extension() == ".so";
}

// Files and folders of TENON_PLUGIN_PATH; the libraries of a folder in order of name.
std::vector<PluginRequest> FoundPlugins(const Options& options) {
  const char* variable = std::getenv("TENON_PLUGIN_PATH");
  std::vector<PluginRequest> found;
  for (std::string_view item :
       absl::StrSplit(variable == nullptr ? "" : variable, ':', absl::SkipEmpty())) {
    std::error_code error;
    if (!fs::is_directory(item, error)) {
      found.push_back({std::string(item), false});
      continue;
    }
    std::vector<std::string> paths;
    for (const fs::directory_entry& entry : fs::directory_iterator(item, error)) {
      if (IsLibrary(entry)) paths.push_back(entry.path().string());
    }
    if (error) Warn(options, absl::StrCat("TENON_PLUGIN_PATH: ", item, ": ", error.message()));
    std::sort(paths.begin(), paths.end());
    for (std::string& path : paths) found.push_back({std::move(path), false});
  }
  return found;
}

absl::Status Load(const PluginRequest& request, const Options& options) {
  absl::StatusOr<PluginInfo> info = LoadPlugin(request.path);
  NotePluginCode(CanonicalPath(request.path));  // it may have threads although it failed
  if (info.ok()) {
    for (const std::string& warning : info->warnings)
      Warn(options, absl::StrCat("plug-in ", info->path, ": ", warning));
    return absl::OkStatus();
  }
  if (request.named) return WithExit(Exit::kPluginFault, info.status());
  Warn(options,
       absl::StrCat(info.status().message(), " (found through TENON_PLUGIN_PATH, skipped)"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Host>> Host::Open(const Options& options) {
  std::vector<PluginRequest> requests;
  for (const std::string& text : options.plugins) {
    TENON_ASSIGN_OR_RETURN(PluginRequest request, ParsePluginFlag(text));
    requests.push_back(std::move(request));
  }
  for (PluginRequest& request : FoundPlugins(options)) requests.push_back(std::move(request));
  std::unique_ptr<Host> host(new Host);
  for (const PluginRequest& request : requests) TENON_RETURN_IF_ERROR(Load(request, options));
  host->cpu_ = MakeCpuDevice();
  host->devices_.push_back(host->cpu_.get());
  if (requests.empty()) return host;
  absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
  if (!devices.ok() && !options.plugins.empty())
    return WithExit(Exit::kPluginFault, devices.status());
  if (!devices.ok()) {
    Warn(options,
         absl::StrCat(devices.status().message(),
                      " (found through TENON_PLUGIN_PATH, no device of a plug-in is used)"));
    return host;
  }
  host->devices_.insert(host->devices_.end(), devices->begin(), devices->end());
  host->open_ = true;
  return host;
}

Host::~Host() {
  if (open_) ShutdownPlugins();
}

std::string ShortName(const Device* device) {
  return device == nullptr ? "/device:?" : device->short_name();
}

}  // namespace tenon::cli
