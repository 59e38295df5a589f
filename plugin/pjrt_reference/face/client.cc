// Clients, devices and memories.
#include <array>
#include <utility>

#include "functions.h"
#include "objects.h"
#include "version.h"

namespace pjref::functions {

using namespace tenon::pjrt::abi;  // The structs' names.

namespace {

// Options that change the table, or every client at once.
bool IsOfEnvironment(std::string_view name) {
  constexpr std::array<std::string_view, 11> kNames = {
      "minor_version",  "major_version", "struct_size", "version_struct_size",
      "null_functions", "extensions",    "null_api",    "trace",
      "fail",           "throw",         "hang"};
  for (std::string_view known : kNames) {
    if (known == name) return true;
  }
  return false;
}

std::unique_ptr<DeviceObject> MakeDevice(ClientObject* client, int id) {
  auto device = std::make_unique<DeviceObject>();
  device->client = client;
  device->core = std::make_shared<DeviceCore>(id, client->settings);
  device->description = {id, std::string(kDeviceKind),
                         std::string(kDeviceName) + "(id=" + std::to_string(id) + ")"};
  device->memory = {id,
                    "device",
                    std::string(kMemoryName) + "(id=" + std::to_string(id) + ")",
                    {Theirs(device.get())}};
  device->memories = {Theirs(&device->memory)};
  return device;
}

template <typename Args>
void SetText(Args* args, const std::string& text) {
  args->text = text.data();
  args->text_size = text.size();
}

}  // namespace

void Client_Create(ClientCreateArgs* args) {
  auto client = std::make_unique<ClientObject>();
  client->settings = Settings::OfEnvironment();
  if (!client->settings.problem.empty())
    throw Refusal(Code::kInvalidArgument, client->settings.problem);
  for (size_t i = 0; i < args->num_options; ++i) {
    const NamedValue& option = args->options[i];
    const std::string_view name(option.name, option.name_size);
    if (IsOfEnvironment(name)) {
      throw Refusal(Code::kInvalidArgument,
                    "option " + std::string(name) + " is read from " + kOptionsVariable + " alone");
    }
    client->settings.Set(option);
  }
  for (int id = 0; id < client->settings.device_count; ++id) {
    client->devices.push_back(MakeDevice(client.get(), id));
    client->device_list.push_back(Theirs(client->devices.back().get()));
    client->memory_list.push_back(Theirs(&client->devices.back()->memory));
  }
  args->client = Theirs(client.release());
}

void Client_Destroy(ClientDestroyArgs* args) {
  ClientObject* client = Mine(args->client);
  if (!client) return;
  for (const auto& device : client->devices) {
    if (device->core->IsThisThread())
      throw Refusal(Code::kFailedPrecondition, "a callback must not destroy its client");
  }
  for (const auto& device : client->devices) device->core->Stop();
  delete client;
}

void Client_PlatformName(ClientTextArgs* args) {
  Need(args->client, "client");
  SetText(args, Mine(args->client)->settings.platform);
}

void Client_ProcessIndex(ClientProcessIndexArgs* args) { args->process_index = 0; }

void Client_PlatformVersion(ClientTextArgs* args) {
  args->text = kVersionText.data();
  args->text_size = kVersionText.size();
}

void Client_Devices(ClientDevicesArgs* args) {
  Need(args->client, "client");
  const ClientObject* client = Mine(args->client);
  args->devices = client->device_list.data();
  args->num_devices = client->device_list.size();
}

void Client_AddressableDevices(ClientDevicesArgs* args) { Client_Devices(args); }

void Client_LookupDevice(ClientLookupDeviceArgs* args) {
  Need(args->client, "client");
  DeviceObject* found = Mine(args->client)->Find(args->id);
  if (!found)
    throw Refusal(Code::kInvalidArgument, "no device has the id " + std::to_string(args->id));
  args->device = Theirs(found);
}

void Client_LookupAddressableDevice(ClientLookupDeviceArgs* args) { Client_LookupDevice(args); }

void Client_AddressableMemories(ClientMemoriesArgs* args) {
  Need(args->client, "client");
  const ClientObject* client = Mine(args->client);
  args->memories = client->memory_list.data();
  args->num_memories = client->memory_list.size();
}

void Client_DefaultDeviceAssignment(ClientDefaultDeviceAssignmentArgs* args) {
  Need(args->client, "client");
  const auto wanted = static_cast<int64_t>(args->num_replicas) * args->num_partitions;
  const auto there = static_cast<int64_t>(Mine(args->client)->devices.size());
  if (args->num_replicas < 1 || args->num_partitions < 1 || wanted > there ||
      args->assignment_size < static_cast<size_t>(wanted)) {
    throw Refusal(Code::kInvalidArgument,
                  "there are " + std::to_string(there) + " devices, not " + std::to_string(wanted));
  }
  for (int i = 0; i < wanted; ++i) args->assignment[i] = i;
}

void Client_TopologyDescription(ClientTopologyArgs*) {
  throw Refusal(Code::kUnimplemented,
                "PJRT_Client_TopologyDescription is not implemented by this plug-in");
}

// All memory is the host's: there is nothing to map.
void Client_DmaMap(ClientDmaMapArgs* args) {
  Need(args->client, "client");
  Need(args->data, "data");
}
void Client_DmaUnmap(ClientDmaUnmapArgs* args) {
  Need(args->client, "client");
  Need(args->data, "data");
}

void Device_GetDescription(DeviceGetDescriptionArgs* args) {
  Need(args->device, "device");
  args->description = Theirs(&Mine(args->device)->description);
}

void Device_IsAddressable(DeviceIsAddressableArgs* args) { args->is_addressable = true; }

void Device_LocalHardwareId(DeviceLocalHardwareIdArgs* args) {
  Need(args->device, "device");
  args->id = Mine(args->device)->description.id;
}

void Device_AddressableMemories(DeviceMemoriesArgs* args) {
  Need(args->device, "device");
  args->memories = Mine(args->device)->memories.data();
  args->num_memories = Mine(args->device)->memories.size();
}

void Device_DefaultMemory(DeviceDefaultMemoryArgs* args) {
  Need(args->device, "device");
  args->memory = Theirs(&Mine(args->device)->memory);
}

void Device_MemoryStats(DeviceMemoryStatsArgs* args) {
  Need(args->device, "device");
  const DeviceObject* device = Mine(args->device);
  const DeviceCore::Account account = device->core->account();
  args->bytes_in_use = account.in_use;
  args->peak_bytes_in_use = {account.peak, true};
  args->num_allocations = {account.allocations, true};
  args->largest_allocation = {account.largest, true};
  const int64_t limit = device->client->settings.memory_limit;
  args->bytes_limit = {limit, limit > 0};
  args->bytes_reserved = args->peak_bytes_reserved = args->bytes_reservable_limit =
      args->largest_free_block = args->pool_bytes = {0, false};
  args->peak_pool_bytes = 0;
  args->peak_pool_bytes_is_set = false;
}

void DeviceDescription_Id(DescriptionNumberArgs* args) {
  Need(args->description, "device_description");
  args->number = Mine(args->description)->id;
}

void DeviceDescription_ProcessIndex(DescriptionNumberArgs* args) { args->number = 0; }

void DeviceDescription_Attributes(DescriptionAttributesArgs* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
}

void DeviceDescription_Kind(DescriptionTextArgs* args) {
  Need(args->description, "device_description");
  SetText(args, Mine(args->description)->kind);
}

void DeviceDescription_DebugString(DescriptionTextArgs* args) { DeviceDescription_ToString(args); }

void DeviceDescription_ToString(DescriptionTextArgs* args) {
  Need(args->description, "device_description");
  SetText(args, Mine(args->description)->text);
}

void Memory_Id(MemoryNumberArgs* args) {
  Need(args->memory, "memory");
  args->number = Mine(args->memory)->id;
}

void Memory_Kind_Id(MemoryNumberArgs* args) { args->number = 0; }

void Memory_Kind(MemoryTextArgs* args) {
  Need(args->memory, "memory");
  SetText(args, Mine(args->memory)->kind);
}

void Memory_DebugString(MemoryTextArgs* args) { Memory_ToString(args); }

void Memory_ToString(MemoryTextArgs* args) {
  Need(args->memory, "memory");
  SetText(args, Mine(args->memory)->text);
}

void Memory_AddressableByDevices(MemoryDevicesArgs* args) {
  Need(args->memory, "memory");
  args->devices = Mine(args->memory)->devices.data();
  args->num_devices = Mine(args->memory)->devices.size();
}

}  // namespace pjref::functions
