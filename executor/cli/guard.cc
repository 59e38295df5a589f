#include "executor/cli/guard.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "executor/cli/exit_code.h"
#include "executor/cli/fault_line.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::cli {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
struct sigaction earlier_actions[std::size(kSignals)];
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

// Not a plug-in's doing: whoever had the signal before (a sanitizer, a debugger's agent) gets it,
// or it kills as it always did.
void PassOn(int signal, siginfo_t* info, void* context) {
  const size_t index = static_cast<size_t>(
      std::find(std::begin(kSignals), std::end(kSignals), signal) - std::begin(kSignals));
  const struct sigaction& before = earlier_actions[index];
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
    return;
  }
  sigaction(signal, &before, nullptr);
  raise(signal);
}

void OnSignal(int signal, siginfo_t* info, void* context) {
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
  PassOn(signal, info, context);
}

void OnExit() {
  const CallbackInfo* call = CurrentCallback();
  if (call != nullptr) EndInPlugin(*call, "exit() was called");
}

// A stack overflow leaves no stack for the handler but this one. For the main thread, where graphs
// are run from.
void UseHandlerStack() {
  stack_t present = {};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0)
    return;  // a sanitizer's
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
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &action, &earlier_actions[i]);
  std::atexit(OnExit);
}

void NotePluginCode(const std::string& path) {
  dl_iterate_phdr(NotePlugin, const_cast<char*>(path.c_str()));
}

}  // namespace tenon::cli
