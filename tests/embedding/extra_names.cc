// A plug-in that links to the names outside the C API which published plug-ins want, and registers
// its op only if they answer as they should.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

extern "C" {
int PyRun_SimpleStringFlags(const char* command, void* flags);
void* TFE_NewContextOptions(void);
void TFE_DeleteContextOptions(void* options);
}

namespace tensorflow {
namespace internal {
class LogMessageFatal : public std::basic_ostringstream<char> {
 public:
  LogMessageFatal(const char* file, int line);
  ~LogMessageFatal() override;

 private:
  const char* file_;
  int line_, severity_;
};
}  // namespace internal
namespace port {
enum CPUFeature : int {};
bool TestCPUFeature(CPUFeature feature);
}  // namespace port
}  // namespace tensorflow
namespace tsl::port {
enum CPUFeature : int {};
bool TestCPUFeature(CPUFeature feature);
}  // namespace tsl::port

namespace {

bool EagerIsThere() {
  void* options = TFE_NewContextOptions();
  TFE_DeleteContextOptions(options);
  return options != nullptr;
}

// By their numbers: 2 is SSE2, which every x86-64 has; 4711 is nothing.
bool FeaturesAreKnown() {
  bool known = true;
#ifdef __x86_64__
  known = tsl::port::TestCPUFeature(static_cast<tsl::port::CPUFeature>(2)) &&
          tensorflow::port::TestCPUFeature(static_cast<tensorflow::port::CPUFeature>(2));
#endif
  return known && !tsl::port::TestCPUFeature(static_cast<tsl::port::CPUFeature>(4711));
}

bool FatalMessagesAbortWithTheirText() {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    tensorflow::internal::LogMessageFatal("adapter.cc", 12) << "no adapter " << 7;
    _exit(0);
  }
  close(pipe_ends[1]);
  char text[256] = {};
  const ssize_t size = read(pipe_ends[0], text, sizeof(text) - 1);
  close(pipe_ends[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  return size > 0 && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT &&
         std::strstr(text, "adapter.cc:12] no adapter 7") != nullptr;
}

void Nothing(void*, TF_OpKernelContext*) {}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  const bool right = PyRun_SimpleStringFlags("import os", nullptr) == 0 && EagerIsThere() &&
                     FeaturesAreKnown() && FatalMessagesAbortWithTheirText();
  if (!right) {
    std::fputs("a name outside the C API does not answer as it should\n", stderr);
    return;
  }
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(TF_NewOpDefinitionBuilder("Op_extra_names"), status);
  TF_RegisterKernelBuilder("extra_names",
                           TF_NewKernelBuilder("Op_extra_names", "CPU", nullptr, Nothing, nullptr),
                           status);
  TF_DeleteStatus(status);
}
