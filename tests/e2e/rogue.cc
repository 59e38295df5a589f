// A plug-in that breaks in the way that the environment variable ROGUE names: <place>_<way>.
// Places: load (a constructor), end (a destructor), init (TF_InitKernel), shape (the shape
// function), compute, computed (the end of it), deferred (a thread of its own, while the host waits
// for the kernel), tensor (its deallocator), delete (delete_func), and those of the graph pass:
// pass (its answer), deallocator, destroy. Ways: see Do, SetOutput and Spoil.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace {

// A store that no sanitizer sees coming.
__attribute__((no_sanitize("address", "undefined", "thread"))) void Crash() {
  static int* volatile nowhere = nullptr;
  *nowhere = 1;
}

// Memory of a file that has none.
void ReadBehindTheEnd() {
  void* volatile page = mmap(nullptr, 1, PROT_READ, MAP_SHARED, memfd_create("empty", 0), 0);
  volatile char byte = *static_cast<char*>(page);
  (void)byte;
}

__attribute__((no_sanitize("undefined"))) void Divide() {
  volatile int one = 1, zero = 0;
  volatile int quotient = one / zero;
  (void)quotient;
}

int Overflow(int depth) {
  volatile int frame[1000] = {depth};
  return depth < 0 ? 0 : Overflow(depth + 1) + frame[999];
}

// Writes to memory that is free, so that a later call of malloc finds the heap damaged, and not
// this function. The C library keeps up to seven free blocks of a size in a list of the thread,
// which it checks only when it takes from the list. So many blocks are taken first that none of the
// size is free, here or where the list is filled up from; then the two freed ones go to the list.
// Blocks that are larger than asked for belong to the list of another size.
__attribute__((no_sanitize("address"))) void DamageHeap() {
  for (size_t size = 24; size < 1024; size += 16) {
    void* volatile taken[2] = {};
    for (int i = 0; i < 500; ++i) {
      void* volatile const block = std::malloc(size);
      if (malloc_usable_size(block) != size) continue;
      taken[1] = taken[0];
      taken[0] = block;
    }
    std::free(taken[1]);
    std::free(taken[0]);
    auto* const next = static_cast<volatile uintptr_t*>(taken[0]);
    *next = *next ^ 1;
  }
}

__attribute__((no_sanitize("address"))) void FreeTwice() {
  void* volatile block = std::malloc(32);
  std::free(block);
  std::free(block);
}

// Runs a program on as many arguments in a child process, and ends if the program gets another
// number.
template <size_t... kArguments>
void RunChild(std::index_sequence<kArguments...>) {
  const std::string script = "test $# = " + std::to_string(sizeof...(kArguments));
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", script.c_str(), "sh", (static_cast<void>(kArguments), "x")...,
          nullptr);
    std::abort();
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) std::exit(9);
}

// Starts a program that goes on for a while, and then deletes the file that ROGUE_FILE names.
void StartHelper() {
  if (fork() != 0) return;
  const char* const script = "exec > /dev/null 2>&1; sleep 20; rm -f \"$ROGUE_FILE\"";
  execl("/bin/sh", "sh", "-c", script, nullptr);
  std::abort();
}

// Forks a process that goes on for a while, and then deletes the file that ROGUE_FILE names. It
// closes what the command writes to, of which the command has copies with high numbers.
void ForkHelper() {
  if (fork() != 0) return;
  for (const auto& [first, last] : {std::pair(0, 2), std::pair(600, 700)}) {
    for (int fd = first; fd <= last; ++fd) close(fd);
  }
  sleep(20);
  unlink(std::getenv("ROGUE_FILE"));
  _exit(0);
}

// Writes into every pipe but those of the standard streams.
void WriteIntoPipes(const std::string& bytes) {
  for (int fd = 3; fd < 400; ++fd) {
    struct stat info {};
    if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != 0)
      (void)!write(fd, bytes.data(), bytes.size());
  }
}

