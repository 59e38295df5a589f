// What the sources of this plug-in share.
#ifndef TENON_PLUGIN_NEXT_DEVICE_NEXT_DEVICE_H_
#define TENON_PLUGIN_NEXT_DEVICE_NEXT_DEVICE_H_

#include <stdbool.h>

#define NEXT_DEVICE_ENTRY_POINT __attribute__((visibility("default")))

// Whether the devices of this process are NextPluggableDevices (TENON_NEXT_DEVICE is unset or
// not "0"), and not StreamExecutor's. The variable is read once.
bool UsesNextDevice(void);

// Writes the name of an entry point or callback to stderr if TENON_NEXT_DEVICE_TRACE is set.
void Trace(const char* name);

// The type of the devices that the kernels are for.
#define NEXT_DEVICE_TYPE "NEXT"
// The type under which the interface that is not in use shows no devices.
#define NEXT_DEVICE_UNUSED_TYPE "NEXT_DUMMY"

// The number of devices: TENON_NEXT_DEVICE_COUNT, or 1 if that is unset.
int DeviceCount(void);

#endif  // TENON_PLUGIN_NEXT_DEVICE_NEXT_DEVICE_H_
