// A count of objects by plug-in whose code is still needed, such as memory that the plug-in must
// free.

#include "graph/c_api/plugin_hold.h"

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace tenon {
namespace {

absl::Mutex mutex(absl::kConstInit);

// The number of holds by the plug-in's path; plug-ins without holds have no entry. Never destroyed:
// tensors may end while static objects of the process are being destroyed.
absl::flat_hash_map<std::string, int>& Holds() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
  static auto* const holds = new absl::flat_hash_map<std::string, int>;
  return *holds;
}

}  // namespace

PluginHold::PluginHold(std::string_view plugin) : plugin_(plugin) {
  if (plugin_.empty()) return;
  absl::MutexLock lock(&mutex);
  ++Holds()[plugin_];
}

PluginHold::~PluginHold() {
  if (plugin_.empty()) return;
  absl::MutexLock lock(&mutex);
  const auto it = Holds().find(plugin_);
  if (--it->second == 0) Holds().erase(it);
}

bool PluginHold::Any(std::string_view plugin) {
  absl::MutexLock lock(&mutex);
  return Holds().contains(plugin);
}

}  // namespace tenon
