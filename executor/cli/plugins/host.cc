// Loads the plug-ins of --plugin and of TENON_PLUGIN_PATH. A file that --plugin names must load; a
// library that was only found may fail with a warning.

#include "executor/cli/plugins/host.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/fault_line.h"
#include "executor/cli/faults/guard.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/plugins/pjrt_report.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/host/link/shared_library.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClientOption = "option.";  // before the name of a PJRT client's option

struct PluginRequest {
  std::string path;
  // "in folder/", "through TENON_PLUGIN_PATH"; empty: --plugin names the file.
  std::string found;
  PluginOptions options;
};

// Whether the text is a device type by TensorFlow's rule, with the vendor behind it if there is
// one: "GPU@vendor".
bool IsDeviceTypeName(std::string_view text) {
  const std::vector<std::string_view> parts = absl::StrSplit(text, '@');
  const auto is_vendor = [](char c) { return absl::ascii_isalnum(c) || c == '_'; };
  const auto is_type = [](char c) { return absl::ascii_isupper(c) || c == '_'; };
  return parts.size() <= 2 && !parts[0].empty() && parts[0][0] != '_' && !parts.back().empty() &&
         std::all_of(parts[0].begin(), parts[0].end(), is_type) &&
         (parts.size() == 1 || std::all_of(parts[1].begin(), parts[1].end(), is_vendor));
}

absl::Status SetOption(std::string_view key, std::string value, PluginRequest& request) {
  if (key == "priority") {
    if (absl::SimpleAtoi(value, &request.options.priority)) return absl::OkStatus();
    return UsageError(
        absl::StrCat("--plugin ", request.path, ": priority '", value, "' is no whole number"));
  }
  if (!IsDeviceTypeName(value)) {
    return UsageError(absl::StrCat("--plugin ", request.path, ": ", key, " '", value,
                                   "' is no device type; GPU or GPU@vendor would be"));
  }
  request.options.device_type = std::move(value);
  return absl::OkStatus();
}

// Parses "PATH;key=value;...". `priority`, `as`, `type` and `option.NAME` are for the loader. Other
// keys become variables of the environment, since plug-ins for TensorFlow are configured by these.
absl::StatusOr<PluginRequest> ParsePluginFlag(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ';');
  if (parts[0].empty()) return UsageError(absl::StrCat("--plugin '", text, "' names no file"));
  PluginRequest request{parts[0], "", {}};
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      return UsageError(absl::StrCat("--plugin ", parts[0], ": '", parts[i], "' is no key=value"));
    }
    const std::string key = parts[i].substr(0, equals), value = parts[i].substr(equals + 1);
    if (key == "priority" || key == "as" || key == "type") {
      TENON_RETURN_IF_ERROR(SetOption(key, value, request));
    } else if (key.starts_with(kClientOption)) {
      request.options.client_options.push_back(
          pjrt::OptionOf(std::string_view(key).substr(kClientOption.size()), value));
    } else {
      // Before the library is opened: its constructors may read the variable.
      setenv(key.c_str(), value.c_str(), 1);
    }
  }
  return request;
}

// TensorFlow's rule for libraries: name.so, or name.so.2.
bool IsLibrary(const fs::directory_entry& entry) {
  std::error_code error;
  if (!entry.is_regular_file(error)) return false;
  const std::string name = entry.path().filename().string();
  if (name.ends_with(".so")) return true;
  const size_t versioned = name.find(".so.");
  return versioned != name.npos && std::isdigit(static_cast<unsigned char>(name[versioned + 4]));
}