void Do(const std::string& way) {
  if (way == "segv") Crash();
  if (way == "memcpy") {
    char text[100];
    void* volatile nowhere = reinterpret_cast<void*>(8);
    std::memcpy(nowhere, text, sizeof(text));
  }
  if (way == "bus") ReadBehindTheEnd();
  if (way == "fpe") Divide();
  if (way == "ill") __builtin_trap();
  if (way == "avx512") asm volatile(".byte 0x62, 0xf1, 0x7c, 0x48, 0x04, 0xc0");  // EVEX, undefined
  if (way == "abort") std::abort();
  if (way == "user_signal") raise(SIGUSR1);
  if (way == "alarm") {
    alarm(1);
    sleep(5);
  }
  if (way == "end_thread") pthread_exit(nullptr);
  if (way == "joinable") std::thread left(pause);
  if (way == "throw") throw std::runtime_error("rogue");
  if (way == "exit") std::exit(0);
  if (way == "quit") _exit(0);
  if (way == "hang") {
    for (;;) pause();
  }
  if (way == "overflow") Overflow(0);
  if (way == "exec") execl("/bin/true", "true", nullptr);
  if (way == "child") RunChild(std::make_index_sequence<1500>());
  if (way == "helper") StartHelper();
  if (way == "forked_helper") ForkHelper();
  if (way == "unheard_segv") {
    std::signal(SIGSEGV, SIG_IGN);
    std::signal(SIGSEGV, SIG_DFL);
    Crash();
  }
  if (way == "handled_segv") {
    static sigjmp_buf out;
    std::signal(SIGSEGV, [](int) { siglongjmp(out, 1); });
    if (sigsetjmp(out, 1) == 0) Crash();
  }
  if (way == "close") {
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
  }
  if (way == "close_all") {
    for (int fd = 1; fd < 400; ++fd) close(fd);
  }
  // A size of 4 GB; a field that reaches beyond its message; half a message. Documents.
  if (way == "pipe_size") WriteIntoPipes("\xff\xff\xff\xff");
  if (way == "pipe_field") WriteIntoPipes(std::string("\4\0\0\0\xf0\xff\xff\x7f", 8));
  if (way == "pipe_part") WriteIntoPipes(std::string("\0\0\0\1", 4));
  if (way == "pipe_json") WriteIntoPipes("{}");
  if (way == "pipe_answer") {
    WriteIntoPipes(R"({"status":{},"devices":1,"structs":[{}],"ops":[],"kernels":[],)"
                   R"("warnings":"","doubts":[]})");
    raise(SIGKILL);
  }
  if (way == "locale" &&
      (std::setlocale(LC_ALL, "") == nullptr || *std::localeconv()->decimal_point != ','))
    std::abort();
  if (way == "round") std::fesetround(FE_DOWNWARD);
  if (way == "heap") DamageHeap();
  if (way == "freed") FreeTwice();
}

// The way wanted at this place; empty: behave.
std::string WayAt(const std::string& place) {
  const char* rogue = std::getenv("ROGUE");
  const std::string wanted = rogue == nullptr ? "" : rogue;
  return wanted.starts_with(place + "_") ? wanted.substr(place.size() + 1) : "";
}

void Misbehave(const std::string& place) {
  const std::string way = WayAt(place);
  if (way.starts_with("thread_")) {
    std::thread(Do, way.substr(7)).join();
  } else {
    Do(way);
  }
}

__attribute__((constructor)) void OnLoad() { Misbehave("load"); }
__attribute__((destructor)) void OnEnd() { Misbehave("end"); }

// 42, in a tensor that is not as it should be.
TF_Tensor* MakeOutput(const std::string& way) {
  alignas(64) static float value = 42;
  void* data = way == "no_data" ? nullptr : &value;
  return TF_NewTensor(
      way == "other_type" ? TF_INT32 : TF_FLOAT, nullptr, 0, data, sizeof(value),
      [](void*, size_t, void*) { Misbehave("tensor"); }, nullptr);
}

void SetOutput(const std::string& way, TF_OpKernelContext* ctx, TF_Status* status) {
  TF_Tensor* out = MakeOutput(way);
  TF_SetOutput(ctx, 0, out, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(out);
  if (way == "twice_deleted") TF_DeleteTensor(out);
}

void Compute(void*, TF_OpKernelContext* ctx) {
  std::puts("a plug-in that talks");
  Misbehave("compute");
  TF_Status* status = TF_NewStatus();
  if (WayAt("compute") == "fail") {
    TF_SetStatus(status, TF_DATA_LOSS, "the board is on fire");
    TF_OpKernelContext_Failure(ctx, status);
  } else if (const std::string way = WayAt("set"); !way.empty() || !WayAt("tensor").empty()) {
    SetOutput(way, ctx, status);
  } else {
    const int64_t dims[] = {1};
    TF_Tensor* out = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 0, sizeof(float), status);
    *static_cast<float*>(TF_TensorData(out)) = 42;
    TF_DeleteTensor(out);
  }
  TF_DeleteStatus(status);
  if (const std::string way = WayAt("deferred"); !way.empty()) {
    TF_IncNumDeferredOps(ctx);
    std::thread([way] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Do(way);
    }).detach();
  }
  Misbehave("computed");
}

