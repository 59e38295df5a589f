#include "binary_cache.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

namespace opencl {
namespace {

constexpr char kMagic[8] = {'T', 'N', 'O', 'C', 'L', '0', '0', '1'};

struct Header {
  char magic[8];
  uint64_t key_size, binary_size, checksum;  // of the binary
};

// FNV-1a with 64 bits.
uint64_t Hash(const void* data, size_t size, uint64_t hash = 0xcbf29ce484222325u) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

std::string Folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string own = variable("TENON_OPENCL_CACHE");
  if (own == "off") return "";
  if (!own.empty()) return own;
  const std::string base = variable("XDG_CACHE_HOME");
  if (!base.empty()) return base + "/tenon/opencl";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/tenon/opencl";
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

bool WriteAll(const std::string& path, const std::string& key,
              const std::vector<unsigned char>& binary) {
  const File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return false;
  Header header{{}, key.size(), binary.size(), Hash(binary.data(), binary.size())};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  return std::fwrite(&header, sizeof(header), 1, file.get()) == 1 &&
         std::fwrite(key.data(), 1, key.size(), file.get()) == key.size() &&
         std::fwrite(binary.data(), 1, binary.size(), file.get()) == binary.size() &&
         std::fflush(file.get()) == 0;
}

}  // namespace

BinaryCache::BinaryCache() : folder_(Folder()) {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) folder_.clear();
}

std::string BinaryCache::PathOf(const std::string& key) const {
  char name[48];
  std::snprintf(name, sizeof(name), "/%016llx%016llx.bin",
                static_cast<unsigned long long>(Hash(key.data(), key.size())),
                static_cast<unsigned long long>(Hash(key.data(), key.size(), key.size() + 1)));
  return folder_ + name;
}

std::vector<unsigned char> BinaryCache::Read(const std::string& key) const {
  if (folder_.empty()) return {};
  const std::string path = PathOf(key);
  std::error_code error;
  const uint64_t on_disk = std::filesystem::file_size(path, error);
  if (error) return {};
  const File file(std::fopen(path.c_str(), "rb"));
  Header header;
  if (file == nullptr || std::fread(&header, sizeof(header), 1, file.get()) != 1) return {};
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.key_size != key.size() ||
      header.binary_size > on_disk || sizeof(header) + key.size() + header.binary_size != on_disk)
    return {};
  std::string stored_key(key.size(), '\0');
  std::vector<unsigned char> binary(header.binary_size);
  if (std::fread(stored_key.data(), 1, key.size(), file.get()) != key.size() ||
      std::fread(binary.data(), 1, binary.size(), file.get()) != binary.size())
    return {};
  const bool whole = stored_key == key && Hash(binary.data(), binary.size()) == header.checksum;
  return whole ? binary : std::vector<unsigned char>();
}

void BinaryCache::Write(const std::string& key, const std::vector<unsigned char>& binary) const {
  if (folder_.empty() || binary.empty()) return;
  const std::string path = PathOf(key);
  const size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id());
  const std::string draft =
      path + "." + std::to_string(getpid()) + "." + std::to_string(thread) + ".tmp";
  std::error_code error;
  if (WriteAll(draft, key, binary)) std::filesystem::rename(draft, path, error);
  std::filesystem::remove(draft, error);
}

}  // namespace opencl
