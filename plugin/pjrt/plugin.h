// A plug-in that brings PJRT devices and nothing else: what it tells before there is a client, and
// its devices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/pjrt/api.h"
#include "plugin/pjrt/client.h"
#include "plugin/pjrt/options.h"

namespace tenon::pjrt {

// What the user says of a plug-in.
struct PluginSettings {
  std::string type;  // of its devices; empty: by the platform's name
  std::vector<ClientOption> options;
};

// What reports show. Without a client, platform_name and platform_version are empty.
struct PluginFacts {
  TableFacts table;
  std::vector<NameAndText> attributes;
  std::string platform_name, platform_version;
  std::string no_devices;  // why the plug-in has no devices here; empty: it has, or was not asked
};

// TPUs ask a server of the cloud's for their names, and wait minutes for it off the cloud. Keeps
// them from it if the file's name is libtpu.so: sets TPU_SKIP_MDS_QUERY, unless that is set. To be
// called before the plug-in's code runs.
void KeepOffNetwork(std::string_view path);

// Not thread-safe.
class Plugin {
 public:
  // Checks the table and initializes the plug-in; makes no client. Errors are those of Api::Open,
  // PJRT_Plugin_Initialize and PJRT_Plugin_Attributes.
  static absl::StatusOr<std::shared_ptr<Plugin>> Load(const std::string& path, abi::GetApi* get,
                                                      PluginSettings settings);

  const PluginFacts& facts() const { return facts_; }
  // The type of the devices: the user's, else empty until CreateDevices has created the client.
  const std::string& type() const { return type_; }

  // Creates the client, and a device for each that the client has. `is_taken` says whether another
  // device has the type already; a type by the platform's name then begins with "PJRT_".
  // `first_ordinal` says the number of the first new device of the type; the others follow. A
  // machine without such devices is no error: the list is empty then, and facts().no_devices has
  // the reason. FAILED_PRECONDITION, NOT_FOUND and UNAVAILABLE of Client::Create say that, unless
  // they are faults (IsPluginFault). All other errors of Client::Create are returned. Call it once.
  absl::StatusOr<std::vector<std::unique_ptr<Device>>> CreateDevices(
      const std::function<bool(std::string_view type)>& is_taken,
      const std::function<int(std::string_view type)>& first_ordinal);

 private:
  Plugin(std::shared_ptr<const Api> api, PluginSettings settings)
      : api_(std::move(api)), settings_(std::move(settings)), type_(settings_.type) {}

  const std::shared_ptr<const Api> api_;
  const PluginSettings settings_;
  std::string type_;
  PluginFacts facts_;
};

}  // namespace tenon::pjrt