void Delete(void*) { Misbehave("delete"); }

void ScalarShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Misbehave("shape");
  if (WayAt("shape") == "refuse") return TF_SetStatus(status, TF_INVALID_ARGUMENT, "not so");
  if (WayAt("shape") == "attr") {
    TF_DataType type;
    TF_ShapeInferenceContext_GetAttrType(context, "no_such_attr", &type, status);
    return;
  }
  TF_ShapeHandle* scalar = TF_ShapeInferenceContextScalar(context);
  TF_ShapeInferenceContextSetOutput(context, 0, scalar, status);
  TF_DeleteShapeHandle(scalar);
}

void Replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The pass's answer: a GraphDef that looks right.
void Spoil(const std::string& way, std::string& graph) {
  if (way == "garbage") graph = "\xff\xff\xff garbage";
  if (way == "job") Replace(graph, "/job:localhost", "/job:elsewhere");
  if (way == "ordinal") Replace(graph, "device:CPU:0", "device:CPU:7");
  // Attributes: key, then a value with `type` (field 6) or `shape` (field 7).
  if (way == "dtype") {
    Replace(graph,
            "\x0a\x05"
            "dtype"
            "\x12\x02\x30\x01",
            "\x0a\x05"
            "dtype"
            "\x12\x02\x30\x02");
    Replace(graph,
            "\x0a\x04SrcT"
            "\x12\x02\x30\x01",
            "\x0a\x04SrcT"
            "\x12\x02\x30\x02");
  }
  if (way == "shape") Replace(graph, "\x3a\x04\x12\x02\x08\x03", "\x3a\x04\x12\x02\x08\x04");
}

void Optimize(void*, const TF_Buffer* in, const TF_GrapplerItem*, TF_Buffer* out, TF_Status*) {
  std::string graph(static_cast<const char*>(in->data), in->length);
  Spoil(WayAt("pass"), graph);
  void* data = std::malloc(graph.size());
  std::memcpy(data, graph.data(), graph.size());
  out->data = data;
  out->length = graph.size();
  if (WayAt("pass") == "long") out->length = SIZE_MAX;
  if (WayAt("pass") == "nowhere") {
    std::free(data);
    out->data = reinterpret_cast<void*>(0x10);
    return;
  }
  // What the host has gets into the hands of whoever is next, or memory is given back twice.
  if (WayAt("pass") == "freed") std::free(data);
  if (WayAt("pass") == "frees_input") std::free(const_cast<void*>(in->data));
  out->data_deallocator = [](void* bytes, size_t) {
    std::free(bytes);
    Misbehave("deallocator");
  };
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel() {
  Misbehave("init");
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("RogueOp");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderSetIsStateful(op, true);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, ScalarShape);
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(op, status);
  TF_OpDefinitionBuilder* named = TF_NewOpDefinitionBuilder("RogueNamed");
  TF_OpDefinitionBuilderAddOutput(named, "y: float");
  TF_OpDefinitionBuilderAddAttr(named, "f: func");
  TF_OpDefinitionBuilderAddAttr(named, "numbers: list(int)");
  TF_RegisterOpDefinition(named, status);
  TF_RegisterKernelBuilder(
      "RogueNamed", TF_NewKernelBuilder("RogueNamed", "CPU", nullptr, Compute, nullptr), status);
  TF_RegisterKernelBuilder("RogueOp",
                           TF_NewKernelBuilder("RogueOp", "CPU", nullptr, Compute, Delete), status);
  TF_DeleteStatus(status);
}

extern "C" __attribute__((visibility("default"))) void TF_InitGraph(
    TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->device_type = "CPU";
  params->optimizer->create_func = [] { return static_cast<void*>(nullptr); };
  params->optimizer->optimize_func = Optimize;
  params->optimizer->destroy_func = [](void*) { Misbehave("destroy"); };
}
