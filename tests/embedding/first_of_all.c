#define _GNU_SOURCE
// first_of_all PLUGIN: opens a plug-in that registers an op in its constructor before it calls
// anything of the library, which it is linked with.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  TF_Buffer* ops = TF_GetAllOpList();
  const char op[] = "ConstructorOp_";
  const int found = memmem(ops->data, ops->length, op, strlen(op)) != NULL;
  TF_DeleteBuffer(ops);
  if (!found) fprintf(stderr, "the op is not in the list\n");
  return !found;
}
