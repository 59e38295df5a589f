#include "executor/api/session/run_names.h"

#include <cstring>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace tenon::api {
namespace {

struct Block {
  size_t size;
  std::unique_ptr<char[]> text;
};

struct RunNames {
  absl::Mutex mutex;
  absl::flat_hash_map<const char*, Block> used ABSL_GUARDED_BY(mutex);
  std::multimap<size_t, Block> idle ABSL_GUARDED_BY(mutex);  // by size
};

// Never destroyed: programs delete names while the process ends.
RunNames& TheNames() {
  static auto* const names = new RunNames;
  return *names;
}

}  // namespace

const char* NewRunName(const std::string& text) {
  RunNames& names = TheNames();
  const size_t size = text.size() + 1;
  Block block{size, nullptr};
  absl::MutexLock lock(&names.mutex);
  const auto fits = names.idle.lower_bound(size);
  if (fits == names.idle.end()) {
    block.text = std::make_unique<char[]>(size);
  } else {
    block = std::move(fits->second);
    names.idle.erase(fits);
  }
  char* const address = block.text.get();
  std::memcpy(address, text.c_str(), size);
  names.used.emplace(address, std::move(block));
  return address;
}

bool DeleteRunName(const char* text) {
  RunNames& names = TheNames();
  absl::MutexLock lock(&names.mutex);
  const auto found = names.used.find(text);
  if (found == names.used.end()) return false;
  Block block = std::move(found->second);
  names.used.erase(found);
  block.text[0] = '\0';
  names.idle.emplace(block.size, std::move(block));
  return true;
}

}  // namespace tenon::api
