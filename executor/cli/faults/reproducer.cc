#include "executor/cli/faults/reproducer.h"

#include <farmhash.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "executor/cli/faults/plugin_environment.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon::cli {
namespace {

std::atomic<const Reproducer*> ready{nullptr};

// Whether a whole graph file of this user is there. lstat, since a link of another user could lead
// anywhere.
bool IsThere(const char* path, size_t bytes) {
  struct stat facts;
  return lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
         static_cast<size_t>(facts.st_size) == bytes;
}

// Writes a new file in place of any file of this name, so that no link of another user is followed
// in a folder that all may write to. Removes the file if it is not whole. FileWriter allocates
// memory, which a signal handler must not.
class NewFile {
 public:
  NewFile(const char* path, mode_t mode) : path_(path) {
    unlink(path);
    fd_ = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }
  ~NewFile() {
    if (fd_ >= 0) close(fd_);
    if (failed_) unlink(path_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void Write(std::string_view text) {
    while (ok() && !text.empty()) {
      const ssize_t written = write(fd_, text.data(), text.size());
      failed_ = written <= 0;
      if (!failed_) text.remove_prefix(static_cast<size_t>(written));
    }
  }
  bool ok() const { return fd_ >= 0 && !failed_; }

 private:
  const char* path_;
  int fd_;
  bool failed_ = false;
};

bool WriteScript(const Reproducer& reproducer, const char* path) {
  NewFile file(path, 0755);
  file.Write("#!/bin/sh\n# ");
  file.Write(reproducer.reason);
  file.Write("\n");
  const auto write = [](void* to, std::string_view text) {
    static_cast<NewFile*>(to)->Write(text);
  };
  WriteEnvironment(reproducer.literals, {write, &file});
  file.Write(reproducer.command);
  file.Write("\n");
  return file.ok();
}

bool WriteGraph(std::string_view graph, const char* path) {
  if (IsThere(path, graph.size())) return true;
  NewFile file(path, 0644);
  file.Write(graph);
  return file.ok();
}

}  // namespace

bool WriteReproducer(const Reproducer& reproducer, std::string_view graph, ScriptPath& script) {
  constexpr size_t kDigits = 16, kSuffix = sizeof(".sh");
  if (reproducer.base.size() + 1 + kDigits + kSuffix > sizeof(script.text_)) return false;
  char* end = std::copy(reproducer.base.begin(), reproducer.base.end(), script.text_);
  *end++ = '_';
  uint64_t number = util::Fingerprint64(graph.data(), graph.size());
  for (size_t i = 0; i < kDigits; ++i, number <<= 4) *end++ = "0123456789abcdef"[number >> 60];
  std::strcpy(end, ".pb");
  if (!WriteGraph(graph, script.text_)) return false;
  std::strcpy(end, ".sh");
  return WriteScript(reproducer, script.text_);
}

void SetFaultReproducer(const Reproducer* reproducer) { ready.store(reproducer); }

void AddFaultReproducer(FaultLine& line) {
  const Reproducer* const reproducer = ready.load();
  const std::string* const graph = GraphInPluginPass();
  if (reproducer == nullptr || graph == nullptr) return;
  ScriptPath script;
  if (!WriteReproducer(*reproducer, *graph, script)) return;
  line.Add("; ").Add(script.c_str());
  line.Add(" runs the pass again on the graph that it was given");
}

}  // namespace tenon::cli
