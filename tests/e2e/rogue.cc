// A plug-in that breaks in the way that the environment variable ROGUE names: <place>_<how>.
// Places: load (a constructor), init (TF_InitKernel), compute. Ways: segv, abort, hang, exit,
// overflow, fail, thread.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace {

// A store that no sanitizer sees coming.
__attribute__((no_sanitize("address", "undefined", "thread"))) void Crash() {
  static int* volatile nowhere = nullptr;
  *nowhere = 1;
}

int Overflow(int depth) {
  volatile int frame[1000] = {depth};
  return depth < 0 ? 0 : Overflow(depth + 1) + frame[999];
}

void* CrashOnThread(void*) {
  Crash();
  return nullptr;
}

void Misbehave(const std::string& place) {
  const char* rogue = std::getenv("ROGUE");
  const std::string wanted = rogue == nullptr ? "" : rogue;
  if (wanted == place + "_segv") Crash();
  if (wanted == place + "_abort") std::abort();
  if (wanted == place + "_exit") std::exit(0);
  if (wanted == place + "_hang") {
    for (;;) pause();
  }
  if (wanted == place + "_overflow") Overflow(0);
  if (wanted == place + "_thread") {
    pthread_t thread;
    pthread_create(&thread, nullptr, CrashOnThread, nullptr);
    pthread_join(thread, nullptr);
  }
}

__attribute__((constructor)) void OnLoad() { Misbehave("load"); }

void Compute(void*, TF_OpKernelContext* ctx) {
  std::puts("a plug-in that talks");
  Misbehave("compute");
  TF_Status* status = TF_NewStatus();
  const char* rogue = std::getenv("ROGUE");
  if (rogue != nullptr && std::strcmp(rogue, "compute_fail") == 0) {
    TF_SetStatus(status, TF_DATA_LOSS, "the board is on fire");
    TF_OpKernelContext_Failure(ctx, status);
  } else {
    const int64_t dims[] = {1};
    TF_Tensor* out = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 0, sizeof(float), status);
    *static_cast<float*>(TF_TensorData(out)) = 42;
    TF_DeleteTensor(out);
  }
  TF_DeleteStatus(status);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel() {
  Misbehave("init");
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("RogueOp");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderSetIsStateful(op, true);
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(
      "RogueOp", TF_NewKernelBuilder("RogueOp", "CPU", nullptr, Compute, nullptr), status);
  TF_DeleteStatus(status);
}
