#include "executor/cli/faults/plugin_environment.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>

#include "plugin/host/loading/loader.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

// A sanitizer forbids to read the gaps that it leaves between literals. They are read all the same.
#define TENON_READS_LITERALS __attribute__((no_sanitize("address")))

// Variables of the environment that are looked at.
constexpr uint16_t kMaxVariables = 2048;
constexpr size_t kBuckets = 512;
constexpr uint16_t kNone = UINT16_MAX;

// The variables of the environment by name. Lives on the stack of a signal handler, so its size is
// fixed. A hash table, since every literal of the plug-ins is looked up.
class EnvironmentVariables {
 public:
  EnvironmentVariables() {
    std::fill(std::begin(first_), std::end(first_), kNone);
    if (environ == nullptr) return;  // a plug-in has called clearenv
    for (; count_ < kMaxVariables && environ[count_] != nullptr; ++count_) {
      const std::string_view name = Name(count_);
      longest_ = std::max(longest_, name.size());
      uint16_t& first = first_[Bucket(name)];
      next_[count_] = first;
      first = count_;
      read_[count_] = name.starts_with("TENON_") || name.starts_with("TF_CPP_");
    }
  }

  void NoteRead(std::string_view name) {
    if (name.size() > longest_ || Same("_", name)) return;  // the shell sets "_" for each command
    for (uint16_t i = first_[Bucket(name)]; i != kNone; i = next_[i])
      read_[i] = read_[i] || Same(Name(i), name);
  }

  void WriteRead(TextSink sink) const {
    for (uint16_t i = 0; i < count_; ++i) {
      const std::string_view name = Name(i), variable = environ[i];
      if (!read_[i] || name.size() == variable.size()) continue;
      sink.write(sink.to, "export ");
      sink.write(sink.to, name);
      sink.write(sink.to, "='");
      WriteQuoted(variable.substr(name.size() + 1), sink);
      sink.write(sink.to, "'\n");
    }
  }

 private:
  static std::string_view Name(uint16_t i) {
    const std::string_view variable = environ[i];
    return variable.substr(0, variable.find('='));
  }

  TENON_READS_LITERALS static size_t Bucket(std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < name.size(); ++i)
      hash = (hash ^ static_cast<uint8_t>(name.data()[i])) * 0x100000001b3;
    return hash % kBuckets;
  }

  TENON_READS_LITERALS static bool Same(std::string_view name, std::string_view literal) {
    if (name.size() != literal.size()) return false;
    for (size_t i = 0; i < name.size(); ++i) {
      if (name.data()[i] != literal.data()[i]) return false;
    }
    return true;
  }

  static void WriteQuoted(std::string_view value, TextSink sink) {
    for (size_t quote; (quote = value.find('\'')) != value.npos; value.remove_prefix(quote + 1)) {
      sink.write(sink.to, value.substr(0, quote));
      sink.write(sink.to, "'\\''");
    }
    sink.write(sink.to, value);
  }

  uint16_t count_ = 0;
  size_t longest_ = 0;
  uint16_t first_[kBuckets];
  uint16_t next_[kMaxVariables];
  std::bitset<kMaxVariables> read_;
};

// Notes each text that ends in a NUL.
TENON_READS_LITERALS void NoteLiteralsRead(std::string_view memory,
                                           EnvironmentVariables& variables) {
  const char* begin = memory.data();
  const char* const end = begin + memory.size();
  for (const char* p = begin; p != end; ++p) {
    if (*p != '\0') continue;
    if (p != begin) variables.NoteRead({begin, static_cast<size_t>(p - begin)});
    begin = p + 1;
  }
}

struct Search {
  std::vector<std::string> folders;
  std::vector<std::string_view> literals;
};

int NoteLiterals(dl_phdr_info* info, size_t, void* to) {
  Search& search = *static_cast<Search*>(to);
  const std::string folder = fs::path(info->dlpi_name).lexically_normal().parent_path().string();
  if (std::find(search.folders.begin(), search.folders.end(), folder) == search.folders.end())
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_R) == 0) continue;
    search.literals.emplace_back(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr),
                                 header.p_filesz);
  }
  return 0;
}

}  // namespace

std::vector<std::string_view> LiteralsOfPlugins() {
  Search search;
  for (const PluginInfo& plugin : Plugins())
    search.folders.push_back(fs::path(plugin.path).parent_path().string());
  if (!search.folders.empty()) dl_iterate_phdr(NoteLiterals, &search);
  return std::move(search.literals);
}

void WriteEnvironment(absl::Span<const std::string_view> literals, TextSink sink) {
  EnvironmentVariables variables;
  for (const std::string_view memory : literals) NoteLiteralsRead(memory, variables);
  variables.WriteRead(sink);
}

}  // namespace tenon::cli
