// eager_apu libapu.so: runs ops one at a time, without a graph, on the device of a plug-in.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api.h"

// Ends the program if the last call failed. A status says why in words.
static void Check(const TF_Status* status, const char* doing) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "eager_apu: %s: %s\n", doing, TF_Message(status));
  exit(1);
}

// Prints what devices there are, and writes the name of the first one of the type to `name`.
static void FindDevice(TFE_Context* context, const char* type, char name[128], TF_Status* status) {
  TF_DeviceList* devices = TFE_ContextListDevices(context, status);
  Check(status, "the devices");
  name[0] = '\0';
  for (int i = 0; i < TF_DeviceListCount(devices); ++i) {
    const char* this_name = TF_DeviceListName(devices, i, status);
    printf("device %s\n", this_name);
    if (name[0] == '\0' && strcmp(TF_DeviceListType(devices, i, status), type) == 0)
      snprintf(name, 128, "%s", this_name);
    Check(status, "a device");
  }
  TF_DeleteDeviceList(devices);
  if (name[0] == '\0') {
    fprintf(stderr, "eager_apu: there is no device of type %s\n", type);
    exit(1);
  }
}

// A handle to a new tensor in the host's memory, of `rows` rows if that is not 0, else a vector.
static TFE_TensorHandle* Floats(const float* values, int64_t rows, int64_t columns,
                                TF_Status* status) {
  const int64_t dims[2] = {rows, columns};
  const int rank = rows == 0 ? 1 : 2;
  const size_t bytes = (size_t)((rows == 0 ? 1 : rows) * columns) * sizeof(float);
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims + (2 - rank), rank, bytes);
  memcpy(TF_TensorData(tensor), values, bytes);
  TFE_TensorHandle* handle = TFE_NewTensorHandle(tensor, status);
  Check(status, "a tensor");
  TF_DeleteTensor(tensor);
  return handle;
}

// Runs an op of one output on a device. The attribute T follows from the inputs.
static TFE_TensorHandle* Run(TFE_Context* context, const char* name, const char* device,
                             TFE_TensorHandle** inputs, int count, TF_Status* status) {
  TFE_Op* op = TFE_NewOp(context, name, status);
  Check(status, name);
  TFE_OpSetDevice(op, device, status);
  for (int i = 0; i < count && TF_GetCode(status) == TF_OK; ++i)
    TFE_OpAddInput(op, inputs[i], status);
  Check(status, name);
  TFE_TensorHandle* result = NULL;
  int results = 1;
  TFE_Execute(op, &result, &results, status);
  Check(status, name);
  TFE_DeleteOp(op);
  return result;
}

// Where a value lies and what it is. The value of a device is copied to the host.
static void Print(const char* what, TFE_TensorHandle* handle, TF_Status* status) {
  printf("%s on %s:", what, TFE_TensorHandleBackingDeviceName(handle, status));
  Check(status, what);
  TF_Tensor* tensor = TFE_TensorHandleResolve(handle, status);
  Check(status, what);
  const float* values = TF_TensorData(tensor);
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) printf(" %g", values[i]);
  printf("\n");
  TF_DeleteTensor(tensor);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: eager_apu libapu.so\n");
    return 2;
  }
  // A plug-in is loaded before the context that is to have its devices.
  TF_Status* status = TF_NewStatus();
  TF_Library* plugin = TF_LoadPluggableDeviceLibrary(argv[1], status);
  Check(status, argv[1]);
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, status);
  Check(status, "the context");
  TFE_DeleteContextOptions(options);

  char apu[128];
  FindDevice(context, "APU", apu, status);

  // ApuBiasRelu is an op of the plug-in's own: relu(value + bias). Its inputs are copied to the
  // device first.
  const float values[] = {-2, -1, 0, 1, 2, 3}, bias[] = {1, 0, -1};
  TFE_TensorHandle* inputs[2] = {Floats(values, 2, 3, status), Floats(bias, 0, 3, status)};
  TFE_TensorHandle* relu = Run(context, "ApuBiasRelu", apu, inputs, 2, status);
  Print("relu(value + bias)", relu, status);

  // The device has no kernel for Sum, so the host's is named, and the value goes there.
  TF_Tensor* axis = TF_AllocateTensor(TF_INT32, (const int64_t[]){1}, 1, sizeof(int32_t));
  *(int32_t*)TF_TensorData(axis) = 1;
  TFE_TensorHandle* terms[2] = {relu, TFE_NewTensorHandle(axis, status)};
  TF_DeleteTensor(axis);
  TFE_TensorHandle* sum = Run(context, "Sum", "/device:CPU:0", terms, 2, status);
  Print("sums of its rows", sum, status);

  TFE_TensorHandle* handles[] = {inputs[0], inputs[1], relu, terms[1], sum};
  for (int i = 0; i < 5; ++i) TFE_DeleteTensorHandle(handles[i]);
  TFE_DeleteContext(context);
  TF_DeletePluggableDeviceLibraryHandle(plugin);
  TF_DeleteStatus(status);
  return 0;
}
