#define _GNU_SOURCE
// embedding_host LIBTENON PLUGIN: opens the library without making its symbols global, loads the
// plug-in, and looks for its kernel.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"

// The functions of the library that the program uses, by their names.
#define LIBRARY_FUNCTIONS(F)                                                                    \
  F(TF_NewStatus)                                                                               \
  F(TF_GetCode) F(TF_Message) F(TF_LoadPluggableDeviceLibrary) F(TF_GetOpList)                  \
      F(TF_GetAllRegisteredKernels) F(TF_DeleteBuffer) F(TF_DeletePluggableDeviceLibraryHandle) \
          F(TF_DeleteStatus)

#define DECLARE(name) static __typeof__(&name) p_##name;
LIBRARY_FUNCTIONS(DECLARE)

static int Contains(const void* bytes, size_t size, const char* text) {
  return memmem(bytes, size, text, strlen(text)) != NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
#define FIND(name)                            \
  *(void**)&p_##name = dlsym(library, #name); \
  if (p_##name == NULL) return fprintf(stderr, "no %s\n", #name), 1;
  LIBRARY_FUNCTIONS(FIND)

  TF_Status* status = p_TF_NewStatus();
  TF_Library* plugin = p_TF_LoadPluggableDeviceLibrary(argv[2], status);
  if (plugin == NULL) return fprintf(stderr, "%s\n", p_TF_Message(status)), 1;
  TF_Buffer ops = p_TF_GetOpList(plugin);
  if (!Contains(ops.data, ops.length, "Op_"))
    return fprintf(stderr, "the op is not in the list\n"), 1;
  TF_Buffer* kernels = p_TF_GetAllRegisteredKernels(status);
  if (!Contains(kernels->data, kernels->length, "Op_"))
    return fprintf(stderr, "the kernel is not in the list\n"), 1;
  p_TF_DeleteBuffer(kernels);
  p_TF_DeletePluggableDeviceLibraryHandle(plugin);
  p_TF_DeleteStatus(status);
  return 0;
}
