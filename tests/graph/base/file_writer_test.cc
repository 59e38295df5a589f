#include "graph/base/file_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string Content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

mode_t Permissions(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

// While it lives, no file of this process grows beyond so many bytes, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  const sighandler_t handler_;
  rlimit before_{};
};

class FileWriterTest : public testing::FolderTest {
 protected:
  std::ptrdiff_t NumFiles() const { return std::distance(fs::directory_iterator(folder_), {}); }
};

TEST_F(FileWriterTest, SmallAndLargePiecesComeOutInOrder) {
  const std::string path = Path("file"), large(200'000, 'x');
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::string all;
  for (int i = 0; i < 20'000; ++i) {
    const std::string piece = i % 7'000 == 0 ? large : absl::StrCat(i, ",");
    ASSERT_TRUE(file->Write(piece).ok());
    all += piece;
  }
  FileWriter moved = *std::move(file);
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(moved.Finish().ok());
  EXPECT_EQ(Content(path), all);
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(FileWriterTest, AFullDiskLeavesWhatWasThere) {
  const std::string path = Write("file", "old");
  const SmallDisk disk(100'000);
  EXPECT_TRUE(WriteFile(Path("other"), std::string(99'999, 'x')).ok());
  for (const size_t piece : {size_t{10}, size_t{200'000}}) {
    absl::StatusOr<FileWriter> file = FileWriter::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    absl::Status written;
    for (size_t size = 0; size < 200'000; size += piece)
      written = file->Write(std::string(piece, 'x'));
    EXPECT_EQ(written.message(), path + ": cannot be written: File too large");
    EXPECT_EQ(file->Finish(), written);
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(NumFiles(), 2);
}

TEST_F(FileWriterTest, AWriterThatIsDroppedLeavesWhatWasThere) {
  const std::string path = Write("file", "old");
  {
    absl::StatusOr<FileWriter> file = FileWriter::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->Write("new").ok());
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(NumFiles(), 1);
}

// Whether files without names may be made here.
bool HasNamelessFiles(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

TEST_F(FileWriterTest, AProcessThatIsKilledLeavesNothing) {
  if (!HasNamelessFiles(folder_)) GTEST_SKIP() << "the file system has no files without names";
  const std::string path = Write("file", "old");
  const auto write_and_die = [&](int signal) {
    absl::StatusOr<FileWriter> file = FileWriter::Create(path);
    if (file.ok() && file->Write(std::string(200'000, 'x')).ok()) kill(getpid(), signal);
    _exit(1);
  };
  for (const int signal : {SIGTERM, SIGKILL}) {
    const pid_t child = fork();
    if (child == 0) write_and_die(signal);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(NumFiles(), 1);
  }
  EXPECT_EQ(Content(path), "old");
}

// Who has the old file open or mapped keeps it.
TEST_F(FileWriterTest, AReaderKeepsTheOldFile) {
  const std::string path = Write("file", "old");
  std::ifstream reader(path);
  ASSERT_TRUE(WriteFile(path, "new").ok());
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
  EXPECT_EQ(Content(path), "new");
}

TEST_F(FileWriterTest, PermissionsAreTheOldFilesOrThoseOfNewFiles) {
  const mode_t before = umask(027);
  const bool is_new = WriteFile(Path("new"), "x").ok();
  umask(before);
  ASSERT_TRUE(is_new);
  EXPECT_EQ(Permissions(Path("new")), mode_t{0640});
  const std::string script = Write("script", "old");
  ASSERT_EQ(chmod(script.c_str(), 0754), 0);
  ASSERT_TRUE(WriteFile(script, "new").ok());
  EXPECT_EQ(Permissions(script), mode_t{0754});
  EXPECT_EQ(Content(script), "new");
}

TEST_F(FileWriterTest, LinksStayAndLeadToTheNewFile) {
  fs::create_directory(folder_ / "data");
  Write("data/file", "old");
  fs::create_symlink("data/file", folder_ / "near");
  fs::create_symlink(folder_ / "near", folder_ / "far");
  fs::create_symlink("data/new", folder_ / "dangling");
  ASSERT_TRUE(WriteFile(Path("far"), "through two").ok());
  ASSERT_TRUE(WriteFile(Path("dangling"), "through one").ok());
  for (const char* link : {"near", "far", "dangling"}) EXPECT_TRUE(fs::is_symlink(folder_ / link));
  EXPECT_EQ(Content(Path("data/file")), "through two");
  EXPECT_EQ(Content(Path("data/new")), "through one");
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_THAT(WriteFile(Path("circle"), "x").message(), HasSubstr("levels of symbolic links"));
}

TEST_F(FileWriterTest, PipesAndDevicesAreWrittenDirectly) {
  EXPECT_TRUE(WriteFile("/dev/null", "x").ok());
  EXPECT_EQ(WriteFile("/dev/full", "x").message(),
            "/dev/full: cannot be written: No space left on device");
  const std::string pipe = Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = Content(pipe); });
  EXPECT_TRUE(WriteFile(pipe, "through the pipe").ok());
  reader.join();
  EXPECT_EQ(read, "through the pipe");
  EXPECT_EQ(NumFiles(), 1);
}

// As a shell redirects /dev/stdout: what was written before stays, what comes later follows.
TEST_F(FileWriterTest, NamesOfOpenFilesMeanTheirPlaceInThem) {
  const std::string path = Write("file", "");
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(write(fd, "before ", 7), 7);
  EXPECT_TRUE(WriteFile(absl::StrCat("/dev/fd/", fd), "here ").ok());
  ASSERT_EQ(write(fd, "after", 5), 5);
  close(fd);
  EXPECT_EQ(Content(path), "before here after");
}

TEST_F(FileWriterTest, ErrorsHavePathAndReason) {
  EXPECT_EQ(WriteFile(Path("none/file"), "x").message(),
            Path("none/file") + ": cannot be written: No such file or directory");
  EXPECT_EQ(WriteFile(folder_.string(), "x").message(),
            folder_.string() + ": cannot be written: Is a directory");
  const std::string file = Write("file", "old");
  EXPECT_EQ(WriteFile(file + "/below", "x").message(),
            file + "/below: cannot be written: Not a directory");
  EXPECT_EQ(WriteFile("", "x").message(), ": cannot be written: No such file or directory");
  EXPECT_EQ(Content(file), "old");
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(FileWriterTest, AProtectedFileIsNotReplaced) {
  const std::string file = Write("file", "old");
  ASSERT_EQ(chmod(file.c_str(), 0444), 0);
  fs::permissions(folder_, fs::perms::all);
  const bool root = geteuid() == 0;
  if (root) ASSERT_EQ(seteuid(65534), 0);  // whom permissions bind
  const absl::Status protected_file = WriteFile(file, "new");
  if (root) ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(protected_file.message(), file + ": cannot be written: Permission denied");
  EXPECT_EQ(Content(file), "old");
}

}  // namespace
}  // namespace tenon
