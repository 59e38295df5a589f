// TF_DeviceList: a copy of what a session says of its devices.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "executor/api/base/arguments.h"
#include "executor/api/session/tf_deprecated_session.h"
#include "executor/api/session/tf_session.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

struct ListedDevice {
  std::string name, type;
  int64_t memory_bytes;
  uint64_t incarnation;
};

}  // namespace tenon::api

struct TF_DeviceList {
  std::vector<tenon::api::ListedDevice> devices;
};

namespace tenon::api {
namespace {

std::unique_ptr<TF_DeviceList> DevicesOf(const SessionCore& core) {
  auto list = std::make_unique<TF_DeviceList>();
  // The same for each list of the session.
  std::mt19937_64 incarnations(core.incarnation());
  for (const Device* device : core.devices()) {
    list->devices.push_back({device->full_name(), std::string(device->type()),
                             device->memory_bytes(), incarnations() | 1});
  }
  return list;
}

// Null, with a status, for an index that there is not.
const ListedDevice* DeviceAt(const TF_DeviceList* list, int index, TF_Status* status) {
  if (!AllGiven({{"list", list}}, status)) return nullptr;
  if (index >= 0 && static_cast<size_t>(index) < list->devices.size()) return &list->devices[index];
  StatusToC(absl::InvalidArgumentError("index out of bounds"), status);
  return nullptr;
}

}  // namespace
}  // namespace tenon::api

using tenon::api::DeviceAt;
using tenon::api::ListedDevice;

extern "C" {

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) {
  if (!tenon::api::IsSession(session, status)) return nullptr;
  return tenon::api::DevicesOf(session->made->core()).release();
}

TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session, TF_Status* status) {
  if (!tenon::api::IsSession(session, status)) return nullptr;
  return tenon::api::DevicesOf(session->made->core()).release();
}

void TF_DeleteDeviceList(TF_DeviceList* list) { delete list; }

int TF_DeviceListCount(const TF_DeviceList* list) {
  return list == nullptr ? -1 : static_cast<int>(list->devices.size());
}

const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status) {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? nullptr : device->name.c_str();
}

const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status) {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? nullptr : device->type.c_str();
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index, TF_Status* status) {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? -1 : device->memory_bytes;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index, TF_Status* status) {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? 0 : device->incarnation;
}

}  // extern "C"
