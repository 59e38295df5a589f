#include "executor/cli/guard.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "executor/cli/exit_code.h"
#include "executor/cli/fault_line.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::cli {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kHandlerStackBytes = 64 << 10;

// Executable pages of plug-ins, and of ourselves (no path). Only ever grows; the handler reads what
// is there.
struct CodeRange {
  uintptr_t begin = 0, end = 0;
  char path[512] = {};
};
std::array<CodeRange, 128> code_ranges;
std::atomic<size_t> num_code_ranges{0};

const CodeRange* RangeAt(uintptr_t address) {
  for (size_t i = 0; i < num_code_ranges.load(std::memory_order_acquire); ++i) {
    if (address >= code_ranges[i].begin && address < code_ranges[i].end) return &code_ranges[i];
  }
  return nullptr;
}

const char* SignalText(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV (memory that it may not touch)";
    case SIGBUS:
      return "SIGBUS (memory that is not there)";
    case SIGFPE:
      return "SIGFPE (arithmetic fault)";
    case SIGILL:
      return "SIGILL (illegal instruction)";
    default:
      return "SIGABRT (abort)";
  }
}

uintptr_t FaultAddress(void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  (void)context;
  return 0;
#endif
}

[[noreturn]] void EndInPlugin(const CallbackInfo& call, const char* what) {
  FaultLine line;
  line.Add("plug-in ").Add(call.plugin).Add(": ").Add(what).Add(" in ").Add(call.callback);
  if (*call.node != '\0') line.Add(" of node '").Add(call.node).Add("'");
  line.Write("INTERNAL");
  _exit(static_cast<int>(Exit::kPluginFault));
}

void OnSignal(int signal, siginfo_t*, void* context) {
  const CallbackInfo* call = CurrentCallback();
  if (call != nullptr) EndInPlugin(*call, SignalText(signal));
  const CodeRange* code = RangeAt(FaultAddress(context));
  if (code != nullptr && code->path[0] != '\0') {
    EndInPlugin({code->path, "a thread of its own", ""}, SignalText(signal));
  }
  // Foreign code on a foreign thread while a plug-in is being called: a thread that it started, of
  // a library not noted yet.
  const CallbackInfo* any = code == nullptr ? AnyCallback() : nullptr;
  if (any != nullptr)
    EndInPlugin({any->plugin, "a thread of its own", any->node}, SignalText(signal));
  // Not a plug-in's doing: die of it as if there were no handler.
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  raise(signal);
}

void OnExit() {
  const CallbackInfo* call = CurrentCallback();
  if (call != nullptr) EndInPlugin(*call, "exit() was called");
}

// A stack overflow leaves no stack for the handler but this one. For the main thread, where graphs
// are run from.
void UseHandlerStack() {
  void* memory =
      mmap(nullptr, kHandlerStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kHandlerStackBytes;
  sigaltstack(&stack, nullptr);
}

void NoteRanges(const dl_phdr_info& info, const char* path) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const size_t next = num_code_ranges.load(std::memory_order_relaxed);
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || next == code_ranges.size())
      continue;
    CodeRange& range = code_ranges[next];
    range.begin = info.dlpi_addr + header.p_vaddr;
    range.end = range.begin + header.p_memsz;
    std::strncpy(range.path, path, sizeof(range.path) - 1);
    num_code_ranges.store(next + 1, std::memory_order_release);
  }
}

int NotePlugin(dl_phdr_info* info, size_t, void* path) {
  const char* wanted = static_cast<const char*>(path);
  if (std::strcmp(info->dlpi_name, wanted) != 0) return 0;
  NoteRanges(*info, wanted);
  return 1;
}

// What is loaded before any plug-in: the program, libtenon, the C library.
int NoteOwn(dl_phdr_info* info, size_t, void*) {
  NoteRanges(*info, "");
  return 0;
}

}  // namespace

void InstallFaultHandlers(std::string_view command, bool json) {
  PrepareFaultDocument(command, json);
  signal(SIGPIPE, SIG_IGN);
  UseHandlerStack();
  dl_iterate_phdr(NoteOwn, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
  std::atexit(OnExit);
}

void NotePluginCode(const std::string& path) {
  dl_iterate_phdr(NotePlugin, const_cast<char*>(path.c_str()));
}

}  // namespace tenon::cli
