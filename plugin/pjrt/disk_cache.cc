#include "plugin/pjrt/disk_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::pjrt {
namespace {

namespace fs = std::filesystem;

constexpr char kFileMagic[8] = {'t', 'n', 'p', 'j', 'r', 't', '0', '1'};

struct FileHead {
  char magic[sizeof(kFileMagic)];
  uint64_t key_size, size, checksum;
};

// Mixes eight bytes at a time; not for foes, who cannot write into the folder.
uint64_t HashOfBytes(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t hash = seed ^ (bytes.size() * kFactor);
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t n = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), n);
    bytes.remove_prefix(n);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

DiskCache::DiskCache(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code error;
  if (fs::create_directories(folder_, error)) {
    fs::permissions(folder_, fs::perms::owner_all, error);
  } else if (error) {
    WarnOf(absl::UnavailableError(absl::StrCat("compiled programs are not kept: the folder '",
                                               folder_, "' cannot be made: ", error.message())));
    folder_.clear();
  }
}

std::string DiskCache::PathOf(std::string_view key) const {
  return absl::StrCat(folder_, "/", absl::Hex(HashOfBytes(key, 1), absl::kZeroPad16),
                      absl::Hex(HashOfBytes(key, 2), absl::kZeroPad16), ".pjrt");
}

std::optional<std::string> DiskCache::Read(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(PathOf(key), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  FileHead head;
  if (all.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, all.data(), sizeof(head));
  const std::string_view rest = std::string_view(all).substr(sizeof(head));
  const bool whole = std::memcmp(head.magic, kFileMagic, sizeof(kFileMagic)) == 0 &&
                     head.key_size == key.size() && head.key_size <= rest.size() &&
                     head.size == rest.size() - key.size() && rest.substr(0, key.size()) == key &&
                     HashOfBytes(rest.substr(key.size()), 3) == head.checksum;
  if (!whole) return std::nullopt;
  return std::string(rest.substr(key.size()));
}

void DiskCache::Write(std::string_view key, std::string_view bytes) const {
  if (folder_.empty()) return;
  static std::atomic<int> drafts{0};
  const std::string path = PathOf(key);
  const std::string draft = absl::StrCat(path, ".", getpid(), ".", drafts++, ".tmp");
  FileHead head{{}, key.size(), bytes.size(), HashOfBytes(bytes, 3)};
  std::memcpy(head.magic, kFileMagic, sizeof(kFileMagic));
  std::ofstream file(draft, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&head), sizeof(head));
  file.write(key.data(), static_cast<std::streamsize>(key.size()));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) fs::rename(draft, path, error);
  if (!file || error) {
    WarnOf(absl::UnavailableError(
        absl::StrCat("a compiled program cannot be kept in the folder '", folder_, "'")));
  }
  fs::remove(draft, error);
}

std::string IdentityOfFile(const std::string& path) {
  constexpr size_t kFirstBytes = size_t{64} << 10;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return path;
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  std::string first(kFirstBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return absl::StrCat(size, ".", time, ".", absl::Hex(HashOfBytes(first, 4)));
}

}  // namespace tenon::pjrt
