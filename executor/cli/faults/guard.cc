// Handlers of fatal signals, exit and terminate. They find the plug-in that ends the process by the
// callback that the thread is in, or else by the plug-in's code on the thread's stack.

#include "executor/cli/faults/guard.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/back_trace.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/fault_line.h"
#include "executor/cli/faults/illegal_instruction.h"
#include "executor/cli/faults/reproducer.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::cli {
namespace {

struct FatalSignal {
  int number;
  const char* text;
  // Left alone if it has a handler, as a profiler or a parent may use it.
  bool only_if_unused = false;
  struct sigaction earlier = {};
  struct sigaction plugins = {};  // what plug-ins asked for; has effect in their code alone
};
FatalSignal fatal_signals[] = {
    {SIGSEGV, "SIGSEGV (memory that it may not touch)"},
    {SIGBUS, "SIGBUS (memory that is not there)"},
    {SIGFPE, "SIGFPE (arithmetic fault)"},
    {SIGILL, "SIGILL (illegal instruction)"},
    {SIGABRT, "SIGABRT (abort)"},
    {SIGTRAP, "SIGTRAP (breakpoint)"},
    {SIGSYS, "SIGSYS (forbidden system call)"},
    {SIGUSR1, "SIGUSR1 (which nothing handles)", true},
    {SIGUSR2, "SIGUSR2 (which nothing handles)", true},
    {SIGALRM, "SIGALRM (a timer that nothing handles)", true},
    {SIGVTALRM, "SIGVTALRM (a timer that nothing handles)", true},
    {SIGPROF, "SIGPROF (a timer that nothing handles)", true},
};
// Room for the unwinder's frames, a FaultLine and the table of WriteEnvironment.
constexpr size_t kHandlerStackBytes = 64 << 10;

// The process that is guarded; a child that a plug-in forks is not.
pid_t guarded_process = 0;

// The exit code, once the command has done its work; -1 before.
std::atomic<int> work_done{-1};

// Executable pages of plug-ins. Ranges are only added, so that a handler may read them at any time.
struct CodeRange {
  uintptr_t begin = 0, end = 0;
  char path[512] = {};
};
std::array<CodeRange, 128> code_ranges;
std::atomic<size_t> num_code_ranges{0};
char plugin_names[2048];  // "a.so or b.so"

const CodeRange* RangeAt(uintptr_t address) {
  for (size_t i = 0; i < num_code_ranges.load(std::memory_order_acquire); ++i) {
    if (address >= code_ranges[i].begin && address < code_ranges[i].end) return &code_ranges[i];
  }
  return nullptr;
}

// The plug-in with the innermost code on this thread's stack, or null. The unwinder takes no lock,
// allocates nothing, and walks through the frame of a signal.
const char* PluginOnStack() {
  struct Walk {
    const char* path = nullptr;
    int frames_left = 10'000;
  } walk;
  const auto visit = [](_Unwind_Context* frame, void* arg) {
    Walk& walk = *static_cast<Walk*>(arg);
    // A return address may be the first byte behind the function that called.
    const CodeRange* code = RangeAt(_Unwind_GetIP(frame) - 1);
    if (code != nullptr) walk.path = code->path;
    return code != nullptr || --walk.frames_left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
  };
  _Unwind_Backtrace(visit, &walk);
  return walk.path;
}

// A way in which the process is about to end.
struct End {
  const char* what;  // "SIGSEGV (…)"
  bool may_walk;     // whether the stack may be walked
};

// The C library's functions that abort when they find the heap damaged.
constexpr const char* kHeapFunctions[] = {"malloc",         "free",     "calloc",       "realloc",
                                          "posix_memalign", "memalign", "aligned_alloc"};
void* heap_functions[std::size(kHeapFunctions)];

void FindHeapFunctions() {
  std::transform(std::begin(kHeapFunctions), std::end(kHeapFunctions), heap_functions,
                 [](const char* name) { return dlsym(RTLD_NEXT, name); });
}

// Whether this thread is in one of these functions.
bool InHeapFunction() {
  struct Walk {
    bool found = false;
    int frames_left = 50;  // enough for the frames of the signal and the C library
  } walk;
  const auto visit = [](_Unwind_Context* frame, void* arg) {
    Walk& walk = *static_cast<Walk*>(arg);
    auto* const function = reinterpret_cast<void*>(_Unwind_GetRegionStart(frame));
    walk.found = std::find(std::begin(heap_functions), std::end(heap_functions), function) !=
                     std::end(heap_functions) &&
                 function != nullptr;
    return walk.found || --walk.frames_left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
  };
  _Unwind_Backtrace(visit, &walk);
  return walk.found;
}

// Lets one thread end the process, and returns the first reason. A stack that cannot be walked
// raises another signal, which brings the same thread here again.
const char* BeTheOneThatEnds(const End& end) {
  static std::atomic<pid_t> ending{0};
  pid_t first = 0;
  if (!ending.compare_exchange_strong(first, gettid()) && first != gettid()) {
    for (;;) pause();  // another thread writes the message
  }
  static const char* what = nullptr;
  if (what == nullptr) what = end.what;
  return what;
}

[[noreturn]] void EndAfterFault() {
  const int code = work_done;
  EndProcess(code < 0 ? Exit::kPluginFault : static_cast<Exit>(code));
}

// Tells of a fault in the host's own code after plug-ins have run in the process. Writes a line and
// a document, and returns: the signal keeps its effect. A damaged heap ends the process with code
// 5, since the host's own code does not damage it.
void TellOfHost(const End& end) {
  if (*plugin_names == '\0') return;
  const char* const what = BeTheOneThatEnds(end);
  const CallbackInfo last = LastCallback();
  const char* plugin = plugin_names;
  for (size_t i = 0; i < num_code_ranges.load(std::memory_order_acquire); ++i) {
    if (std::strcmp(code_ranges[i].path, last.plugin) == 0) plugin = code_ranges[i].path;
  }
  const bool heap = end.may_walk && InHeapFunction();
  FaultLine line;
  line.Add("plug-in ").Add(plugin).Add(": ").Add(what);
  line.Add(heap ? " where the host takes or gives back memory: the heap is damaged"
                : " in the host's own code");
  if (*last.callback != '\0') line.Add(", after ").Add(last.callback);
  if (end.may_walk) AddBackTrace(line);
  line.Write("INTERNAL");
  if (heap) EndAfterFault();
}

// "plug-in x.so: SIGSEGV (…) in compute_func of node 'y' (at …)", a document, and code 5.
[[noreturn]] void EndInPlugin(const char* plugin, const End& end, const char* where,
                              const CallbackInfo* call) {
  const char* const what = BeTheOneThatEnds(end);
  FaultLine line;
  line.Add("plug-in ").Add(plugin).Add(": ").Add(what).Add(where);
  if (call != nullptr) line.Add(call->callback);
  if (call != nullptr && !call->node.empty()) line.Add(" of node '").Add(call->node).Add("'");
  if (end.may_walk) AddBackTrace(line);
  AddFaultReproducer(line);
  line.Write("INTERNAL");
  EndAfterFault();
}

// Ends the process if a plug-in is the cause of the end that this thread is about to meet; else
// returns. The thread and its stack decide, not the instruction: that is the C library's after
// memcpy, abort or throw.
void EndIfCharged(const End& end) {
  if (getpid() != guarded_process) return;
  const CallbackInfo* call = CurrentCallback();
  if (call != nullptr) EndInPlugin(call->plugin, end, " in ", call);
  const char* on_stack = end.may_walk ? PluginOnStack() : nullptr;
  if (IsHostThread()) {
    const char* const where = work_done < 0 ? " in code outside of any callback"
                                            : " in what it does when the process ends";
    if (on_stack != nullptr) EndInPlugin(on_stack, end, where, nullptr);
    return;
  }
  call = AnyCallback();
  const char* plugin = on_stack != nullptr ? on_stack
                       : call != nullptr   ? call->plugin
                                           : plugin_names;
  if (*plugin == '\0') return;
  if (call != nullptr && std::strcmp(call->plugin, plugin) == 0)
    EndInPlugin(plugin, end, " in a thread of its own, during ", call);
  EndInPlugin(plugin, end, " in a thread of its own", nullptr);
}

// Lets the earlier handler have the signal (a sanitizer's, a debugger's), or restores the default,
// which ends the process.
void PassOn(const FatalSignal& signal, siginfo_t* info, void* context) {
  const struct sigaction& before = signal.earlier;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal.number, info, context);
    return;
  }
  sigaction(signal.number, &before, nullptr);
  raise(signal.number);
}

