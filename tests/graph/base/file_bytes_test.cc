// Files that are not regular: pipes are read, devices without an end are not.
#include "graph/base/file_bytes.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "gmock/gmock.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

using FileBytesTest = testing::FolderTest;

TEST_F(FileBytesTest, RefusesDevicesThatMayHaveNoEnd) {
  for (const std::string path : {"/dev/zero", "/dev/urandom"}) {
    const absl::Status status = ReadFile(path, SIZE_MAX).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), path + ": is a device, not a file or a pipe");
  }
  const auto null = ReadFile("/dev/null", SIZE_MAX);
  ASSERT_TRUE(null.ok()) << null.status();
  EXPECT_EQ(null->bytes, "");
}

TEST_F(FileBytesTest, ReadsPipesUpToTheLimit) {
  const std::string pipe = Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const size_t size : {size_t{0}, size_t{7}, size_t{300000}}) {
    std::string text(size, 'x');
    if (size > 0) text.back() = 'y';
    std::thread writer([&] { std::ofstream(pipe) << text; });
    const auto read = ReadFile(pipe, SIZE_MAX);
    writer.join();
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(read->bytes == text) << read->bytes.size();
    EXPECT_FALSE(read->mapped);
  }
  std::thread writer([&] { std::ofstream(pipe) << "12345678"; });
  EXPECT_EQ(ReadFile(pipe, 7).status().message(),
            pipe + ": the file is larger than the limit of 7 bytes");
  writer.join();
}

}  // namespace
}  // namespace tenon
