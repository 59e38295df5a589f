#include "executor/cli/fault_reproducer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "optimizer_api/plugin_optimizer.h"

namespace tenon::cli {
namespace {

std::atomic<const FaultReproducer*> ready{nullptr};

bool WriteWhole(const char* path, mode_t mode, std::string_view bytes) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return false;
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written <= 0) break;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  close(fd);
  return bytes.empty();
}

}  // namespace

void SetFaultReproducer(const FaultReproducer* reproducer) { ready.store(reproducer); }

void AddFaultReproducer(FaultLine& line) {
  const FaultReproducer* const reproducer = ready.load();
  const std::string* const graph = GraphInPluginPass();
  if (reproducer == nullptr || graph == nullptr) return;
  const bool written = WriteWhole(reproducer->graph_path.c_str(), 0644, *graph) &&
                       WriteWhole(reproducer->script_path.c_str(), 0755, reproducer->script);
  if (!written) return;
  line.Add("; ").Add(reproducer->script_path);
  line.Add(" runs the pass again on the graph that it was given");
}

}  // namespace tenon::cli
