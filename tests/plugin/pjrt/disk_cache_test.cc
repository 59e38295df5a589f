// Programs on disk: what was written is read, and nothing else.
#include "plugin/pjrt/disk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace tenon::pjrt::disk_cache_test {
namespace {

namespace fs = std::filesystem;

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/disk_cache_" + name;
  fs::remove_all(folder);
  return folder;
}

std::string OnlyFile(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 1u);
  return files.empty() ? "" : files[0];
}

TEST(DiskCache, ReadsWhatItWrote) {
  const std::string folder = NewFolder("reads");
  const DiskCache cache(folder);
  EXPECT_FALSE(cache.Read("key"));
  const std::string bytes("a\0b and more", 12);
  cache.Write("key", bytes);
  EXPECT_EQ(cache.Read("key"), bytes);
  EXPECT_EQ(DiskCache(folder).Read("key"), bytes);
  EXPECT_FALSE(cache.Read("other key"));
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
}

TEST(DiskCache, TrustsNoByteThatIsNotItsOwn) {
  const std::string folder = NewFolder("trusts");
  const DiskCache cache(folder);
  cache.Write("key", "the bytes of a program");
  const std::string path = OnlyFile(folder);
  std::ifstream in(path, std::ios::binary);
  const std::string right{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (size_t i = 0; i < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x10);
    std::ofstream(path, std::ios::binary) << wrong;
    EXPECT_FALSE(cache.Read("key")) << "byte " << i;
    std::ofstream(path, std::ios::binary) << right.substr(0, i);
    EXPECT_FALSE(cache.Read("key")) << i << " bytes";
  }
  cache.Write("key", "anew");
  EXPECT_EQ(cache.Read("key"), "anew");
}

TEST(DiskCache, WithoutAFolderKeepsNothing) {
  ::testing::internal::CaptureStderr();
  const DiskCache none(""), file("/proc/version/folder");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("the folder '/proc/version/folder' cannot be made: "));
  for (const DiskCache* cache : {&none, &file}) {
    cache->Write("key", "bytes");
    EXPECT_FALSE(cache->Read("key"));
  }
}

TEST(DiskCache, MayBeWrittenByMany) {
  const std::string folder = NewFolder("many");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const DiskCache cache(folder);
      for (int k = 0; k < 100; ++k) {
        cache.Write("key", std::string(1000, static_cast<char>('a' + i)));
        const auto read = cache.Read("key");
        ASSERT_TRUE(read);
        EXPECT_EQ(*read, std::string(1000, read->front()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  OnlyFile(folder);
}

}  // namespace
}  // namespace tenon::pjrt::disk_cache_test
