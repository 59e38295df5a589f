// A regular file is written beside its target and renamed at the end: a reader sees the old content
// or all of the new one, and a failure leaves the old file. Until then the new file has no name, so
// that a process that is killed leaves nothing, whatever the signal: no handler need remove it. A
// pipe or a device is written directly.

#include "graph/base/file_writer.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 16;
constexpr int kMostLinks = 40;          // the limit of Linux (MAXSYMLINKS)
constexpr size_t kMostNameBytes = 200;  // leaves room for the suffix within 255 (NAME_MAX)
constexpr mode_t kPermissions = 0777;

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot be written"));
}

// Entries of /proc that look like links stand for open files of a process: the text of such a link
// may name no file.
bool IsInProc(const fs::path& path) {
  struct statfs info {};
  return statfs(path.parent_path().c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

// Returns the file at the end of the links, which need not exist. A loop of links ends after
// kMostLinks.
fs::path TargetOf(fs::path path) {
  for (int links = 0; links < kMostLinks && !IsInProc(path); ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;  // it is none
    // A relative link counts from its own folder. An absolute one replaces the left side.
    path = path.parent_path() / next;
  }
  return path;
}

// Opens a special file. A descriptor of this process (/proc/self/fd/1) is duplicated: opening the
// file again would begin at its start and overwrite what is there.
int OpenDirectly(const fs::path& path) {
  int number;
  struct stat named {
  }, ours{};
  if (IsInProc(path) && absl::SimpleAtoi(path.filename().string(), &number) &&
      stat(path.c_str(), &named) == 0 && fstat(number, &ours) == 0 && named.st_dev == ours.st_dev &&
      named.st_ino == ours.st_ino) {
    return fcntl(number, F_DUPFD_CLOEXEC, 0);
  }
  return open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
}

// Calls `make` with names of temporary files in the folder of `target`, until one is new. Stores
// the name in `path` and returns what `make` returned.
template <typename Make>
int MakeBeside(const fs::path& target, std::string& path, Make make) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    const std::string name = absl::StrCat(".", target.filename().string().substr(0, kMostNameBytes),
                                          ".", getpid(), "-", count++, ".unfinished");
    path = (target.parent_path() / name).string();
    const int result = make(path.c_str());
    if (result >= 0 || errno != EEXIST) return result;
  }
}

// The link to an open file of this process, by which the file gets a name.
std::string LinkTo(int fd) { return absl::StrCat("/proc/self/fd/", fd); }

// Opens a new file in the folder of `target` that has no name. -1 where the file system has no such
// files, or where /proc is missing.
int OpenNameless(const fs::path& target, mode_t mode) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int fd = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (fd >= 0 && faccessat(AT_FDCWD, LinkTo(fd).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// Opens a new file in the folder of `target`. Stores its name in `path`, if it has one.
int OpenBeside(const fs::path& target, mode_t mode, std::string& path) {
  const int fd = OpenNameless(target, mode);
  if (fd >= 0) return fd;
  return MakeBeside(target, path, [mode](const char* name) {
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  });
}

// Gives the new file the owner and the permissions of the old one. Errors are ignored: the content
// is what counts.
void TakeOver(const struct stat& old, int fd) {
  [[maybe_unused]] const int chown_error = fchown(fd, old.st_uid, old.st_gid);
  fchmod(fd, old.st_mode & kPermissions);
}

}  // namespace

FileWriter::FileWriter(std::string path, std::string target, std::string unfinished, int fd,
                       bool replaces)
    : path_(std::move(path)),
      target_(std::move(target)),
      unfinished_(std::move(unfinished)),
      fd_(fd),
      replaces_(replaces) {}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      unfinished_(std::exchange(other.unfinished_, {})),
      fd_(std::exchange(other.fd_, -1)),
      replaces_(other.replaces_),
      buffer_(std::move(other.buffer_)),
      status_(std::move(other.status_)) {}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
  if (!unfinished_.empty()) unlink(unfinished_.c_str());
}

absl::StatusOr<FileWriter> FileWriter::Create(std::string path) {
  const fs::path target = TargetOf(path);
  struct stat old {};
  const bool is_there = stat(target.c_str(), &old) == 0;
  if (!is_there && errno != ENOENT) return CannotWrite(path, errno);
  std::string unfinished;
  int fd;
  const bool replaces = !is_there || (S_ISREG(old.st_mode) && !IsInProc(target));
  if (!replaces) {
    fd = OpenDirectly(target);
  } else {
    // rename needs no right to the old file: without this question a read-only file would be
    // replaced.
    if (is_there && faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
      return CannotWrite(path, errno);
    // Nobody but the owner may read the new file before TakeOver has set the permissions of the old
    // one.
    fd = OpenBeside(target, is_there ? 0600 : 0666, unfinished);
    if (fd >= 0 && is_there) TakeOver(old, fd);
  }
  if (fd < 0) return CannotWrite(path, errno);
  return FileWriter(std::move(path), target.string(), std::move(unfinished), fd, replaces);
}

absl::Status FileWriter::Write(std::string_view bytes) {
  TENON_RETURN_IF_ERROR(status_);
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    TENON_RETURN_IF_ERROR(Flush(buffer_));
    buffer_.clear();
  }
  if (bytes.size() >= kBufferBytes) return Flush(bytes);
  buffer_.append(bytes);
  return absl::OkStatus();
}

absl::Status FileWriter::Finish() {
  TENON_RETURN_IF_ERROR(status_);
  TENON_RETURN_IF_ERROR(Flush(buffer_));
  // Without fsync a crash of the machine could leave the new name with missing content. Some file
  // systems know no fsync (EINVAL, ENOTSUP).
  if (replaces_ && fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) return Fail(errno);
  if (replaces_ && unfinished_.empty() && !TakeName()) return Fail(errno);
  if (close(std::exchange(fd_, -1)) != 0) return Fail(errno);
  if (replaces_ && rename(unfinished_.c_str(), target_.c_str()) != 0) return Fail(errno);
  unfinished_.clear();
  return absl::OkStatus();
}

// No call puts a file without a name in the place of another: it gets a name of its own first.
bool FileWriter::TakeName() {
  std::string name;
  const int linked = MakeBeside(target_, name, [this](const char* path) {
    return linkat(AT_FDCWD, LinkTo(fd_).c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
  });
  if (linked == 0) unfinished_ = std::move(name);
  return linked == 0;
}

absl::Status FileWriter::Flush(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status FileWriter::Fail(int error) { return status_ = CannotWrite(path_, error); }

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  TENON_ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(path));
  TENON_RETURN_IF_ERROR(file.Write(bytes));
  return file.Finish();
}

}  // namespace tenon
