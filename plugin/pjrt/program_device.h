// A device for which programs are compiled.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/pjrt/client.h"

namespace tenon::pjrt {

// Either a device that takes programs alone (PjrtDevice), or one with kernels too
// (NextPluggableDevice).
class ProgramDevice : public Device {
 public:
  // Whether the plug-in has all functions that programs need.
  virtual bool has_programs() const = 0;
  // The client that compiles and runs; makes one if there is none.
  virtual absl::StatusOr<std::shared_ptr<Client>> ProgramClient() const = 0;
  // The index of the device among the devices of `client`, that of ProgramClient. NOT_FOUND if the
  // client has no such device.
  virtual absl::StatusOr<size_t> IndexIn(const Client& client) const = 0;
};

// Null for a device for which no program can be compiled.
inline ProgramDevice* AsProgramDevice(Device* device) {
  auto* const program_device = dynamic_cast<ProgramDevice*>(device);
  return program_device != nullptr && program_device->has_programs() ? program_device : nullptr;
}

}  // namespace tenon::pjrt
