// Tests that write files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace tenon::testing {

// An empty folder that no other test and no other process has, without links in its path. The
// folder goes with the object.
class OwnFolder {
 public:
  OwnFolder();
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Each test has an empty folder of its own.
class FolderTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const { return (folder_ / name).string(); }
  // The path of a new file.
  std::string Write(std::string_view name, std::string_view text) const;

  const OwnFolder own_;
  const std::filesystem::path& folder_ = own_.path();
};

}  // namespace tenon::testing
