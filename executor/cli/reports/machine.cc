#include "executor/cli/reports/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/values/text.h"
#include "graph/base/version.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/usable_cores.h"

namespace tenon::cli {
namespace {

// "Intel(R) Xeon(R) Processor"
std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(':');
    if (colon == line.npos) break;
    return std::string(absl::StripAsciiWhitespace(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

std::string SystemName() {
  utsname names;
  if (uname(&names) != 0) return "";
  return absl::StrCat(names.sysname, " ", names.release, " ", names.machine);
}

}  // namespace

std::string_view IsaName() {
  return cpu::SelectIsa<std::string_view>("baseline", "avx2", "avx512");
}

Json MachineJson() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  Json json = Json::Object();
  json.Set("processor", ProcessorName())
      .Set("cores", DefaultThreads())
      .Set("memory_bytes", pages > 0 && page > 0 ? pages * page : 0)
      .Set("system", SystemName())
      .Set("isa", IsaName())
      .Set("version", Version());
  return json;
}

std::string CommandLineText() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');)
    absl::StrAppend(&text, text.empty() ? "" : " ", ShellWord(word));
  return text;
}

}  // namespace tenon::cli