bool SentByAnotherProcess(const siginfo_t& info) {
  return (info.si_code == SI_USER || info.si_code == SI_QUEUE) && info.si_pid != guarded_process;
}

FatalSignal* FindSignal(int number) {
  auto* const found = std::find_if(std::begin(fatal_signals), std::end(fatal_signals),
                                   [number](const FatalSignal& s) { return s.number == number; });
  return found == std::end(fatal_signals) ? nullptr : found;
}

bool InPluginsCode() { return CurrentCallback() != nullptr || !IsHostThread(); }

// Lets a plug-in's own handler have a signal in the plug-in's code first. Returns whether it dealt
// with the signal. It did not if the same access fails again, or if the signal asks the process to
// end.
bool HandledByPlugin(const FatalSignal& signal, siginfo_t* info, void* context) {
  static thread_local const void* last_address = &fatal_signals;  // an address that no fault has
  const struct sigaction& action = signal.plugins;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || !InPluginsCode())
    return false;
  const bool again =
      info->si_code > 0 && std::exchange(last_address, info->si_addr) == info->si_addr;
  if (again) return false;
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal.number, info, context);
  } else {
    action.sa_handler(signal.number);
  }
  return info->si_code > 0;
}

void OnSignal(int number, siginfo_t* info, void* context) {
  const FatalSignal& signal = *FindSignal(number);
  if (HandledByPlugin(signal, info, context)) return;
  // A signal within the handler means that the stack could not be walked.
  static thread_local bool handling = false;
  const bool may_walk = !std::exchange(handling, true);
  const char* const text =
      number == SIGILL && info->si_code > 0 ? TextOfIllegalInstruction(info->si_addr) : signal.text;
  if (!SentByAnotherProcess(*info)) {
    EndIfCharged({text, may_walk});
    if (getpid() == guarded_process) TellOfHost({text, may_walk});
  }
  PassOn(signal, info, context);
}