// The libraries of a folder in order of name. TensorFlow's packages have theirs in a folder of a
// fixed name below.
std::vector<std::string> LibrariesIn(const fs::path& folder, std::error_code& error) {
  const fs::path packages = folder / "tensorflow-plugins";
  std::error_code no_packages;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::is_directory(packages, no_packages) ? packages : folder, error)) {
    if (IsLibrary(entry)) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Adds the libraries of a folder that --plugin names. Its options hold for each of them.
absl::Status AddLibrariesOf(const PluginRequest& folder, std::vector<PluginRequest>& requests) {
  std::error_code error;
  const std::vector<std::string> paths = LibrariesIn(folder.path, error);
  if (error || paths.empty()) {
    return UsageError(absl::StrCat("--plugin ", folder.path, ": ",
                                   error ? error.message() : "no library (.so) is in this folder"));
  }
  for (const std::string& path : paths)
    requests.push_back({path, absl::StrCat("in ", folder.path), folder.options});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PluginRequest>> NamedPlugins(const CommonFlags& flags) {
  std::vector<PluginRequest> requests;
  for (const std::string& text : flags.plugins) {
    TENON_ASSIGN_OR_RETURN(PluginRequest request, ParsePluginFlag(text));
    std::error_code error;
    if (fs::is_directory(request.path, error)) {
      TENON_RETURN_IF_ERROR(AddLibrariesOf(request, requests));
    } else {
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

// Files and folders of TENON_PLUGIN_PATH.
std::vector<PluginRequest> FoundPlugins(const CommonFlags& flags) {
  constexpr char kFound[] = "through TENON_PLUGIN_PATH";
  const char* variable = std::getenv("TENON_PLUGIN_PATH");
  std::vector<PluginRequest> found;
  for (std::string_view item :
       absl::StrSplit(variable == nullptr ? "" : variable, ':', absl::SkipEmpty())) {
    std::error_code error;
    if (!fs::is_directory(item, error)) {
      found.push_back({std::string(item), kFound, {}});
      continue;
    }
    for (std::string& path : LibrariesIn(item, error))
      found.push_back({std::move(path), kFound, {}});
    if (error) Warn(flags, absl::StrCat("TENON_PLUGIN_PATH: ", item, ": ", error.message()));
  }
  return found;
}

// The plug-ins of TensorFlow's variable PJRT_NAMES_AND_LIBRARY_PATHS, "name:path,name:path": the
// name is the type of the devices.
std::vector<PluginRequest> PjrtPlugins(const CommonFlags& flags) {
  constexpr char kVariable[] = "PJRT_NAMES_AND_LIBRARY_PATHS";
  const char* variable = std::getenv(kVariable);
  std::vector<PluginRequest> found;
  for (std::string_view item :
       absl::StrSplit(variable == nullptr ? "" : variable, ',', absl::SkipEmpty())) {
    const size_t colon = item.find(':');
    const std::string type = absl::AsciiStrToUpper(item.substr(0, colon));
    if (colon == std::string_view::npos || !IsDeviceTypeName(type)) {
      Warn(flags, absl::StrCat(kVariable, ": '", item,
                               "' is left out: a device type, a colon and a path were expected"));
      continue;
    }
    found.push_back({std::string(item.substr(colon + 1)), absl::StrCat("through ", kVariable), {}});
    found.back().options.device_type = type;
  }
  return found;
}

// Each library once: the first request for it counts.
absl::StatusOr<std::vector<PluginRequest>> PluginRequests(const CommonFlags& flags) {
  TENON_ASSIGN_OR_RETURN(std::vector<PluginRequest> all, NamedPlugins(flags));
  for (PluginRequest& request : PjrtPlugins(flags)) all.push_back(std::move(request));
  for (PluginRequest& request : FoundPlugins(flags)) all.push_back(std::move(request));
  std::vector<PluginRequest> requests;
  for (PluginRequest& request : all) {
    request.path = CanonicalPath(request.path);
    const bool again =
        std::any_of(requests.begin(), requests.end(),
                    [&](const PluginRequest& earlier) { return earlier.path == request.path; });
    if (!again) requests.push_back(std::move(request));
  }
  return requests;
}

// A plug-in that failed ends the command if --plugin names it, and is a warning otherwise. The
// warning says what becomes of the plug-in.
absl::Status Failed(const PluginRequest& request, const absl::Status& status,
                    const CommonFlags& flags, bool stays = false) {
  if (request.found.empty()) return WithExit(Exit::kPluginFault, status);
  Warn(flags, absl::StrCat(status.message(), " (found ", request.found,
                           stays ? ", in use all the same)" : ", skipped)"));
  return absl::OkStatus();
}

absl::Status Load(const PluginRequest& request, const CommonFlags& flags) {
  absl::StatusOr<PluginInfo> info = LoadPlugin(request.path, request.options);
  NotePluginCode(request.path);  // a plug-in that failed may have started threads
  if (const char* closed = ReopenOutput(); closed != nullptr) {
    TENON_RETURN_IF_ERROR(
        Failed(request, ClosedByPlugin(closed, request.path), flags, /*stays=*/info.ok()));
  }
  if (!info.ok()) return Failed(request, info.status(), flags);
  for (const std::string& warning : info->warnings)
    Warn(flags, absl::StrCat("plug-in ", info->path, ": ", warning));
  return absl::OkStatus();
}

// Warns of kernels without use. Comes after all loads, as one plug-in may bring an op of another.
// Shows only a few: published plug-ins have many.
void WarnOfKernels(const CommonFlags& flags) {
  constexpr size_t kShown = 3;
  for (const PluginInfo& info : Plugins()) {
    const size_t shown = std::min(info.doubts.size(), kShown);
    for (size_t i = 0; i < shown; ++i)
      Warn(flags, absl::StrCat("plug-in ", info.path, ": ", info.doubts[i]));
    if (info.doubts.size() == shown) continue;
    Warn(flags, absl::StrCat("plug-in ", info.path, ": ", info.doubts.size() - shown,
                             " more such faults; graph_run plugin check tells them"));
  }
}

// The request for the plug-in with devices that could not be created; null if the error is of
// another kind.
const PluginRequest* RequestThatFailed(const std::vector<PluginRequest>& requests,
                                       const absl::Status& status) {
  for (const PluginInfo& plugin : Plugins()) {
    if (plugin.status != status) continue;
    const auto it = std::find_if(requests.begin(), requests.end(),
                                 [&](const PluginRequest& r) { return r.path == plugin.path; });
    if (it != requests.end()) return &*it;
  }
  return nullptr;
}

absl::StatusOr<std::vector<Device*>> CreateDevices(const std::vector<PluginRequest>& requests,
                                                   const CommonFlags& flags) {
  // Each turn leaves out a plug-in that failed and was only found.
  for (;;) {
    absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
    if (devices.ok()) return devices;
    const PluginRequest* request = RequestThatFailed(requests, devices.status());
    if (request == nullptr) return WithExit(Exit::kPluginFault, devices.status());
    TENON_RETURN_IF_ERROR(Failed(*request, devices.status(), flags));
  }
}

// TensorFlow's words on stderr, for those who look for them there.
void LogDevices(absl::Span<Device* const> devices) {
  for (const PluginInfo& plugin : Plugins()) {
    for (const std::string& line : CreationLog(devices, plugin.path))
      std::fprintf(stderr, "%s\n", line.c_str());
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Host>> Host::Open(const CommonFlags& flags) {
  if (const absl::Status isa = cpu::CheckIsaVariable(); !isa.ok()) return UsageError(isa.message());
  TENON_ASSIGN_OR_RETURN(const std::vector<PluginRequest> requests, PluginRequests(flags));
  std::unique_ptr<Host> host(new Host);
  for (const PluginRequest& request : requests) TENON_RETURN_IF_ERROR(Load(request, flags));
  if (!requests.empty()) WarnOfKernels(flags);
  host->cpu_ = MakeCpuDevice();
  host->devices_.push_back(host->cpu_.get());
  if (requests.empty()) return host;
  TENON_ASSIGN_OR_RETURN(const std::vector<Device*> devices, CreateDevices(requests, flags));
  host->devices_.insert(host->devices_.end(), devices.begin(), devices.end());
  host->open_ = true;
  if (flags.verbose) LogDevices(devices);
  return host;
}

Host::~Host() {
  if (open_) ShutdownPlugins();
}

absl::Status ClosedByPlugin(std::string_view what, std::string_view plugin) {
  return WithExit(Exit::kPluginFault,
                  absl::FailedPreconditionError(
                      absl::StrCat(plugin.empty() ? "somebody" : absl::StrCat("plug-in ", plugin),
                                   " closed ", what, " of the command")));
}

std::string ShortName(const Device* device) {
  return device == nullptr ? "/device:?" : device->short_name();
}

}  // namespace tenon::cli
