// TFNPD_InitPlugin: devices whose tensors are PJRT buffers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "next_device.h"
#include "pjrt.h"
#include "tensorflow/core/common_runtime/next_pluggable_device/c/plugin_c_api.h"

bool UsesNextDevice(void) {
  static int uses = -1;
  if (uses < 0) {
    const char* const value = getenv("TENON_NEXT_DEVICE");
    uses = value == NULL || strcmp(value, "0") != 0;
  }
  return uses == 1;
}

void Trace(const char* name) {
  if (getenv("TENON_NEXT_DEVICE_TRACE") != NULL) fprintf(stderr, "next_device: %s\n", name);
}

int DeviceCount(void) {
  const char* const value = getenv("TENON_NEXT_DEVICE_COUNT");
  return value == NULL ? 1 : atoi(value);
}

static int32_t GetDeviceCount(TF_Status* status) {
  (void)status;
  Trace("TFNPD_GetDeviceCount");
  return UsesNextDevice() ? DeviceCount() : 0;
}

static void InitInternalDeviceStates(TF_Status* status) {
  (void)status;
  Trace("TFNPD_InitPluginInternalDeviceStates");
}

static PJRT_Buffer* SameDeviceCopy(PJRT_Buffer* buffer, PJRT_Client* client, TF_Status* status) {
  (void)client;
  Trace("TFNPD_SameDevicePjRtBufferCopy");
  return CopyBuffer(buffer, status);
}

// Most of the table stays empty: a host that takes memory and copies from PJRT needs no more.
static TFNPD_Api api;

NEXT_DEVICE_ENTRY_POINT const TFNPD_Api* TFNPD_InitPlugin(TFNPD_PluginParams* params,
                                                          TF_Status* status) {
  (void)status;
  Trace("TFNPD_InitPlugin");
  params->device_type = UsesNextDevice() ? NEXT_DEVICE_TYPE : NEXT_DEVICE_UNUSED_TYPE;
  params->compilation_device_name = "XLA_CPU_JIT";
  params->priority = UsesNextDevice() ? 300 : 0;
  params->is_pluggable_device = true;
  const char* const on_demand = getenv("TENON_NEXT_DEVICE_ON_DEMAND");
  params->use_pjrt_on_demand_compile = on_demand != NULL && strcmp(on_demand, "0") != 0;
  api.struct_size = TFNPD_Api_STRUCT_SIZE;
  api.TFNPD_GetDeviceCount = GetDeviceCount;
  api.TFNPD_InitPluginInternalDeviceStates = InitInternalDeviceStates;
  api.TFNPD_SameDevicePjRtBufferCopy = SameDeviceCopy;
  return &api;
}