void OnExit() { EndIfInPlugin("exit()"); }

std::terminate_handler terminate_before = nullptr;

// Called for an exception that left a static constructor, a thread or a noexcept function, and
// without one, as where a thread that nobody joined is destroyed.
[[noreturn]] void OnTerminate() {
  const std::exception_ptr thrown = std::current_exception();
  char what[256];
  std::strcpy(what, thrown == nullptr ? "std::terminate() was called"
                                      : "threw an exception that nothing caught");
  const size_t size = std::strlen(what);
  try {
    if (thrown != nullptr) std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    std::snprintf(what + size, sizeof(what) - size, " (%s)", e.what());
  } catch (...) {  // NOLINT(bugprone-empty-catch): it has no text to add
  }
  EndIfCharged({what, true});
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

void OnThreadEnd() {
  EndIfCharged({"pthread_exit() or pthread_cancel() on the host's thread", false});
}

// Gives the main thread, which runs graphs, a stack for the handler: after a stack overflow its own
// has no room.
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
  const size_t room = sizeof(plugin_names) - std::strlen(plugin_names) - 1;
  const std::string name = absl::StrCat(*plugin_names == '\0' ? "" : " or ", wanted);
  if (name.size() <= room) std::strcat(plugin_names, name.c_str());
  return 1;
}

}  // namespace

void InstallFaultHandlers(std::string_view command, bool json) {
  PrepareFaultDocument(command, json);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  // A parent may have passed on that it ignores this signal: waitpid would not tell how children
  // end.
  signal(SIGCHLD, SIG_DFL);
  UseHandlerStack();
  guarded_process = getpid();
  MarkHostThread();
  FindHeapFunctions();
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  // SA_NODEFER: a fault in the handler itself must come back here, not kill without a message.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (FatalSignal& signal : fatal_signals) {
    sigaction(signal.number, &action, &signal.earlier);
    const bool taken = signal.earlier.sa_handler != SIG_DFL;
    if (signal.only_if_unused && taken) sigaction(signal.number, &signal.earlier, nullptr);
  }
  terminate_before = std::set_terminate(OnTerminate);
  OnThreadEndedByPlugin(OnThreadEnd);
  std::atexit(OnExit);
  std::at_quick_exit(OnExit);
}

void EndIfInPlugin(const char* call) {
  char what[64] = {};
  std::strncat(what, call, 32);
  EndIfCharged({std::strcat(what, " was called"), true});
}

void WorkIsDone(int code) { work_done = code; }

int CodeOfWorkDone() { return work_done; }

const char* NamesOfPlugins() { return plugin_names; }

bool KeepSignal(int number, const struct sigaction* action, struct sigaction* old) {
  FatalSignal* const signal = FindSignal(number);
  if (getpid() != guarded_process || signal == nullptr || signal->only_if_unused) return false;
  if (!InPluginsCode()) return false;
  if (old != nullptr) *old = signal->plugins;
  if (action != nullptr) signal->plugins = *action;
  return true;
}

void BecomeWorker() {
  DocumentWritten();
  guarded_process = getpid();
}

void NotePluginCode(const std::string& path) {
  dl_iterate_phdr(NotePlugin, const_cast<char*>(path.c_str()));
}

}  // namespace tenon::cli
