// TensorFlow's cases for files, time and threads in the C API.
#include "tensorflow/c/env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/plugin/host/c_api/kernel_node_util.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

using testing::S;

TEST(TestEnv, TestDirHandling) {
  S status;
  TF_StringStream* dirs = TF_GetLocalTempDirectories();
  const char* dir = nullptr;
  ASSERT_TRUE(TF_StringStreamNext(dirs, &dir));
  const std::string root = std::string(dir) + "/tenon_env_test_" + std::to_string(TF_NowNanos());
  TF_StringStreamDone(dirs);
  TF_CreateDir(root.c_str(), status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  TF_CreateDir(root.c_str(), status);
  EXPECT_EQ(status.code(), TF_ALREADY_EXISTS);
  const std::string file = root + "/file";
  TF_WritableFileHandle* handle = nullptr;
  TF_NewWritableFile(file.c_str(), &handle, status);
  ASSERT_EQ(status.code(), TF_OK);
  TF_AppendWritableFile(handle, "testdata", 8, status);
  EXPECT_EQ(status.code(), TF_OK);
  TF_FlushWritableFile(handle, status);
  TF_SyncWritableFile(handle, status);
  EXPECT_EQ(status.code(), TF_OK);
  TF_CloseWritableFile(handle, status);
  EXPECT_EQ(status.code(), TF_OK);
  TF_FileStatistics stats;
  TF_FileStat(file.c_str(), &stats, status);
  EXPECT_EQ(stats.length, 8);
  EXPECT_FALSE(stats.is_directory);
  TF_StringStream* children = TF_GetChildren(root.c_str(), status);
  const char* child = nullptr;
  ASSERT_TRUE(TF_StringStreamNext(children, &child));
  EXPECT_STREQ(child, "file");
  EXPECT_FALSE(TF_StringStreamNext(children, &child));
  EXPECT_EQ(child, nullptr);
  TF_StringStreamDone(children);
  int64_t files = -1;
  int64_t directories = -1;
  TF_DeleteRecursively(root.c_str(), &files, &directories, status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(files, 0);
  EXPECT_EQ(directories, 0);
  TF_DeleteFile(file.c_str(), status);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  TF_StringStream* none = TF_GetChildren(root.c_str(), status);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  EXPECT_FALSE(TF_StringStreamNext(none, &child));
  TF_StringStreamDone(none);
}

TEST(TestEnv, DeleteRecursivelyOfAFile) {
  char* name = TF_GetTempFileName("txt");
  S status;
  int64_t files = -1, directories = -1;
  TF_DeleteRecursively(name, &files, &directories, status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(files, 0);
  EXPECT_EQ(directories, 0);
  TF_DeleteFile(name, status);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  free(name);
}

TEST(TestEnv, DeleteRecursivelyOfALink) {
  const testing::OwnFolder folder;
  const std::filesystem::path root = folder.path() / "linked";
  std::filesystem::create_directories(root / "kept");
  std::filesystem::create_directory_symlink(root, root.string() + "_link");
  S status;
  int64_t files = -1, directories = -1;
  TF_DeleteRecursively((root.string() + "_link").c_str(), &files, &directories, status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(files, 0);
  EXPECT_EQ(directories, 0);
  EXPECT_FALSE(std::filesystem::is_symlink(root.string() + "_link"));
  EXPECT_TRUE(std::filesystem::exists(root / "kept"));
}

TEST(TestEnv, TempFileName) {
  char* name = TF_GetTempFileName("txt");
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(std::string(name).substr(std::string(name).size() - 4), ".txt");
  S status;
  TF_DeleteFile(name, status);
  EXPECT_EQ(status.code(), TF_OK);
  free(name);
}

TEST(TestEnv, TestTimeFunctions) {
  const uint64_t seconds_of_2000 = 946684800;
  EXPECT_GT(TF_NowSeconds(), seconds_of_2000);
  EXPECT_GT(TF_NowMicros(), seconds_of_2000 * 1000000);
  EXPECT_GT(TF_NowNanos(), seconds_of_2000 * 1000000000);
}

TEST(TestEnv, TestThreads) {
  TF_ThreadOptions options;
  TF_DefaultThreadOptions(&options);
  EXPECT_EQ(options.stack_size, 0u);
  EXPECT_EQ(options.guard_size, 0u);
  EXPECT_EQ(options.numa_node, -1);
  int value = 0;
  TF_Thread* thread = TF_StartThread(
      &options, "a_thread_with_a_long_name", [](void* v) { *static_cast<int*>(v) = 5; }, &value);
  TF_JoinThread(thread);
  EXPECT_EQ(value, 5);
}

TEST(TestEnv, SharedLibraries) {
  S status;
  EXPECT_EQ(TF_LoadSharedLibrary("/nonexistent.so", status), nullptr);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  EXPECT_NE(TF_LoadSharedLibrary(nullptr, status), nullptr) << "the program";
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  void* libc = TF_LoadSharedLibrary("libc.so.6", status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_NE(TF_GetSymbolFromLibrary(libc, "malloc", status), nullptr);
  EXPECT_EQ(TF_GetSymbolFromLibrary(libc, "no_such_symbol", status), nullptr);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
  EXPECT_NE(TF_GetSymbolFromLibrary(nullptr, "malloc", status), nullptr) << "the program";
  int no_library = 0;
  EXPECT_EQ(TF_GetSymbolFromLibrary(&no_library, "malloc", status), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tenon
