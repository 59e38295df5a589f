#include "executor/api/base/device_list.h"

#include <random>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/base/arguments.h"
#include "graph/c_api/without_memory.h"

namespace tenon::api {
namespace {

// Null, with a status, for an index that there is not.
const ListedDevice* DeviceAt(const TF_DeviceList* list, int index, TF_Status* status) {
  if (!AllGiven({{"list", list}}, status)) return nullptr;
  if (index >= 0 && static_cast<size_t>(index) < list->devices.size()) return &list->devices[index];
  StatusToC(absl::InvalidArgumentError("index out of bounds"), status);
  return nullptr;
}

}  // namespace

uint64_t NewIncarnation() {
  // The source of true randomness is asked once a process: it is slow.
  struct Numbers {
    absl::Mutex mutex;
    std::mt19937_64 next ABSL_GUARDED_BY(mutex){[] {
      std::random_device words;
      return uint64_t{words()} << 32 | words();
    }()};
  };
  static auto* const numbers = new Numbers;
  absl::MutexLock lock(&numbers->mutex);
  return numbers->next();
}

TF_DeviceList* ListDevices(absl::Span<Device* const> devices, uint64_t incarnation) {
  TF_DeviceList* const list = TF_DeviceList::Pool::New();
  std::mt19937_64 incarnations(incarnation);
  for (const Device* device : devices) {
    list->devices.push_back({device->full_name(), std::string(device->type()),
                             device->memory_bytes(), incarnations() | 1});
  }
  return list;
}

}  // namespace tenon::api

using tenon::api::DeviceAt;
using tenon::api::ListedDevice;

extern "C" {

void TF_DeleteDeviceList(TF_DeviceList* list) { tenon::DeleteHandle(list); }

int TF_DeviceListCount(const TF_DeviceList* list) {
  return tenon::IsThere(list) ? static_cast<int>(list->devices.size()) : -1;
}

const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status) try {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? nullptr : device->name.c_str();
} catch (...) {
  return tenon::WithoutMemory(status);
}

const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status) try {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? nullptr : device->type.c_str();
} catch (...) {
  return tenon::WithoutMemory(status);
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index, TF_Status* status) try {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? -1 : device->memory_bytes;
} catch (...) {
  return tenon::WithoutMemory(status);
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index, TF_Status* status) try {
  const ListedDevice* const device = DeviceAt(list, index, status);
  return device == nullptr ? 0 : device->incarnation;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
