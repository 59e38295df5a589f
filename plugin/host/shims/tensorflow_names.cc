// The C++ names of TensorFlow that published plug-ins link to: LogMessageFatal, in which LOG(FATAL)
// and CHECK of DirectML's end, and TestCPUFeature, for AMD's, before and after it moved to tsl.
#include <cpuid.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#pragma GCC visibility push(default)

namespace tensorflow::internal {

// The caller has room for TensorFlow's object of this name, and streams into its first base. So the
// class must not be larger than TensorFlow's, and its first base must be the stream.
class LogMessageFatal : public std::basic_ostringstream<char> {
 public:
  LogMessageFatal(const char* file, int line);
  ~LogMessageFatal() override;

 private:
  const char* file_;
  int line_;
};

LogMessageFatal::LogMessageFatal(const char* file, int line) : file_(file), line_(line) {}

LogMessageFatal::~LogMessageFatal() {
  std::fprintf(stderr, "F %s:%d] %s\n", file_, line_, str().c_str());
  std::abort();
}

}  // namespace tensorflow::internal

#pragma GCC visibility pop

namespace {

// Whether a program may use a feature, by its number in TensorFlow's enum CPUFeature. A feature
// that the processor lacks, that the system does not allow, or that is not in the list is absent.
bool HasFeature(int feature) {
#ifdef __x86_64__
  __builtin_cpu_init();
  unsigned a = 0, b = 0, c = 0, d = 0;
  switch (feature) {
#define TENON_FEATURE(number, name) \
  case number:                      \
    return __builtin_cpu_supports(name) != 0
    TENON_FEATURE(0, "mmx");
    TENON_FEATURE(1, "sse");
    TENON_FEATURE(2, "sse2");
    TENON_FEATURE(3, "sse3");
    TENON_FEATURE(4, "ssse3");
    TENON_FEATURE(5, "sse4.1");
    TENON_FEATURE(6, "sse4.2");
    TENON_FEATURE(7, "cmov");
    TENON_FEATURE(8, "cmpxchg8b");
    TENON_FEATURE(9, "cmpxchg16b");
    TENON_FEATURE(10, "popcnt");
    TENON_FEATURE(11, "aes");
    TENON_FEATURE(12, "avx");
    TENON_FEATURE(13, "rdrnd");
    TENON_FEATURE(14, "avx2");
    TENON_FEATURE(15, "fma");
    TENON_FEATURE(16, "f16c");
    TENON_FEATURE(17, "pclmul");
    TENON_FEATURE(18, "rdseed");
    TENON_FEATURE(19, "adx");
    TENON_FEATURE(21, "prefetchwt1");
    TENON_FEATURE(22, "bmi");
    TENON_FEATURE(23, "bmi2");
    TENON_FEATURE(26, "prfchw");
    TENON_FEATURE(27, "avx512f");
    TENON_FEATURE(28, "avx512cd");
    TENON_FEATURE(29, "avx512er");
    TENON_FEATURE(30, "avx512pf");
    TENON_FEATURE(31, "avx512vl");
    TENON_FEATURE(32, "avx512bw");
    TENON_FEATURE(33, "avx512dq");
    TENON_FEATURE(34, "avx512vbmi");
    TENON_FEATURE(35, "avx512ifma");
    TENON_FEATURE(36, "avx5124vnniw");
    TENON_FEATURE(37, "avx5124fmaps");
    TENON_FEATURE(38, "avx512vnni");
    TENON_FEATURE(39, "avx512bf16");
    TENON_FEATURE(40, "avxvnni");
    TENON_FEATURE(41, "amx-tile");
    TENON_FEATURE(42, "amx-int8");
    TENON_FEATURE(43, "amx-bf16");
    TENON_FEATURE(44, "avx512fp16");
#undef TENON_FEATURE
    case 20:  // SMAP
      return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & 1u << 20) != 0;
    case 25:  // a hypervisor is there
      return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & 1u << 31) != 0;
  }
#endif
  return false;
}

}  // namespace

#pragma GCC visibility push(default)

namespace tsl::port {
enum CPUFeature : int;
bool TestCPUFeature(CPUFeature feature) { return HasFeature(feature); }
}  // namespace tsl::port

namespace tensorflow::port {
enum CPUFeature : int;
bool TestCPUFeature(CPUFeature feature) { return HasFeature(feature); }
}  // namespace tensorflow::port

#pragma GCC visibility pop
