#include "plugin/host/link/library_search.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

namespace fs = std::filesystem;

TEST(LibrarySearch, ANameWithASlashIsAPathFromTheWorkingFolder) {
  const fs::path file =
      fs::path(::testing::TempDir()) / ("library_search_" + std::to_string(getpid()) + ".so");
  std::ofstream(file) << "a library";
  const LibrarySearch search;
  const std::string relative = fs::relative(file);
  ASSERT_NE(relative.find('/'), std::string::npos);
  EXPECT_EQ(search.Find(relative, "/nowhere/libx.so", ""), relative);
  EXPECT_EQ(search.Find(file.string(), "/nowhere/libx.so", ""), file.string());
  EXPECT_EQ(search.Find("$ORIGIN/" + file.filename().string(), file, ""), file.string());
  EXPECT_EQ(search.Find("nowhere/libx.so", file, file.parent_path().string()), "");
  fs::remove(file);
}

}  // namespace
}  // namespace tenon
